// When everything that a program asks for begins and ends, if API calls, launches and copies take what is said here,
// and kernels what the time model predicts.
//
// By the virtual clock nothing is measured, and every run gives the same. By the real clock (docs/use/stand_in.md) the host
// takes its time and waits for the device, so that who measures measures what is said here.
//
// The host has one time; every stream has the time at which what is enqueued in it ends. Copies to the device, copies
// from it and kernels each have an engine; kernels of several streams run beside each other where they fit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace convladder::stand_in {

using Nanoseconds = std::uint64_t;

/// What the host and the buses take. Sources: those of docs/use/stand_in.md; all of them are conventions of this model.
struct FixedCosts {
  Nanoseconds call = 200;         ///< of the host, for every call
  Nanoseconds launch = 2'000;     ///< of the host, for enqueuing a kernel
  Nanoseconds enqueue = 1'500;    ///< of the host, for enqueuing anything else
  Nanoseconds start = 1'500;      ///< from the host's call to the begin on an idle device
  Nanoseconds wake = 3'000;       ///< of the host, for noticing that the device is done
  Nanoseconds allocate = 60'000;  ///< of the host, for memory
  Nanoseconds copy = 1'000;       ///< of an engine, for beginning a copy
  double copy_gb_per_s = 25;      ///< between pinned memory and the device: PCIe 4.0 x16
  double pageable_gb_per_s = 8;   ///< between other memory and the device

  Nanoseconds graph_launch = 2'000;  ///< of the host, for enqueuing a graph
  Nanoseconds graph_node = 0;        ///< of the host, for each of its nodes
  Nanoseconds between = 0;           ///< of a stream, from the end of something to the begin of a kernel behind it
  Nanoseconds between_nodes = 0;     ///< the same in a graph
  Nanoseconds event = 0;             ///< of a stream, for recording an event
};

/// What the real clock reads: that of the host, from the first time on that it was asked.
Nanoseconds real_now();
/// Returns no sooner: sleeps, and spins at the end.
void wait_until(Nanoseconds real);

enum class Engine { to_device, from_device, kernels };

/// A stream as the timeline knows it.
struct StreamTime {
  Nanoseconds end = 0;            ///< of the last thing in it
  bool waits_for_default = true;  ///< and the default stream for it: not made with cudaStreamNonBlocking
  bool is_default = false;
};

class Timeline {
 public:
  explicit Timeline(FixedCosts costs = {}, bool is_real = false) : costs_(costs), is_real_(is_real) {}

  bool is_real() const { return is_real_; }
  /// By the real clock: what the host does from here on begins now. `now` is then when the call may return; whoever has
  /// let others call waits for it.
  void call_begins() {
    if (is_real_) now_ = real_now();
  }

  const FixedCosts& costs() const { return costs_; }
  Nanoseconds now() const { return now_; }

  /// Streams by number; 0 is the default stream.
  int add_stream(bool waits_for_default);
  /// What is in it goes on to its end.
  void remove_stream(int stream);

  /// The host works for so long.
  void host_works(Nanoseconds ns) {
    if (!is_held_) now_ += ns;
  }
  /// While it is held, the host's time stands still: what is enqueued was enqueued at once, as a graph is.
  void hold(bool held) { is_held_ = held; }
  /// The host waits until then.
  void host_waits_until(Nanoseconds end);

  struct Span {
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
  };
  /// Something that takes an engine for so long. `share` of the device is what a kernel fills of it, up to 1.
  Span enqueue(int stream, Engine engine, Nanoseconds ns, double share = 1);
  /// The same of something whose time depends on when it begins.
  using NanosecondsFrom = std::function<Nanoseconds(Nanoseconds begin)>;
  Span enqueue(int stream, Engine engine, const NanosecondsFrom& ns_from, double share = 1);
  /// When a kernel would begin that fills little of the device.
  Nanoseconds next_kernel_begins(int stream) const {
    return std::max(earliest(stream), streams_.at(stream).end + (is_held_ ? costs_.between_nodes : costs_.between));
  }
  /// When all that is in the stream will have ended: where an event is recorded.
  Nanoseconds mark(int stream);
  void wait_for(int stream, Nanoseconds end);
  Nanoseconds end_of(int stream) const;
  Nanoseconds end_of_all() const;
  /// What the engines have been busy for.
  Nanoseconds busy(Engine engine) const { return busy_[static_cast<std::size_t>(engine)]; }

  Nanoseconds copy_ns(std::uint64_t bytes, bool pinned) const;

 private:
  Nanoseconds earliest(int stream) const;
  Nanoseconds when_there_is_room(Nanoseconds from, double share);

  FixedCosts costs_;
  bool is_real_ = false;
  Nanoseconds now_ = 0;
  bool is_held_ = false;
  std::map<int, StreamTime> streams_ = {{0, {0, true, true}}};
  int next_stream_ = 1;
  Nanoseconds removed_end_ = 0;  // of streams that are gone
  Nanoseconds engine_end_[2] = {0, 0};
  Nanoseconds busy_[3] = {0, 0, 0};
  struct Running {
    Nanoseconds end = 0;
    double share = 0;
  };
  std::vector<Running> running_;  // kernels that have not ended before the last one began
};

}  // namespace convladder::stand_in

// The times at which everything that a program asks for begins and ends, if API calls, launches and copies take the
// times given here, and kernels what the time model predicts.
//
// With the virtual clock nothing is measured, and every run gives the same times. With the real clock
// (docs/use/stand_in.md) the host takes its time and waits for the device, so that measurements give the times defined
// here.
//
// There is one time for the host; every stream has the time at which the work enqueued in it ends. Copies to the
// device, copies from it and kernels each have an engine; kernels of several streams run concurrently where they fit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "simulator/checkers/work_order.hpp"

namespace convladder::stand_in {

using Nanoseconds = std::uint64_t;

/// The costs on the host and the buses. Sources: those of docs/use/stand_in.md; all are conventions of this model.
struct FixedCosts {
  Nanoseconds call = 200;         ///< host time for every call
  Nanoseconds launch = 2'000;     ///< host time for enqueuing a kernel
  Nanoseconds enqueue = 1'500;    ///< host time for enqueuing anything else
  Nanoseconds start = 1'500;      ///< from the host's call to the beginning on an idle device
  Nanoseconds wake = 3'000;       ///< host time for noticing that the device is done
  Nanoseconds allocate = 60'000;  ///< host time for allocating memory
  Nanoseconds copy = 1'000;       ///< engine time for beginning a copy
  double copy_gb_per_s = 25;      ///< between pinned memory and the device: PCIe 4.0 x16
  double pageable_gb_per_s = 8;   ///< between other memory and the device

  Nanoseconds graph_launch = 2'000;  ///< host time for enqueuing a graph
  Nanoseconds graph_node = 0;        ///< host time for each node of a graph
  Nanoseconds between = 0;           ///< stream time from the end of earlier work to the beginning of a kernel
  Nanoseconds between_nodes = 0;     ///< as `between`, in a graph
  Nanoseconds event = 0;             ///< stream time for recording an event
};

/// The real clock: that of the host, counted from the first call on.
Nanoseconds real_now();
/// Waits until then and no less: sleeps, and spins at the end.
void wait_until(Nanoseconds real);

/// When everything that is enqueued somewhere will have ended: the time, and the work.
struct Moment {
  Nanoseconds time = 0;
  simulated::EndedWork ended;
};

enum class Engine { to_device, from_device, kernels };

/// A stream on the timeline.
struct StreamTime {
  Nanoseconds end = 0;            ///< end of the last work in it
  bool waits_for_default = true;  ///< and the default stream for it; false with cudaStreamNonBlocking
  bool is_default = false;
  int device = 0;
  simulated::EndedWork behind{};  ///< its next work begins when all of this has ended
  std::uint32_t works = 0;
};

class Timeline {
 public:
  explicit Timeline(FixedCosts costs = {}, bool is_real = false) : costs_(costs), is_real_(is_real) {}

  bool is_real() const { return is_real_; }
  /// With the real clock: the host's next work begins now. `now` is later the time when the call may return, for which
  /// the caller waits after letting others call.
  void call_begins() {
    if (is_real_) now_ = real_now();
  }

  const FixedCosts& costs() const { return costs_; }
  Nanoseconds now() const { return now_; }

  /// Adds a stream and returns its number; 0 is the default stream of the first device.
  int add_stream(bool waits_for_default, int device = 0);
  /// The default stream of a device.
  int default_stream(int device);
  int device_of(int stream) const { return streams_.at(stream).device; }
  /// Removes a stream; work in it goes on to its end.
  void remove_stream(int stream);
  /// Removes a stream that was made for a node of a graph.
  void remove_node_stream(int stream);
  /// The number of the stream that is added next.
  int next_stream() const { return next_stream_; }
  /// A graph in this stream, whose nodes' streams are those from `first` on, ends then. Returns the number of the work
  /// that stands for it.
  std::uint32_t graph_ends(int stream, int first, Moment end);

  /// Advances the host's time by its work.
  void host_works(Nanoseconds ns) {
    if (!is_held_) now_ += ns;
  }
  /// While held, the host's time stands still: everything is enqueued at once, as a graph is.
  void hold(bool held) { is_held_ = held; }
  /// The host waits until then.
  void host_waits_until(const Moment& end);
  /// The host has learnt that everything up to then has ended.
  void host_learns(const Moment& end) { simulated::join(host_, end.ended); }

  const simulated::EndedWork& known_to_host() const { return host_; }

  struct Span {
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
  };
  /// Enqueues work that takes an engine for `ns`. `share` is the part of the device that a kernel fills, up to 1.
  Span enqueue(int stream, Engine engine, Nanoseconds ns, double share = 1);
  /// The duration of work that depends on when it begins.
  using NanosecondsFrom = std::function<Nanoseconds(Nanoseconds begin)>;
  Span enqueue(int stream, Engine engine, const NanosecondsFrom& ns_from, double share = 1);
  /// The time at which a kernel that fills little of the device would begin.
  Nanoseconds next_kernel_begins(int stream) const {
    return std::max(earliest(stream), streams_.at(stream).end + (is_held_ ? costs_.between_nodes : costs_.between));
  }
  /// Begins work in a stream: what it is ordered behind. Its time is enqueued by itself.
  simulated::StreamWork begin_work(int stream);
  /// When all work in the stream will have ended: where an event is recorded.
  Moment mark(int stream);
  void wait_for(int stream, const Moment& end);
  Moment end_of(int stream) const;
  Moment end_of_all() const;
  /// The time for which an engine has been busy.
  Nanoseconds busy(Engine engine) const { return busy_[static_cast<std::size_t>(engine)]; }

  Nanoseconds copy_ns(std::uint64_t bytes, bool pinned) const;

 private:
  Nanoseconds earliest(int stream) const;
  bool waits_for(const StreamTime& stream, const StreamTime& other) const;
  void join_those_it_waits_for(int stream);
  Nanoseconds when_there_is_room(int device, Nanoseconds from, double share);

  FixedCosts costs_;
  bool is_real_ = false;
  Nanoseconds now_ = 0;
  bool is_held_ = false;
  std::map<int, StreamTime> streams_ = {{0, {.is_default = true}}};
  std::map<int, int> default_streams_ = {{0, 0}};  // by device
  int next_stream_ = 1;
  Moment removed_end_;                                        // of removed streams
  simulated::EndedWork host_;                                 // what the host knows to have ended
  std::map<std::pair<int, Engine>, Nanoseconds> engine_end_;  // by device, of the engines for copies
  Nanoseconds busy_[3] = {0, 0, 0};
  struct Running {
    Nanoseconds end = 0;
    double share = 0;
  };
  std::map<int, std::vector<Running>> running_;  // by device: kernels that had not ended when the last one began
};

}  // namespace convladder::stand_in

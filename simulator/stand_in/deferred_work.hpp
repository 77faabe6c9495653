// With the real clock (docs/use/stand_in.md), work of the device whose time is known is deferred until somebody looks
// at memory, and skipped where the contents of memory after it are known. Executing a kernel on the simulated device
// takes a thousand times as long as on a GPU, and the program must not see that in the times that it measures.
//
// The content of every allocation has a name: equal names mean equal bytes. An operation that was carried out once is
// remembered as a step from the names that it found to those that it left, so the same operation on the same names need
// not be carried out again: a deterministic kernel would leave the same bytes. Ten thousand equal calls of a kernel
// that only depends on its input are two executions, one that changes its output and one that finds it as it leaves it;
// a kernel that counts in memory finds another name each time and is executed each time.
//
// This is exact, with three exceptions. Names are hashes of 128 bits: two contents may share one, with negligible
// probability. The allocations that a kernel may write are known from its instructions and arguments
// (written_allocations.hpp): a write that arithmetic leads from one allocation into another, which is an error, may be
// missed. And reads of host-visible memory are recognised by a kernel's arguments, not by addresses stored in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulator/device/simulated_device.hpp"

namespace convladder::stand_in {

/// The name of a content: equal if and only if the bytes are equal.
struct ContentName {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  bool operator==(const ContentName&) const = default;
};

ContentName content_name(const void* bytes, std::size_t count);
/// The name of two contents, one after the other.
ContentName content_name(const ContentName& first, const ContentName& second);

/// An operation that can be deferred.
struct DeferredOperation {
  ContentName name;                   ///< what it does, where, and the data that comes with it
  std::function<void()> carry_out{};  ///< runs it on the simulated device
  /// Beginnings of the allocations whose bytes it reads or leaves as they are; none: all allocations.
  std::optional<std::vector<std::uint64_t>> depends_on{};
  /// Beginnings of the allocations that it may write when it is carried out.
  std::function<std::vector<std::uint64_t>()> may_write{};
  bool is_long = false;          ///< carrying it out takes seconds
  std::uint64_t kept_bytes = 0;  ///< host memory that it holds until it is carried out

  /// For a copy to the host, which writes nothing on the device and is not carried out by `carry_out`: gives the bytes
  /// that it finds; `deliver` puts them where they go. Bytes found in contents of the same name are kept, so that
  /// nothing need be executed for them.
  std::function<std::vector<std::byte>()> look{};
  std::function<void(const std::vector<std::byte>& found)> deliver{};
};

class DeferredWork {
 public:
  explicit DeferredWork(simulated::SimulatedDevice& device) : device_(device) {}

  /// Carries out all deferred work: memory is then as the program may find it.
  void settle() { go_through_log(true); }
  /// Delivers deferred copies to the host; other work stays deferred as far as possible.
  void deliver() { go_through_log(false); }
  bool is_settled() const { return log_.empty(); }
  /// Whether a deferred copy goes to the host, which may look at it after waiting.
  bool goes_to_host() const { return goes_to_host_; }
  /// Whether carrying out the deferred work takes seconds.
  bool has_long() const {
    return std::ranges::any_of(log_, [](const auto& operation) { return operation->is_long; });
  }
  /// Defers an operation.
  void add(std::shared_ptr<const DeferredOperation> operation);
  /// Carries an operation out now, after the deferred ones, and remembers the step.
  void carry_out(const DeferredOperation& operation);
  /// Notes a write to this allocation from outside; its content is named when that is asked for.
  void wrote(std::uint64_t begin);
  /// Notes that any allocation may have been written from outside.
  void wrote_anything();
  /// Forgets the deferred work: the device is lost.
  void forget() {
    log_.clear();
    goes_to_host_ = false;
    kept_bytes_ = 0;
  }
  /// Forgets the effects of operations, whose names others may have from now on.
  void forget_steps() { steps_.clear(); }

  /// The numbers of operations carried out and skipped.
  std::uint64_t executed() const { return executed_; }
  std::uint64_t left_out() const { return left_out_; }

 private:
  struct Allocated {
    std::uint64_t end = 0;
    std::optional<ContentName> content;  // none: not known
  };
  /// An operation, and the contents that it found, as far as it depends on them.
  struct Found {
    ContentName operation;
    ContentName contents;
    bool operator==(const Found&) const = default;
  };
  struct HashOfFound {
    std::size_t operator()(const Found& found) const { return found.operation.low ^ found.contents.high; }
  };
  using Left = std::vector<std::pair<std::uint64_t, ContentName>>;  // the changed contents, by beginning

  /// Contents by beginning, and one name for all of them.
  struct Contents {
    std::map<std::uint64_t, ContentName> by_begin;
    ContentName all;
    void change(const Left& left);
    void rename();
  };

  void go_through_log(bool memory_is_wanted);
  void look_at_memory();
  ContentName content_of(std::uint64_t begin, std::uint64_t end) const;
  Found found_by(const DeferredOperation& operation, const Contents& contents) const;
  const Left* known(const Found& found) const;
  const Left& execute(const DeferredOperation& operation);
  void look(const DeferredOperation& operation, const Contents& at, const std::function<void()>& catch_up);

  simulated::SimulatedDevice& device_;
  std::vector<std::shared_ptr<const DeferredOperation>> log_;
  std::uint64_t kept_bytes_ = 0;
  bool goes_to_host_ = false;
  std::map<std::uint64_t, Allocated> allocated_;
  Contents now_;  // the current contents of memory
  std::unordered_map<Found, Left, HashOfFound> steps_;
  std::unordered_map<Found, std::vector<std::byte>, HashOfFound> looks_;
  std::uint64_t bytes_of_looks_ = 0;
  std::uint64_t next_unread_ = 1;
  std::uint64_t executed_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace convladder::stand_in

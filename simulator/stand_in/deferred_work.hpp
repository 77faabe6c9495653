// By the real clock (docs/use/stand_in.md): work of the device whose time is known is put off until somebody looks at
// memory, and left out where it is known what memory holds after it. Executing a kernel on the simulated device takes a
// thousand times as long as a GPU would, and the program must not see that in what it times.
//
// The content of every allocation has a name: equal names, equal bytes. An operation that was carried out once is
// remembered as a step from the names that it found to those that it left, so the same operation on the same names need
// not be carried out again: a deterministic kernel would leave the same bytes. Ten thousand equal calls of a kernel
// that only depends on its input are two executions, one that changes its output and one that finds it as it leaves it;
// a kernel that counts in memory finds another name each time and is executed each time.
//
// This is exact, but for three things. Names are hashes of 128 bits: two contents may have one by a chance that nobody
// will see. What a kernel may write is what its instructions and arguments say (written_allocations.hpp): a write that
// arithmetic leads from one allocation into another, which is an error, may be missed. And what a kernel reads of
// memory that the host sees is noticed by its arguments, not by addresses that lie in memory.
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

/// Equal for equal bytes, and otherwise not.
struct ContentName {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  bool operator==(const ContentName&) const = default;
};

ContentName content_name(const void* bytes, std::size_t count);
/// Of two after each other.
ContentName content_name(const ContentName& first, const ContentName& second);

/// What can be put off.
struct DeferredOperation {
  ContentName name;                   ///< of what it does, where, and of what it brings along
  std::function<void()> carry_out{};  ///< on the simulated device
  /// Begins of the allocations whose bytes it reads or leaves as they are; none: of all.
  std::optional<std::vector<std::uint64_t>> depends_on{};
  /// Begins of those that it may write, when it is carried out.
  std::function<std::vector<std::uint64_t>()> may_write{};
  bool is_long = false;          ///< it takes seconds to carry it out
  std::uint64_t kept_bytes = 0;  ///< of the host, that it keeps until it is carried out

  /// Of a copy to the host, which writes nothing on the device and is not carried out by `carry_out`: what it finds,
  /// and where that goes. What it finds in contents of the same name is kept, so that nothing need be executed for it.
  std::function<std::vector<std::byte>()> look{};
  std::function<void(const std::vector<std::byte>& found)> deliver{};
};

class DeferredWork {
 public:
  explicit DeferredWork(simulated::SimulatedDevice& device) : device_(device) {}

  /// What was put off is carried out: memory is now as the program may find it.
  void settle() { go_through_log(true); }
  /// What goes to the host is there; the rest stays put off, as far as it can.
  void deliver() { go_through_log(false); }
  bool is_settled() const { return log_.empty(); }
  /// Whether something that was put off goes to the host: when it has waited, it may look.
  bool goes_to_host() const { return goes_to_host_; }
  /// Whether to carry out what was put off takes seconds.
  bool has_long() const {
    return std::ranges::any_of(log_, [](const auto& operation) { return operation->is_long; });
  }
  /// Puts it off.
  void add(std::shared_ptr<const DeferredOperation> operation);
  /// Carries it out now, behind what was put off, and remembers the step.
  void carry_out(const DeferredOperation& operation);
  /// Somebody has written to this allocation past this; what it holds is named when it is asked for.
  void wrote(std::uint64_t begin);
  /// Somebody may have written to any allocation past this.
  void wrote_anything();
  /// Forgets what was put off: the device is lost.
  void forget() {
    log_.clear();
    goes_to_host_ = false;
    kept_bytes_ = 0;
  }
  /// Forgets what operations did: others may have their names from now on.
  void forget_steps() { steps_.clear(); }

  /// Operations that were carried out, and those that were left out.
  std::uint64_t executed() const { return executed_; }
  std::uint64_t left_out() const { return left_out_; }

 private:
  struct Allocated {
    std::uint64_t end = 0;
    std::optional<ContentName> content;  // none: not known
  };
  /// What an operation found, as far as it depends on it, and what it is.
  struct Found {
    ContentName operation;
    ContentName contents;
    bool operator==(const Found&) const = default;
  };
  struct HashOfFound {
    std::size_t operator()(const Found& found) const { return found.operation.low ^ found.contents.high; }
  };
  using Left = std::vector<std::pair<std::uint64_t, ContentName>>;  // what it changed, by begin

  /// Contents by begin, and one name for all of them.
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
  Contents now_;  // what memory holds
  std::unordered_map<Found, Left, HashOfFound> steps_;
  std::unordered_map<Found, std::vector<std::byte>, HashOfFound> looks_;
  std::uint64_t bytes_of_looks_ = 0;
  std::uint64_t next_unread_ = 1;
  std::uint64_t executed_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace convladder::stand_in

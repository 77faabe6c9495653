// Bulk copies that are under way (cp.async.bulk, cp.reduce.async.bulk, st.async, red.async), and the groups of those
// that a thread waits for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "simulator/ptx/module.hpp"
#include "simulator/state/operation.hpp"

namespace convladder::simulated {

/// Writes data to memory, or combines it with what is there.
using Combine = void (*)(std::byte* at, std::span<const std::byte> data);

/// What a write does to one piece of memory.
struct BulkPart {
  std::uint64_t address = 0;  ///< in shared memory: in shared::cluster, as cluster.hpp has it
  std::byte* at = nullptr;
  std::size_t first = 0;  ///< of BulkWrite::data
  std::size_t bytes = 0;
};

/// One thread's write that has been begun.
struct BulkWrite {
  WarpState warp;
  const Operation* operation = nullptr;
  int lane = 0;
  std::uint64_t number = 0;  ///< of the block's bulk copies
  ptx::Space space = ptx::Space::global;
  std::vector<BulkPart> parts;
  std::vector<std::byte> data;  ///< as it was when the copy began
  Combine combine = nullptr;

  /// The data is there from now on; observers are told.
  void land() const;
};

/// So many copies of a block are kept back; where there are more, the oldest lands, as it may at any time. What a loop
/// without waits asks for has an end so.
inline constexpr std::size_t kMostUnderWay = 256;

/// Copies of a block that their threads wait for in groups.
class BulkGroups {
 public:
  void clear() {
    committed_.clear();
    entries_.clear();
    under_way_ = 0;
  }
  void begin(int thread, BulkWrite write) {
    entries_.push_back({thread, committed_[thread], false, std::move(write)});
    if (++under_way_ <= kMostUnderWay) return;
    land(*std::ranges::find(entries_, false, &Entry::has_landed));
  }
  void commit(int thread) { ++committed_[thread]; }
  /// Calls seen(write) for the thread's writes of all but its latest `groups_left` groups, in order. They land, unless
  /// it is only their sources that the thread waits for.
  template <typename Seen>
  void wait(int thread, std::uint64_t groups_left, bool sources_only, const Seen& seen) {
    const auto is_waited_for = [&](const Entry& entry) {
      return entry.thread == thread && entry.group + groups_left < committed_[thread];
    };
    for (Entry& entry : entries_) {
      if (!is_waited_for(entry)) continue;
      if (!sources_only) land(entry);
      seen(entry.write);
    }
    if (!sources_only) std::erase_if(entries_, is_waited_for);
  }
  /// The block ends: all land.
  void land_all() {
    for (Entry& entry : entries_) land(entry);
    entries_.clear();
  }

 private:
  struct Entry {
    int thread = 0;
    std::uint64_t group = 0;
    bool has_landed = false;
    BulkWrite write;  ///< without data when it has landed
  };
  void land(Entry& entry) {
    if (entry.has_landed) return;
    entry.write.land();
    entry.write.data = {};
    entry.has_landed = true;
    --under_way_;
  }
  std::map<int, std::uint64_t> committed_;
  std::vector<Entry> entries_;
  std::size_t under_way_ = 0;
};

}  // namespace convladder::simulated

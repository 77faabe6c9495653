// Bulk copies that are under way (cp.async.bulk, cp.reduce.async.bulk, st.async, red.async), and the groups of those
// that a thread waits for.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "devices/simulated/execution/operation.hpp"
#include "devices/simulated/ptx/module.hpp"

namespace convladder::simulated {

/// Writes data to memory, or combines it with what is there.
using Combine = void (*)(std::byte* at, std::span<const std::byte> data);

/// One thread's write that has been begun.
struct BulkWrite {
  WarpState warp;
  const Operation* operation = nullptr;
  int lane = 0;
  std::uint64_t number = 0;  ///< of the block's bulk copies
  ptx::Space space = ptx::Space::global;
  std::uint64_t address = 0;
  std::byte* at = nullptr;
  std::vector<std::byte> data;  ///< as it was when the copy began
  Combine combine = nullptr;

  /// The data is there from now on; observers are told.
  void land() const;
};

/// Copies of a block that their threads wait for in groups.
class BulkGroups {
 public:
  void clear() {
    committed_.clear();
    writes_.clear();
  }
  void begin(int thread, BulkWrite write) { writes_.push_back({thread, committed_[thread], false, std::move(write)}); }
  void commit(int thread) { ++committed_[thread]; }
  /// Calls seen(write) for the thread's writes of all but its latest `groups_left` groups, in order. They land, unless
  /// it is only their sources that the thread waits for.
  template <typename Seen>
  void wait(int thread, std::uint64_t groups_left, bool sources_only, const Seen& seen) {
    for (Entry& entry : writes_) {
      if (entry.thread != thread || entry.group + groups_left >= committed_[thread]) continue;
      if (!sources_only) land(entry);
      seen(entry.write);
    }
    std::erase_if(writes_, [](const Entry& entry) { return entry.has_landed; });
  }
  /// The block ends: all land.
  void land_all() {
    for (Entry& entry : writes_) land(entry);
    writes_.clear();
  }

 private:
  struct Entry {
    int thread = 0;
    std::uint64_t group = 0;
    bool has_landed = false;
    BulkWrite write;
  };
  static void land(Entry& entry) {
    entry.write.land();
    entry.has_landed = true;
  }
  std::map<int, std::uint64_t> committed_;
  std::vector<Entry> writes_;
};

}  // namespace convladder::simulated

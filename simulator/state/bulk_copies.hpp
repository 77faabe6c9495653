// Bulk copies that are under way (cp.async.bulk, cp.reduce.async.bulk, st.async, red.async), and the groups of copies
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

/// Writes data to memory, or combines it with the existing data.
using Combine = void (*)(std::byte* at, std::span<const std::byte> data);

/// The part of a write that goes to one piece of memory.
struct BulkPart {
  std::uint64_t address = 0;  ///< in shared memory: in shared::cluster, as described in cluster.hpp
  std::byte* at = nullptr;
  std::size_t first = 0;  ///< index into BulkWrite::data
  std::size_t bytes = 0;
};

/// A piece of memory that a write reads late: when it takes effect, or when somebody waits for its source to be read.
struct LateRead {
  const std::byte* at = nullptr;
  std::size_t first = 0;  ///< index into BulkWrite::data
  std::size_t bytes = 0;
};

/// One thread's write that has begun.
struct BulkWrite {
  WarpState warp;
  const Operation* operation = nullptr;
  int lane = 0;
  std::uint64_t number = 0;  ///< number among the block's bulk copies
  ptx::Space space = ptx::Space::global;
  std::vector<BulkPart> parts;
  std::vector<std::byte> data;  ///< the data when the copy began
  Combine combine = nullptr;
  std::vector<LateRead> late_reads{};  ///< none: the source has been read

  /// Reads what is to be read late.
  void read();
  /// Writes the data and tells observers.
  void land();
};

/// A piece of memory that a copy reads.
struct BulkRead {
  std::uint64_t address = 0;
  std::size_t bytes = 0;
};

/// Copies of one instruction by several lanes of a warp that are all the same count as the first lane's for observers:
/// a GPU makes one of them, and whichever of them comes last, the bytes are the same.
class RepeatedCopies {
 public:
  /// The number of the copy that a lane of this instruction has begun before, if this is the same one; otherwise 0.
  std::uint64_t repeats(const BulkWrite& write, std::span<const BulkRead> sources);

 private:
  std::uint64_t first_ = 0;
  BulkWrite last_;
  std::vector<BulkRead> sources_;
};

/// The number of a block's copies that are kept back; if there are more, the oldest lands, as it may at any time. This
/// bounds the memory of a loop without waits.
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
  /// Calls seen(write) for the thread's writes of all but its latest `groups_left` groups, in order. The writes land,
  /// unless the thread waits only for their sources.
  template <typename Seen>
  void wait(int thread, std::uint64_t groups_left, bool sources_only, const Seen& seen) {
    const auto is_waited_for = [&](const Entry& entry) {
      return entry.thread == thread && entry.group + groups_left < committed_[thread];
    };
    for (Entry& entry : entries_) {
      if (!is_waited_for(entry)) continue;
      sources_only ? entry.write.read() : land(entry);
      seen(entry.write);
    }
    if (!sources_only) std::erase_if(entries_, is_waited_for);
  }
  std::size_t under_way() const { return under_way_; }
  /// Lands one of those that are under way.
  void land_one(std::size_t number) {
    for (Entry& entry : entries_) {
      if (!entry.has_landed && number-- == 0) return land(entry);
    }
  }
  /// Lands all copies, as the block ends.
  void land_all() {
    for (Entry& entry : entries_) land(entry);
    entries_.clear();
  }

 private:
  struct Entry {
    int thread = 0;
    std::uint64_t group = 0;
    bool has_landed = false;
    BulkWrite write;  ///< without data once it has landed
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

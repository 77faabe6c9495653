#include "simulator/instructions/memory/bulk_write.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "simulator/instructions/memory/atomic_functions.hpp"
#include "simulator/instructions/memory/mbarrier.hpp"
#include "simulator/state/cluster.hpp"
#include "simulator/state/lane_access.hpp"

namespace convladder::simulated {

using ptx::Space;

namespace {

/// Accesses of one lane to pieces of memory, each in the block whose shared memory it is in.
class Accesses {
 public:
  template <typename Pieces>
  Accesses(const BulkWrite& write, Space space, const Pieces& pieces, AccessKind kind) : addresses_(pieces.size()) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const SharedPlace place = space == Space::shared
                                    ? shared_place(*write.warp.block, *write.operation, pieces[i].address)
                                    : SharedPlace{nullptr, pieces[i].address};
      addresses_[i].fill(place.offset);
      list.push_back({write.operation, &write.warp, space, &addresses_[i], LaneMask{1} << write.lane,
                      static_cast<int>(pieces[i].bytes), kind, place.owner});
    }
  }
  std::vector<WarpAccess> list;

 private:
  std::vector<Addresses> addresses_;
};

void overwrite(std::byte* at, std::span<const std::byte> data) { std::memcpy(at, data.data(), data.size()); }

template <typename Function, typename T, bool kAddsBits = false>
void combine_with(std::byte* at, std::span<const std::byte> data) {
  for (std::size_t i = 0; i < data.size(); i += sizeof(T)) {
    T old;
    T b;
    std::memcpy(&old, at + i, sizeof old);
    std::memcpy(&b, data.data() + i, sizeof b);
    const T result = changed_by<Function>(old, b, T{}, kAddsBits);
    std::memcpy(at + i, &result, sizeof result);
  }
}

struct Reduction {
  std::string_view name;
  Combine combine;
  bool is_for_global_only;
  Combine of_bits = nullptr;  ///< of sums that round
};
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using S32 = std::int32_t;
using S64 = std::int64_t;
constexpr Reduction kReductions[] = {
    {"add.u32", &combine_with<Add, U32>, false},
    {"add.s32", &combine_with<Add, U32>, false},
    {"add.u64", &combine_with<Add, U64>, false},
    {"inc.u32", &combine_with<Increment, U32>, false},
    {"dec.u32", &combine_with<Decrement, U32>, false},
    {"min.u32", &combine_with<Minimum, U32>, false},
    {"min.s32", &combine_with<Minimum, S32>, false},
    {"max.u32", &combine_with<Maximum, U32>, false},
    {"max.s32", &combine_with<Maximum, S32>, false},
    {"and.b32", &combine_with<And, U32>, false},
    {"or.b32", &combine_with<Or, U32>, false},
    {"xor.b32", &combine_with<Xor, U32>, false},
    {"and.b64", &combine_with<And, U64>, true},
    {"or.b64", &combine_with<Or, U64>, true},
    {"xor.b64", &combine_with<Xor, U64>, true},
    {"min.u64", &combine_with<Minimum, U64>, true},
    {"min.s64", &combine_with<Minimum, S64>, true},
    {"max.u64", &combine_with<Maximum, U64>, true},
    {"max.s64", &combine_with<Maximum, S64>, true},
    {"add.f32", &combine_with<AddFloat<true>, U32>, true, &combine_with<AddFloat<true>, U32, true>},
    {"add.f64", &combine_with<AddDouble, U64>, true, &combine_with<AddDouble, U64, true>},
    {"add.noftz.f16", &combine_with<AddElement<Half>, U16>, true, &combine_with<AddElement<Half>, U16, true>},
    {"add.noftz.bf16", &combine_with<AddElement<Bfloat16>, U16>, true, &combine_with<AddElement<Bfloat16>, U16, true>},
    {"min.f16", &combine_with<ExtremeElement<Half, false>, U16>, true},
    {"max.f16", &combine_with<ExtremeElement<Half, true>, U16>, true},
    {"min.bf16", &combine_with<ExtremeElement<Bfloat16, false>, U16>, true},
    {"max.bf16", &combine_with<ExtremeElement<Bfloat16, true>, U16>, true},
};

}  // namespace

void BulkWrite::read() {
  for (const LateRead& one : std::exchange(late_reads, {})) std::memcpy(data.data() + one.first, one.at, one.bytes);
}

void BulkWrite::land() {
  read();
  for (const BulkPart& part : parts) combine(part.at, std::span(data).subspan(part.first, part.bytes));
  ++warp.block->memory_changes;
  if (warp.block->observers.empty()) return;
  const Accesses destinations(*this, space, parts, AccessKind::store);
  for (AccessObserver* const observer : warp.block->observers) {
    for (const WarpAccess& destination : destinations.list) observer->copy_lands(destination);
  }
}

std::uint64_t RepeatedCopies::repeats(const BulkWrite& write, std::span<const BulkRead> sources) {
  if ((write.warp.mask & (write.warp.mask - 1)) == 0) return 0;
  const auto same_part = [](const BulkPart& one, const BulkPart& other) {
    return one.address == other.address && one.bytes == other.bytes;
  };
  const auto same_read = [](const BulkRead& one, const BulkRead& other) {
    return one.address == other.address && one.bytes == other.bytes;
  };
  const bool is_next_lane = last_.operation == write.operation && last_.warp.index == write.warp.index &&
                            last_.number + 1 == write.number && last_.lane < write.lane;
  const bool is_same = is_next_lane && write.combine == &overwrite && last_.data == write.data &&
                       std::ranges::equal(last_.parts, write.parts, same_part) &&
                       std::ranges::equal(sources_, sources, same_read);
  if (is_same) {
    last_.number = write.number;
    last_.lane = write.lane;
    return first_;
  }
  first_ = write.number;
  last_ = write;
  sources_.assign(sources.begin(), sources.end());
  return 0;
}

void announce(const BulkWrite& write, Space source_space, std::span<const BulkRead> sources) {
  if (write.warp.block->observers.empty()) return;
  if (const std::uint64_t first = write.warp.block->repeated_copies.repeats(write, sources); first != 0) {
    for (AccessObserver* const observer : write.warp.block->observers) {
      observer->copy_repeats(write.warp, write.number, first);
    }
    return;
  }
  const Accesses reads(write, source_space, sources, AccessKind::load);
  const Accesses writes(write, write.space, write.parts, AccessKind::store);
  for (AccessObserver* const observer : write.warp.block->observers) {
    observer->copy_begins(reads.list, writes.list, write.number);
  }
}

void begin_arrival(BulkWrite write, std::uint64_t mbarrier) {
  const Region region{Space::shared, mbarrier, 8, 8};
  std::byte* const at = reach_region(write.warp, *write.operation, write.lane, region, AccessKind::atomic);
  if (at == nullptr) return;
  const SharedPlace place = shared_place(*write.warp.block, *write.operation, mbarrier);
  add_arrival(*place.owner, {place.offset, [write = std::move(write), place, at]() mutable {
                               write.land();
                               for (AccessObserver* const observer : write.warp.block->observers) {
                                 observer->copy_arrives(*write.warp.block, write.number, *place.owner, place.offset);
                               }
                               complete_bytes({write.warp, *write.operation, write.lane, place.offset, at, place.owner},
                                              static_cast<std::int64_t>(write.data.size()));
                             }});
}

bool reads_late(const WarpState& warp) {
  Schedule* const schedule = warp.block->schedule;
  return schedule != nullptr && (warp.mask & (warp.mask - 1)) == 0 && schedule->reads_late();
}

void begin_in_group(BulkWrite write) {
  BlockContext& block = *write.warp.block;
  block.bulk_groups.begin(write.warp.index * kLanes + write.lane, std::move(write));
  if (block.schedule != nullptr && block.schedule->lands_at_once()) {
    block.bulk_groups.land_one(block.bulk_groups.under_way() - 1);
  }
}

std::uint32_t all_of_cluster(const BlockContext& block) {
  return block.cluster == nullptr ? 1 : (1U << block.cluster->blocks.size()) - 1;
}

int find_bulk_reduction(std::string_view name) {
  const auto* const found = std::ranges::find(kReductions, name, &Reduction::name);
  return found == std::end(kReductions) ? 0 : static_cast<int>(found - kReductions) + 1;
}

bool is_bulk_reduction_global(int reduction) { return kReductions[reduction - 1].is_for_global_only; }

Combine bulk_combine(int reduction, bool adds_bits) {
  if (reduction == 0) return &overwrite;
  const Reduction& found = kReductions[reduction - 1];
  return adds_bits && found.of_bits != nullptr ? found.of_bits : found.combine;
}

}  // namespace convladder::simulated

// Whether what threads have done is there for accesses through another proxy: copies in bulk, products of matrices, and
// the tensor maps that copies read.
#include <fmt/format.h>

#include <algorithm>

#include "simulator/checkers/race_checker.hpp"

namespace convladder::simulated {

void RaceChecker::proxy_fenced(const WarpState& warp, const Operation& operation, const ProxyFence& fence) {
  enter(*warp.block);
  ++events_;
  Fences::Fence made{warp.mask, 0, operation.instruction, {released_by(warp, warp.mask), ++time_}};
  made.clock = now_->clock[static_cast<std::size_t>(warp.index)];
  BlockProxyFences& fences = fences_[now_->number];
  if (fence.shared) fences.shared.add(warp.index, made);
  if (fence.global) fences.global.add(warp.index, made);
  if (fence.releases_maps) fences.releases.add(warp.index, made);
  if (fence.acquires_map) fences.acquires[fence.map].add(warp.index, made);
}

/// Notes when a block has released what to others. Of many releases the oldest count as earlier than they were, so that
/// a fence behind them counts rather than not.
void RaceChecker::note_release(std::uint32_t block, const Clocks& clocks) {
  if (!has_proxies_) return;
  constexpr std::size_t kMostReleases = 16;
  std::deque<Release>& releases = releases_[block];
  releases.push_back({++time_, clocks});
  if (releases.size() <= kMostReleases) return;
  releases[1].time = releases[0].time;
  releases.pop_front();
}

/// When the access's block has first released it to others; 0 if that is not known.
std::uint64_t RaceChecker::time_of_release(const Access& earlier) const {
  const auto found = releases_.find(earlier.block);
  if (found == releases_.end()) return 0;
  const LaneMask lane = LaneMask{1} << (earlier.thread % kLanes);
  const auto has = [&](const Release& release) {
    return release.clocks.has(clock_index(earlier), lane, earlier.clock);
  };
  const auto first = std::ranges::find_if(found->second, has);
  return first == found->second.end() ? 0 : first->time;
}

/// Everything that these fences of the block have shown to the access.
const Shown& RaceChecker::shown_before(const Fences& fences, const Touch& touch) {
  const int warp = touch.access.warp->index;
  const bool is_product = is_product_[touch.now.instruction];  // of whole warps
  const int lane = is_product ? -1 : touch.lane;
  LastShown& last = last_shown_;
  if (last.fences == &fences && last.events == events_ && last.warp == warp && last.lane == lane) return last.shown;
  LaneMask lanes = is_product ? kAllLanes : LaneMask{1} << lane;
  if (!is_product) {
    if (const Met& met = now_->met[static_cast<std::size_t>(warp)]; (met.lanes & lanes) != 0) lanes |= met.lanes;
    const auto of_lanes = now_->of_lanes.find(warp);
    for (int other = 0; of_lanes != now_->of_lanes.end() && other < kLanes; ++other) {
      const std::uint32_t clock = of_lanes->second[static_cast<std::size_t>(lane)][static_cast<std::size_t>(other)];
      if (clock > now_->seen[static_cast<std::size_t>(warp)].to[static_cast<std::size_t>(warp)])
        lanes |= LaneMask{1} << other;
    }
  }
  last = {&fences, events_, warp, lane, fences.before({now_->seen[static_cast<std::size_t>(warp)], warp, lanes})};
  return last.shown;
}

/// Whether fences of this block, or, if there are any, of the other block that made the access, have shown it.
bool RaceChecker::is_shown(const Access& earlier, const Shown& shown, const Fences* of_its_block) const {
  const LaneMask lane = LaneMask{1} << (earlier.thread % kLanes);
  const std::size_t index = clock_index(earlier);
  if (earlier.block == now_->number) return shown.clocks.has(index, lane, earlier.clock);
  if (of_its_block != nullptr && of_its_block->all().clocks.has(index, lane, earlier.clock)) return true;
  return shown.time != 0 && shown.time >= time_of_release(earlier);
}

void RaceChecker::report_fence(const Touch& touch, const Access& earlier, const char* hazard, const char* fence,
                               int other, const std::string& why_note) {
  const std::string behind = other < 0 ? "" : fmt::format(" ({} is not between them)", line_text(touch, other));
  report(touch, earlier, fmt::format("{}, without {}{},", hazard, fence, behind), why_note);
}

/// An access by a copy or product, in order with what threads have done there. Of what lies there it may see nothing,
/// and what it writes may come too early for a thread that has read it before.
void RaceChecker::judge_proxies(const Touch& touch, const Unit& unit) {
  const bool is_shared = touch.access.space == ptx::Space::shared;
  const bool is_load = touch.access.kind == AccessKind::load;
  const auto kind = is_shared ? &BlockProxyFences::shared : &BlockProxyFences::global;
  const char* const fence = is_shared ? "fence.proxy.async.shared::cta" : "fence.proxy.async.global";
  const auto judge = [&](const Access& earlier, const char* hazard, bool is_read) {
    if (earlier.clock == 0 || earlier.is_asynchronous != 0) return;
    if (are_strong(earlier, touch.now)) return;
    if (program_.kernel->instructions[earlier.instruction].opcode.starts_with("cp.async")) return;
    if (!ordered(earlier, touch.now)) return;  // a race in any case
    const Fences& own = fences_[now_->number].*kind;
    const auto other = earlier.block == now_->number ? fences_.end() : fences_.find(earlier.block);
    const Fences* const its = other == fences_.end() ? nullptr : &(other->second.*kind);
    if (is_shown(earlier, shown_before(own, touch), its)) return;
    // A value that has come from global memory before a barrier cannot change any more, whatever PTX promises.
    const bool is_harmless = is_read && !is_shared;
    report_fence(touch, earlier, hazard, fence, own.latest(), is_harmless ? "the load was over by then" : "");
  };
  judge(unit.writer, is_load ? "read after write" : "write after write", false);
  if (is_load) return;
  judge(unit.first_reader, "write after read", true);
  judge(unit.last_reader, "write after read", true);
}

/// A copy that reads its tensor map, which the kernel may have written.
void RaceChecker::judge_map(const Touch& touch, const Unit& unit) {
  const Access& writer = unit.writer;
  if (writer.clock == 0 || writer.is_asynchronous != 0 || !ordered(writer, touch.now)) return;
  constexpr const char* kHazard = "tensor map read after write";
  const BlockProxyFences& own = fences_[now_->number];
  const auto other = writer.block == now_->number ? fences_.end() : fences_.find(writer.block);
  const Fences* const its = other == fences_.end() ? nullptr : &other->second.releases;
  const bool is_copied =
      program_.kernel->instructions[writer.instruction].opcode.starts_with("tensormap.cp_fenceproxy");
  if (!is_copied && !is_shown(writer, shown_before(own.releases, touch), its)) {
    constexpr const char* kFence = "fence.proxy.tensormap::generic.release";
    return report_fence(touch, writer, kHazard, kFence, own.releases.latest(), "");
  }
  const std::uint64_t map = (*touch.access.addresses)[static_cast<std::size_t>(touch.lane)];
  const auto acquires = own.acquires.find(map);
  const bool is_acquired =
      acquires != own.acquires.end() && is_shown(writer, shown_before(acquires->second, touch), nullptr);
  if (is_acquired) return;
  constexpr const char* kFence = "fence.proxy.tensormap::generic.acquire";
  report_fence(touch, writer, kHazard, kFence, acquires == own.acquires.end() ? -1 : acquires->second.latest(), "");
}

}  // namespace convladder::simulated

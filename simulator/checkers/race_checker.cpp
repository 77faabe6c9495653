#include "simulator/checkers/race_checker.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <new>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "simulator/instructions/memory/memory_access.hpp"
#include "simulator/memory/warp_access.hpp"

namespace convladder::simulated {
namespace {

constexpr unsigned kPageShift = 12;
constexpr std::uint64_t kPageBytes = std::uint64_t{1} << kPageShift;

/// The shift of a unit of shared memory: 2 (words), or 0 (bytes) if an instruction reaches it with less than a word.
unsigned shared_unit_shift(const ptx::Kernel& kernel) {
  const auto is_narrow = [](const ptx::Instruction& instruction) {
    const auto access = parse_memory_access(instruction.opcode);
    const bool may_be_shared = access && (access->space == ptx::Space::shared || access->space == ptx::Space::generic);
    return may_be_shared && access->type.bits < 32;
  };
  return std::ranges::any_of(kernel.instructions, is_narrow) ? 0 : 2;
}

/// The variables whose addresses registers hold, by register: of those that nothing but one `mov` writes.
std::map<int, const ptx::Operand*> addresses_of_variables(const ptx::Kernel& kernel) {
  std::map<int, const ptx::Operand*> addresses;
  std::set<int> written;
  for (const ptx::Instruction& instruction : kernel.instructions) {
    if (instruction.operands.empty()) continue;
    const ptx::Operand& to = instruction.operands[0];
    if (to.kind != ptx::OperandKind::register_) continue;
    const bool is_first = written.insert(to.index).second;
    const bool moves =
        instruction.opcode.starts_with("mov.") && instruction.operands[1].kind == ptx::OperandKind::symbol;
    addresses[to.index] = is_first && moves ? &instruction.operands[1] : nullptr;
  }
  std::erase_if(addresses, [](const auto& entry) { return entry.second == nullptr; });
  return addresses;
}

/// Loads of exactly the place at which the kernel compares and swaps. The loop of the CUDA C++ Programming Guide begins
/// with one, and so do CUDA's own atomics of types that the GPU has none for: the load is a guess, which the swap
/// checks. A compiler may write one of the two with the name of a variable and the other with a register.
std::vector<bool> guesses_of_swaps(const ptx::Kernel& kernel) {
  const auto variables = addresses_of_variables(kernel);
  const auto place = [&variables](const ptx::Operand& address) {
    const auto variable = variables.find(address.index);
    if (address.index < 0 || variable == variables.end()) {
      return std::tuple(address.index, std::string_view(address.name), address.offset);
    }
    return std::tuple(-1, std::string_view(variable->second->name), variable->second->offset + address.offset);
  };
  std::set<std::tuple<int, std::string_view, std::int64_t>> swapped;
  for (const ptx::Instruction& instruction : kernel.instructions) {
    const bool swaps = instruction.opcode.starts_with("atom.") && instruction.opcode.find(".cas.") != std::string::npos;
    if (swaps) swapped.insert(place(instruction.operands[1]));
  }
  std::vector<bool> guesses;
  for (const ptx::Instruction& instruction : kernel.instructions) {
    const auto access = swapped.empty() ? std::nullopt : parse_memory_access(instruction.opcode);
    guesses.push_back(access && !access->is_store && swapped.contains(place(instruction.operands[1])));
  }
  return guesses;
}

/// The lanes that the warp began with.
LaneMask lanes_of(const WarpState& warp) {
  const std::uint64_t first = static_cast<std::uint64_t>(warp.index) * kLanes;
  const std::uint64_t threads = warp.block->block_size.count();
  return threads - first >= kLanes ? kAllLanes : (LaneMask{1} << (threads - first)) - 1;
}

}  // namespace

RaceChecker::RaceChecker(const Program& program, const std::set<std::uint64_t>& written_allocations,
                         FindingLog& findings)
    : program_(program),
      findings_(findings),
      guesses_(guesses_of_swaps(*program.kernel)),
      shared_shift_(shared_unit_shift(*program.kernel)) {
  for (const std::uint64_t begin : written_allocations) pieces_[begin] = {begin, begin, {}};
  for (const ptx::Instruction& instruction : program.kernel->instructions) {
    orders_.push_back(memory_order(instruction.opcode));
    scopes_.push_back(memory_scope(instruction.opcode));
    const auto number = static_cast<int>(orders_.size()) - 1;
    const bool is_load = instruction.opcode.starts_with("ld.");
    is_data_.push_back(is_load && is_volatile(instruction.opcode) && !decides_way(*program.kernel, number));
    is_product_.push_back(instruction.opcode.starts_with("wgmma.mma"));
    is_by_proxy_.push_back(is_product_.back() || instruction.opcode.starts_with("cp.async.bulk") ||
                           instruction.opcode.starts_with("cp.reduce.async.bulk"));
    has_proxies_ = has_proxies_ || is_by_proxy_.back();
  }
}

void RaceChecker::enter(const BlockContext& block) {
  if (&block == last_) return;
  last_ = &block;
  now_ = &blocks_[&block];
}

void RaceChecker::block_begins(const BlockContext& block) {
  enter(block);
  ++events_;
  if (const auto ended = fences_.find(now_->number); ended != fences_.end() && !now_->shared.empty()) {
    ended->second.end();
    if (ended->second.empty()) fences_.erase(ended);
  }
  forget_shared(now_->shared);
  *now_ = {};
  now_->number = static_cast<std::uint32_t>(block.block_number);
  now_->cluster = block.cluster;
  now_->shared.resize((block.shared.size() >> shared_shift_) + 1);
  now_->clock.fill(1);
}

void RaceChecker::products_met(const BlockContext& block, std::uint32_t warps) {
  enter(block);
  ++events_;
  Clocks before{};
  for (int w = 0; w < kMostWarps; ++w) {
    if (((warps >> w) & 1U) == 0) continue;
    before.join(now_->seen[w]);
    before.to[w] = now_->clock[w]++;
  }
  const int first = std::countr_zero(warps);
  now_->before_products[{first / kWarpsOfGroup, now_->committed[first] + 1}] = before;
}

void RaceChecker::products_committed(const WarpState& warp) {
  enter(*warp.block);
  ++now_->committed[warp.index];
}

void RaceChecker::products_waited_for(const WarpState& warp, std::uint32_t left) {
  enter(*warp.block);
  ++events_;
  const std::uint32_t committed = now_->committed[warp.index];
  if (committed <= left) return;
  const std::uint32_t done = committed - left;
  const auto group = static_cast<std::uint32_t>(warp.index / kWarpsOfGroup);
  Clocks& seen = now_->seen[warp.index];
  seen.to[Clocks::kFirstGroup + group] = std::max(seen.to[Clocks::kFirstGroup + group], done);
  auto& before = now_->before_products;
  const auto behind = before.upper_bound({group, done});
  if (behind == before.begin() || std::prev(behind)->first.first != group) return;
  const auto last = std::prev(behind);
  seen.join(last->second);
  before.erase(before.lower_bound({group, 0}), last);  // later ones include them
}

void RaceChecker::cluster_met(const Cluster& cluster) {
  ++events_;
  for (const BlockContext* const block : cluster.blocks) {
    OfBlock& of_block = blocks_[block];
    for (int w = 0; w < kMostWarps; ++w) {
      of_block.for_cluster.join(of_block.seen[w]);
      of_block.for_cluster.to[w] = of_block.clock[w]++;
    }
    note_release(of_block.number, of_block.for_cluster);
  }
}

void RaceChecker::barrier_passed(const BlockContext& block, std::uint32_t warps) {
  enter(block);
  ++events_;
  Clocks seen{};
  KnownReleases::Pointer read;
  for (int w = 0; w < kMostWarps; ++w) {
    if (((warps >> w) & 1U) == 0) continue;
    seen.join(now_->seen[w]);
    seen.to[w] = std::max(seen.to[w], now_->clock[w]);
    read = KnownReleases::joined(read, now_->read_of_others[w]);
  }
  for (int w = 0; w < kMostWarps; ++w) {
    if (((warps >> w) & 1U) == 0) continue;
    now_->seen[w] = seen;
    now_->read_of_others[w] = read;
    ++now_->clock[w];
  }
}

void RaceChecker::warp_synchronized(const WarpState& warp, LaneMask lanes) {
  enter(*warp.block);
  ++events_;
  const int w = warp.index;
  const std::uint32_t now = now_->clock[w]++;
  if ((lanes_of(warp) & ~lanes) == 0) {
    now_->seen[w].to[w] = now;
    now_->of_lanes.erase(w);
    return;
  }
  const auto [known, is_new] = now_->of_lanes.try_emplace(w);
  OfLanes& of_lanes = known->second;
  if (is_new) {
    for (auto& row : of_lanes) row.fill(now_->seen[w].to[w]);
  }
  std::array<std::uint32_t, kLanes> all{};  // what any of them has seen
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    for (int other = 0; other < kLanes; ++other) all[other] = std::max(all[other], of_lanes[lane][other]);
    all[lane] = now;
  }
  for (LaneMask left = lanes; left != 0; left &= left - 1) of_lanes[std::countr_zero(left)] = all;
}

void RaceChecker::lanes_met(const WarpState& warp, LaneMask lanes) {
  enter(*warp.block);
  ++events_;
  now_->met[warp.index] = {lanes, now_->clock[warp.index]++};
}

/// The clocks of everything that these lanes have done, with all that the warp has seen so far; its later accesses get
/// a new clock.
RaceChecker::Clocks RaceChecker::released_by(const WarpState& warp, LaneMask lanes) {
  const int w = warp.index;
  Clocks clocks = now_->seen[w];
  const std::uint32_t now = now_->clock[w]++;
  if ((lanes_of(warp) & ~lanes) == 0) {
    clocks.to[w] = now;
    return clocks;
  }
  if (const Met& met = now_->met[w]; (met.lanes & lanes) != 0) {
    if ((lanes_of(warp) & ~met.lanes) == 0) {
      clocks.to[w] = std::max(clocks.to[w], met.clock);
    } else {
      lanes |= met.lanes;
    }
  }
  clocks.add_lanes(static_cast<std::size_t>(w), lanes, now);
  return clocks;
}

void RaceChecker::fenced(const WarpState& warp, const Operation& operation, bool for_other_blocks) {
  enter(*warp.block);
  ++events_;
  Clocks& seen = now_->seen[warp.index];
  seen.join(now_->read[warp.index]);
  if (for_other_blocks) {
    seen.others = KnownReleases::joined(seen.others, std::exchange(now_->read_of_others[warp.index], nullptr));
  }
  now_->fenced[warp.index] = released_by(warp, warp.mask);
  if (!for_other_blocks) return;
  now_->wide_fences.add(
      warp.index, {warp.mask, now_->clock[warp.index], operation.instruction, {now_->fenced[warp.index], ++time_}});
}

void RaceChecker::copy_begins(std::span<const WarpAccess> sources, std::span<const WarpAccess> destinations,
                              std::uint64_t copy) {
  enter(*destinations.front().warp->block);
  is_asynchronous_ = true;
  for (const WarpAccess& source : sources) access(source);
  for (const WarpAccess& destination : destinations) access(destination);
  is_asynchronous_ = false;
  const auto warp = static_cast<std::size_t>(destinations.front().warp->index);
  Clocks& clocks = now_->copies[copy];
  for (const std::size_t own : {Clocks::kFirstCopy + warp, Clocks::kFirstLanding + warp}) {
    clocks.to[own] = now_->clock[own]++;
  }
}

/// Whoever waits for any of the lanes' copies waits for the one that there is.
void RaceChecker::copy_repeats(const WarpState& warp, std::uint64_t copy, std::uint64_t first) {
  enter(*warp.block);
  now_->copies[copy] = now_->copies[first];
}

void RaceChecker::copy_arrives(const BlockContext& block, std::uint64_t copy, const BlockContext& owner,
                               std::uint64_t mbarrier) {
  enter(block);
  Clocks& released = &owner == &block ? now_->released_at[kSharedWindow + mbarrier] : now_->for_cluster;
  ++events_;
  released.join(now_->copies[copy]);
  now_->copies.erase(copy);
  if (&released == &now_->for_cluster) note_release(now_->number, released);
}

void RaceChecker::copy_seen(const WarpState& warp, std::uint64_t copy, bool has_landed) {
  enter(*warp.block);
  ++events_;
  const auto found = now_->copies.find(copy);
  if (found == now_->copies.end()) return;
  Clocks clocks = found->second;
  if (has_landed) {
    now_->copies.erase(found);
  } else {
    clocks.to[Clocks::kFirstLanding + static_cast<std::size_t>(warp.index)] = 0;
  }
  now_->seen[warp.index].join(clocks);
}

void RaceChecker::arrives(const WarpState& warp, std::uint64_t mbarrier) {
  enter(*warp.block);
  now_->released_at[kSharedWindow + mbarrier].join(released_by(warp, warp.mask));
}

void RaceChecker::phase_ended(const BlockContext& block, std::uint64_t mbarrier) {
  enter(block);
  now_->ended_phases[mbarrier] = now_->released_at[kSharedWindow + mbarrier];
}

void RaceChecker::phase_seen(const WarpState& warp, std::uint64_t mbarrier) {
  enter(*warp.block);
  ++events_;
  now_->seen[warp.index].join(now_->ended_phases[mbarrier]);
}

/// Records the order that a strong access at a place establishes.
void RaceChecker::order(const WarpAccess& access, std::uint64_t address) {
  ++events_;
  const MemoryOrder order = orders_[static_cast<std::size_t>(access.operation->instruction)];
  const bool is_shared = access.space == ptx::Space::shared;
  const int warp = access.warp->index;
  const bool releases = order == MemoryOrder::release || order == MemoryOrder::acquire_release;
  const bool acquires = order == MemoryOrder::acquire || order == MemoryOrder::acquire_release;
  const auto released_now = [&] { return releases ? released_by(*access.warp, access.mask) : now_->fenced[warp]; };
  if (access.kind != AccessKind::load && now_->cluster != nullptr) {
    now_->for_cluster.join(released_now());
    note_release(now_->number, now_->for_cluster);
  }
  if (access.owner != nullptr && access.owner != access.warp->block) return;
  Clocks& released = now_->released_at[is_shared ? kSharedWindow + address : address];
  if (access.kind != AccessKind::store) (acquires ? now_->seen[warp] : now_->read[warp]).join(released);
  if (access.kind != AccessKind::load) released.join(released_now());
  if (!is_shared) order_between_blocks(access, address);
}

/// Finds what a strong access of a scope beyond the block releases to other blocks: everything so far, if it is a
/// release by itself, and otherwise what wide fences before it have shown.
const RaceChecker::Clocks& RaceChecker::released_wide(const WarpAccess& access) {
  if (wide_) return *wide_;
  const MemoryOrder order = orders_[static_cast<std::size_t>(access.operation->instruction)];
  const int warp = access.warp->index;
  const FencePoint here{now_->seen[warp], warp, access.mask | now_->met[warp].lanes};
  wide_ = now_->wide_fences.empty() ? Clocks{} : now_->wide_fences.before(here).clocks;
  if (order == MemoryOrder::release || order == MemoryOrder::acquire_release) {
    wide_->join(released_by(*access.warp, access.mask));
  }
  const std::size_t warps = (access.warp->block->block_size.count() + kLanes - 1) / kLanes;
  Reached reached(3 * warps);
  for (std::size_t w = 0; w < warps; ++w) {
    reached[w] = std::max(wide_->to[w], wide_->some_to[w]);
    reached[warps + w] = wide_->to[Clocks::kFirstCopy + w];
    reached[2 * warps + w] = wide_->to[Clocks::kFirstLanding + w];
  }
  release_ = wide_->others;
  if (std::ranges::all_of(reached, [](std::uint32_t clock) { return clock == 0; })) return *wide_;
  Reached& all = released_[now_->number];
  all.resize(3 * warps);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::max(all[i], reached[i]);
  constexpr std::size_t kMostReleases = 64;
  const std::uint64_t key = std::uint64_t{now_->number} * kMostWarps + static_cast<std::uint64_t>(warp);
  WarpReleases& releases = releases_of_warps_[key];
  // A release counts as one of all that its warp has released before: only the latest is remembered where it is known.
  if (!releases.reached.empty()) {
    const Reached& before = releases.reached.back();
    for (std::size_t i = 0; i < reached.size(); ++i) reached[i] = std::max(reached[i], before[i]);
  }
  if (releases.reached.empty() || releases.reached.back() != reached) {
    if (releases.reached.size() == kMostReleases) {
      releases.reached.pop_front();
      ++releases.first;
    }
    releases.reached.push_back(std::move(reached));
  }
  const auto latest = releases.first + static_cast<std::uint32_t>(releases.reached.size()) - 1;
  release_ = KnownReleases::with(release_, key, latest);
  note_release(now_->number, *wide_);
  return *wide_;
}

/// The order that a strong access at a place in global memory establishes between blocks.
void RaceChecker::order_between_blocks(const WarpAccess& access, std::uint64_t address) {
  const auto instruction = static_cast<std::size_t>(access.operation->instruction);
  if (scopes_[instruction] == MemoryScope::block) return;
  const MemoryOrder order = orders_[instruction];
  const int warp = access.warp->index;
  const bool acquires = order == MemoryOrder::acquire || order == MemoryOrder::acquire_release;
  const auto known = known_at_.find(address);
  if (access.kind != AccessKind::store && known != known_at_.end()) {
    KnownReleases::Pointer& read = acquires ? now_->seen[warp].others : now_->read_of_others[warp];
    read = KnownReleases::joined(read, known->second);
  }
  if (access.kind == AccessKind::load) return;
  static_cast<void>(released_wide(access));
  if (release_ == nullptr) return;
  KnownReleases::Pointer& here = known == known_at_.end() ? known_at_[address] : known->second;
  here = KnownReleases::joined(here, release_);
}

/// Whether a release of another block that is known came after the access.
bool RaceChecker::is_released_to(const KnownReleases& known, const Access& earlier) const {
  const std::size_t index = clock_index(earlier);
  if (index >= Clocks::kFirstGroup && index < Clocks::kFirstLanding) return true;  // products only read shared memory
  const auto has = [&](const Reached& reached) {
    const std::size_t warps = reached.size() / 3;
    const std::size_t at = index < Clocks::kFirstCopy    ? index
                           : index < Clocks::kFirstGroup ? warps + index - Clocks::kFirstCopy
                                                         : 2 * warps + index - Clocks::kFirstLanding;
    return earlier.clock <= reached[at];
  };
  if (known.all) {
    const auto found = released_.find(earlier.block);
    return found != released_.end() && has(found->second);
  }
  const std::uint64_t first = std::uint64_t{earlier.block} * kMostWarps;
  auto at = std::ranges::lower_bound(known.latest, first, {}, &std::pair<std::uint64_t, std::uint32_t>::first);
  for (; at != known.latest.end() && at->first < first + kMostWarps; ++at) {
    const WarpReleases& releases = releases_of_warps_.at(at->first);
    const std::uint32_t kept = std::max(at->second, releases.first) - releases.first;
    if (has(releases.reached[kept])) return true;
  }
  return false;
}

/// Whether both accesses are strong, and each for the other one's thread.
bool RaceChecker::are_strong(const Access& earlier, const Access& now) const {
  if ((earlier.is_strong & now.is_strong) == 0) return false;
  if (earlier.block == now.block) return true;
  const auto reaches = [&](const Access& access) {
    const MemoryScope scope = guesses_[access.instruction] ? MemoryScope::device : scopes_[access.instruction];
    if (scope != MemoryScope::cluster) return scope == MemoryScope::device;
    return now_->cluster != nullptr && std::ranges::any_of(now_->cluster->blocks, [&](const BlockContext* block) {
             return block->block_number == earlier.block;
           });
  };
  return reaches(earlier) && reaches(now);
}

RaceChecker::Piece* RaceChecker::find_piece(std::uint64_t address) {
  if (last_piece_ != nullptr && last_piece_->begin <= address && address < last_piece_->end) return last_piece_;
  const auto above = pieces_.upper_bound(address);
  if (above == pieces_.begin()) return nullptr;
  Piece& piece = std::prev(above)->second;
  if (piece.end > piece.begin && address >= piece.end) return nullptr;
  last_piece_ = &piece;
  return last_piece_;
}

inline void RaceChecker::note_load(const WarpAccess& access) {
  const auto warp = static_cast<std::size_t>(access.warp->index);
  std::vector<Loaded>& of_warp = loaded_[warp];
  if (of_warp.empty()) of_warp.resize(program_.kernel->instructions.size());
  Loaded& loaded = of_warp[static_cast<std::size_t>(access.operation->instruction)];
  const std::uint32_t clock = now_->clock[warp];
  loaded = {now_->number, clock, loaded.block == now_->number && loaded.clock == clock};
}

void RaceChecker::access(const WarpAccess& access) {
  const Addresses& addresses = *access.addresses;
  if (access.space == ptx::Space::local) return;  // local memory is each thread's own
  enter(*access.warp->block);
  if (!now_->late_loads.empty() && access.kind == AccessKind::store) store_late_values(access);
  if (access.kind == AccessKind::load && !is_asynchronous_) note_load(access);
  if (is_strong(access)) {
    wide_.reset();
    for (LaneMask left = access.mask; left != 0; left &= left - 1) order(access, addresses[std::countr_zero(left)]);
  }
  if (access.space == ptx::Space::shared) {
    const bool is_own = access.owner == nullptr || access.owner == access.warp->block;
    std::vector<Unit>& units = is_own ? now_->shared : blocks_[access.owner].shared;
    is_foreign_ = !is_own;
    Access now = access_of(access);
    const unsigned first = now.thread;
    for (LaneMask left = access.mask; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      if (addresses[lane] < program_.reserved_shared_bytes) continue;  // the system's software has its own ordering
      now.thread = (first + static_cast<unsigned>(lane)) & 1023U;
      const std::uint64_t offset = addresses[lane] >> shared_shift_;
      const bool has_coming = !now_->coming.empty() && &units == &now_->shared;
      touch(access, lane, now,
            {units.data() + offset, has_coming ? now_->coming.data() + offset : nullptr, 0,
             static_cast<std::uint64_t>(access.bytes), shared_shift_});
    }
    is_foreign_ = false;
    return;
  }
  const AddressSpan span = address_span(addresses);
  if (!may_be_known(span)) return;
  Access now = access_of(access);
  const unsigned first = now.thread;
  Piece* piece = find_piece(span.low);
  const bool is_one_piece = piece != nullptr && span.high < piece->end;
  for (LaneMask left = access.mask; left != 0 && !is_blind_; left &= left - 1) {
    const int lane = std::countr_zero(left);
    now.thread = (first + static_cast<unsigned>(lane)) & 1023U;
    if (!is_one_piece) piece = find_piece(addresses[lane]);
    if (piece != nullptr) touch_global(access, lane, now, *piece);
  }
}

/// Whether anything is known, or to be known, of accesses to some of these addresses.
bool RaceChecker::may_be_known(const AddressSpan& span) const {
  const auto above = pieces_.upper_bound(span.high);
  if (above == pieces_.begin()) return false;
  const Piece& below = std::prev(above)->second;
  return below.begin > span.low || below.end == below.begin || span.low < below.end;
}

/// Reaches the pages of a lane's access to global memory.
void RaceChecker::touch_global(const WarpAccess& access, int lane, const Access& now, Piece& piece) {
  const std::uint64_t address = (*access.addresses)[lane];
  try {
    if (piece.pages.empty()) {
      const Allocation* const allocation = access.warp->block->memory->find(address);
      if (allocation == nullptr || allocation->begin != piece.begin) return;
      // So much is always a mapping of its own, which goes back to the system.
      constexpr std::size_t kReserve = std::size_t{48} << 20;
      if (reserve_.capacity() == 0) reserve_.reserve(kReserve);
      piece.end = allocation->end;
      piece.pages.resize(((piece.end - 1) >> kPageShift) - (piece.begin >> kPageShift) + 1);
    }
    const auto all = static_cast<std::uint64_t>(std::max(access.bytes, 1));
    for (std::uint64_t byte = 0; byte < all;) {
      const std::uint64_t at = address + byte;
      Page& page = piece.pages[(at >> kPageShift) - (piece.begin >> kPageShift)];
      const std::uint64_t in_page = at & (kPageBytes - 1);
      const std::uint64_t bytes = std::min(all - byte, kPageBytes - in_page);
      const bool is_narrow = ((in_page | bytes) & 3) != 0;
      if (page.units.empty()) {
        page.has_bytes = is_narrow;
        page.units.resize(is_narrow ? kPageBytes : kPageBytes / 4);
      } else if (is_narrow && !page.has_bytes) {
        split_words(page);
      }
      const unsigned shift = page.has_bytes ? 0 : 2;
      touch(access, lane, now, {page.units.data() + (in_page >> shift), nullptr, byte, bytes, shift});
      byte += bytes;
    }
  } catch (const std::bad_alloc&) {
    // The checker gives up all that it knows, so that the host has memory for the rest.
    is_blind_ = true;
    pieces_.clear();
    last_piece_ = nullptr;
    repeated_.clear();
    std::vector<std::byte>().swap(reserve_);
  }
}

/// Gives each byte of a page a unit of its own.
void RaceChecker::split_words(Page& page) {
  std::vector<Unit> bytes(kPageBytes);
  for (std::uint64_t i = 0; i < kPageBytes; ++i) {
    const Unit& word = page.units[i / 4];
    bytes[i] = word;
    if (word.writer.is_repeated == 0) continue;
    if (const auto others = repeated_.find(&word); others != repeated_.end()) {
      repeated_[&bytes[i]] = std::vector(others->second);
    }
  }
  for (const Unit& word : page.units) repeated_.erase(&word);
  page.units = std::move(bytes);
  page.has_bytes = true;
}

bool RaceChecker::ordered_in_cluster(const Access& earlier) const {
  if (now_->cluster == nullptr) return false;
  for (const BlockContext* const block : now_->cluster->blocks) {
    if (block->block_number != earlier.block) continue;
    const LaneMask lane = LaneMask{1} << (earlier.thread % kLanes);
    return blocks_.at(block).for_cluster.has(clock_index(earlier), lane, earlier.clock);
  }
  return false;
}

/// The rest of `ordered`, behind the clocks that are for all lanes.
bool RaceChecker::ordered_otherwise(const Access& earlier, const Access& now) const {
  if (earlier.block != now.block) {
    const KnownReleases* const known = now_->seen[now.thread / kLanes].others.get();
    return (known != nullptr && is_released_to(*known, earlier)) || ordered_in_cluster(earlier);
  }
  // A copy into another block's memory arrives there, and the threads of that block are who waits for it.
  if (is_foreign_ && earlier.is_asynchronous != 0 && ordered_in_cluster(earlier)) return true;
  const int warp = static_cast<int>(now.thread / kLanes);
  const std::size_t index = clock_index(earlier);
  const LaneMask lane = LaneMask{1} << (earlier.thread % kLanes);
  if (now_->seen[static_cast<std::size_t>(warp)].has(index, lane, earlier.clock)) return true;
  if (now_->of_lanes.empty() || index != static_cast<std::size_t>(warp)) return false;
  const auto of_lanes = now_->of_lanes.find(warp);
  if (of_lanes == now_->of_lanes.end()) return false;
  return earlier.clock <= of_lanes->second[now.thread % kLanes][earlier.thread % kLanes];
}

/// The access of lane 0; other lanes' differ in the thread.
RaceChecker::Access RaceChecker::access_of(const WarpAccess& access) {
  const auto instruction = static_cast<std::size_t>(access.operation->instruction);
  const bool is_product = is_product_[instruction];
  Access now;
  now.block = now_->number;
  now.instruction = static_cast<std::uint32_t>(instruction) & ((1U << 18) - 1);
  now.is_strong = (is_strong(access) && !is_data_[instruction]) || guesses_[instruction];
  now.is_asynchronous = is_asynchronous_ || is_product;
  now.is_landing = is_asynchronous_ && access.space == ptx::Space::global && access.kind != AccessKind::load;
  now.thread = static_cast<unsigned>(access.warp->index * kLanes) & 1023U;
  now.clock = is_product ? now_->committed[access.warp->index] + 1 : now_->clock[clock_index(now)];
  const std::size_t warps = (access.warp->block->block_size.count() + kLanes - 1) / kLanes;
  const auto& seen = now_->seen[access.warp->index].to;
  before_ = seen[0];
  for (std::size_t w = 1; w < warps; ++w) before_ = std::min(before_, seen[w]);
  return now;
}

/// Notes an access that is in order with all that is known of the unit, as nearly all are; otherwise returns false.
inline bool RaceChecker::touch_in_order(Unit& unit, const Access& now, bool is_load) const {
  const Access& writer = unit.writer;
  if (!is_before_all(writer, now) || (writer.is_disputed | writer.is_repeated) != 0) return false;
  if (!is_before_all(unit.first_reader, now)) return false;
  if (is_load) {
    unit.first_reader = now;
    return true;
  }
  if (!is_before_all(unit.last_reader, now)) return false;
  unit.writer = now;
  return true;
}

void RaceChecker::touch(const WarpAccess& access, int lane, const Access& now, const Part& part) {
  const std::uint64_t count = std::max<std::uint64_t>(1, part.bytes >> part.shift);
  Access* const coming = part.coming;
  const auto touch_of = [&](std::uint64_t i) {
    return Touch{access, lane, part.byte + (i << part.shift), std::uint64_t{1} << part.shift, now};
  };
  const bool is_load = access.kind == AccessKind::load;
  const bool is_by_proxy = is_by_proxy_[static_cast<std::size_t>(access.operation->instruction)];
  const bool is_of_map = is_by_proxy && now.is_asynchronous == 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (is_by_proxy) is_of_map ? judge_map(touch_of(i), part.units[i]) : judge_proxies(touch_of(i), part.units[i]);
    const bool is_coming = coming != nullptr && coming[i].clock != 0;
    if (!is_coming && touch_in_order(part.units[i], now, is_load)) [[likely]]
      continue;
    touch_unit(touch_of(i), part.units[i], is_coming ? &coming[i] : nullptr);
  }
}

void RaceChecker::touch_unit(const Touch& touch, Unit& unit, Access* coming) {
  const Access& now = touch.now;
  if (coming != nullptr) meet_coming(touch, *coming);
  if (touch.access.kind == AccessKind::load) {
    if (!ordered(unit.writer, now)) judge_read_after_write(touch, unit);
    if (unit.writer.is_disputed != 0) settle(unit, true);
    (ordered(unit.first_reader, now) ? unit.first_reader : unit.last_reader) = now;
    return;
  }
  Access writer = now;
  const bool is_plain = ordered(unit.writer, now) && (unit.writer.is_disputed | unit.writer.is_repeated) == 0;
  const bool is_equal = !is_plain && write_again(touch, unit, writer) == WriteRace::equal;
  if (!is_equal) judge_readers(touch, unit);  // readers of an equal value are those of this one
  unit.writer = writer;
}

inline void RaceChecker::judge_readers(const Touch& touch, const Unit& unit) {
  if (!ordered(unit.first_reader, touch.now)) {
    judge_write_after_read(touch, unit.first_reader, unit);
  } else if (!ordered(unit.last_reader, touch.now)) {
    judge_write_after_read(touch, unit.last_reader, unit);
  }
}

void RaceChecker::copies_come(const WarpAccess& destination) {
  enter(*destination.warp->block);
  now_->coming.resize(now_->shared.size());
  is_asynchronous_ = true;
  Access now = access_of(destination);
  is_asynchronous_ = false;
  const unsigned first = now.thread;
  const std::uint64_t count =
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(destination.bytes) >> shared_shift_);
  for (LaneMask left = destination.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    now.thread = (first + static_cast<unsigned>(lane)) & 1023U;
    const std::uint64_t offset = (*destination.addresses)[lane] >> shared_shift_;
    for (std::uint64_t i = 0; i < count; ++i) {
      const Touch touch{destination, lane, i << shared_shift_, std::uint64_t{1} << shared_shift_, now};
      judge_readers(touch, now_->shared[offset + i]);
      now_->coming[offset + i] = now;
    }
  }
}

/// An access to what a copy is on its way to: the copy itself, which lands, or a race with it.
void RaceChecker::meet_coming(const Touch& touch, Access& coming) {
  const bool is_load = touch.access.kind == AccessKind::load;
  const bool is_copy = program_.kernel->instructions[touch.now.instruction].opcode.starts_with("cp.async.");
  if (is_load || !is_copy) return report(touch, coming, is_load ? "read after write" : "write after write", "");
  if (coming.thread == touch.now.thread) coming = {};  // copies of two threads are judged when they land
}

/// A write to a unit whose last write is in no order, or in doubt.
RaceChecker::WriteRace RaceChecker::write_again(const Touch& touch, const Unit& unit, Access& now) {
  const WriteRace race = ordered(unit.writer, now) ? WriteRace::none : judge_write_after_write(touch, unit, now);
  if (race != WriteRace::none) return race;
  if (unit.writer.is_disputed != 0) settle(unit, touch.access.kind == AccessKind::atomic);
  if (unit.writer.is_repeated != 0) repeated_.erase(&unit);
  return race;
}

}  // namespace convladder::simulated

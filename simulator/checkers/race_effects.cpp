// Whether a race that racecheck has found has an effect, which makes it a finding, or none, which makes it a note.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>

#include "simulator/checkers/race_checker.hpp"

namespace convladder::simulated {
namespace {

constexpr const char* kReadAfterWrite = "read after write";
constexpr const char* kWriteAfterWrite = "write after write";
constexpr const char* kWriteAfterRead = "write after read";

std::uint64_t bits_at(const std::byte* at, std::uint64_t bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, bytes);
  return bits;
}

/// How far apart two numbers of one sign may be and still be equal but for their last bits. The sums of a butterfly
/// differ by no more unless most of the sum cancels out.
constexpr std::uint64_t kMostUnitsApart = 256;

template <typename Float, typename Bits>
std::string pair_text_if_near(std::uint64_t one, std::uint64_t other) {
  const auto a = std::bit_cast<Float>(static_cast<Bits>(one));
  const auto b = std::bit_cast<Float>(static_cast<Bits>(other));
  if (!std::isnormal(a) || !std::isnormal(b) || std::signbit(a) != std::signbit(b)) return "";
  const std::uint64_t apart = one > other ? one - other : other - one;
  return apart < kMostUnitsApart ? fmt::format("{} and {}", a, b) : "";
}

}  // namespace

FindingSite RaceChecker::site_of(const Touch& touch, const Access& earlier) const {
  const int kind = static_cast<int>(earlier.instruction) * 2 + (earlier.block != touch.now.block ? 1 : 0);
  return {Checker::race, touch.access.operation->instruction, kind};
}

/// The line of another instruction, with its file if that is not the one of the access.
std::string RaceChecker::line_text(const Touch& touch, int instruction) const {
  const auto places = [this](int of) {
    return places_of(*program_.module, program_.kernel->instructions[static_cast<std::size_t>(of)].source);
  };
  const std::vector<SourcePlace> own = places(touch.access.operation->instruction);
  const std::vector<SourcePlace> other = places(instruction);
  if (other.empty()) {
    return fmt::format("PTX line {}",
                       program_.kernel->instructions[static_cast<std::size_t>(instruction)].position.line);
  }
  const bool is_of_own_file = !own.empty() && own[0].file == other[0].file;
  std::string text = is_of_own_file ? fmt::format("line {}", other[0].line) : place_text(other[0]);
  if (other.size() > 1 && other.back().file != other[0].file) {
    text += fmt::format(" (called from {})", place_text(other.back()));
  }
  return text;
}

/// Why accesses order nothing that look as if they did.
const char* RaceChecker::why_no_order(const Access& now, const Access& earlier) const {
  if (is_data_[now.instruction] || is_data_[earlier.instruction]) return " (volatile orders nothing)";
  if ((earlier.is_strong & now.is_strong) == 0) return "";
  const bool is_of_block =
      scopes_[now.instruction] == MemoryScope::block || scopes_[earlier.instruction] == MemoryScope::block;
  return is_of_block ? " (atomic for its block only)" : " (atomic for its cluster only)";
}

Finding RaceChecker::describe(const Touch& touch, const Access& earlier, const std::string& hazard) const {
  const WarpAccess& access = touch.access;
  const BlockContext& block = *access.warp->block;
  const ptx::Instruction& other = program_.kernel->instructions[earlier.instruction];
  const Dim3& size = block.block_size;
  const std::string other_thread = fmt::format("thread ({}, {}, {})", earlier.thread % size.x,
                                               earlier.thread / size.x % size.y, earlier.thread / (size.x * size.y));
  const std::string who = earlier.block != touch.now.block
                              ? fmt::format("{} of block number {}", other_thread, earlier.block)
                              : other_thread;
  const bool is_global = access.space != ptx::Space::shared;
  const std::uint64_t address = (*access.addresses)[touch.lane];
  const Allocation* const allocation = is_global ? block.memory->find(address) : nullptr;
  const std::string where = allocation != nullptr
                                ? fmt::format("byte {} of '{}'", address - allocation->begin, allocation->label)
                                : fmt::format("offset {} of shared memory", address);
  Finding finding = block.finding_at(
      *access.warp, *access.operation, touch.lane, Checker::race,
      fmt::format("{} at {}: not ordered with '{}' at {} by {}{}", hazard, where, other.opcode,
                  line_text(touch, static_cast<int>(earlier.instruction)), who, why_no_order(touch.now, earlier)));
  finding.space = is_global ? "global" : "shared";
  finding.address = address;
  if (allocation != nullptr) finding.allocation = allocation->label;
  return finding;
}

/// Adds a finding, or, if `why_note` says why it has no effect, a note.
void RaceChecker::report(const Touch& touch, const Access& earlier, const std::string& hazard,
                         const std::string& why_note) {
  FindingSite site = site_of(touch, earlier);
  if (!why_note.empty()) site.severity = Severity::note;
  findings_.add(site, touch.access.warp->block->block_number, 1, [&] {
    Finding finding = describe(touch, earlier, hazard);
    if (!why_note.empty()) finding.problem += fmt::format(", but {}", why_note);
    return finding;
  });
}

/// Adds a note, which `confirm` makes a finding.
RaceChecker::Pending RaceChecker::pending(const Touch& touch, const Access& earlier, const char* hazard,
                                          const std::string& why_note) {
  report(touch, earlier, hazard, why_note);
  const FindingSite site = site_of(touch, earlier);
  auto found = pending_findings_.find(site);
  if (found == pending_findings_.end()) {
    found = pending_findings_.emplace(site, describe(touch, earlier, hazard)).first;
  }
  return {site, touch.access.warp->block->block_number, &found->second};
}

void RaceChecker::confirm(const Pending& race) {
  findings_.add(race.site, race.block, 1, [&race] { return *race.finding; });
}

/// Ends the doubt about a unit's last write: a read shows its effect, another write that there was none.
void RaceChecker::settle(const Unit& unit, bool is_read) {
  const auto found = disputes_.find(&unit);
  if (found == disputes_.end()) return;
  if (is_read) std::ranges::for_each(found->second, [this](const Pending& race) { confirm(race); });
  disputes_.erase(found);
}

void RaceChecker::forget_shared(const std::vector<Unit>& units) {
  const auto forget = [&units](auto& known) {
    if (known.empty() || units.empty()) return;
    known.erase(known.lower_bound(units.data()), known.lower_bound(units.data() + units.size()));
  };
  forget(disputes_);
  forget(repeated_);
}

/// Whether the access is of the same instruction as the earlier one, by another lane.
bool RaceChecker::is_one_instruction(const Touch& touch, const Access& earlier) const {
  const Access& now = touch.now;
  return earlier.block == now.block && earlier.instruction == now.instruction &&
         earlier.thread / kLanes == now.thread / kLanes && earlier.clock == now.clock;
}

const std::optional<MemoryAccess>& RaceChecker::parsed(int instruction) {
  const auto [known, is_new] = parsed_.try_emplace(instruction);
  if (is_new) {
    known->second = parse_memory_access(program_.kernel->instructions[static_cast<std::size_t>(instruction)].opcode);
  }
  return known->second;
}

/// The value that the lane stores in `bytes` bytes from `byte` of its access on; none if that is not known.
std::optional<std::uint64_t> RaceChecker::written(const Touch& touch, int lane, std::uint64_t byte,
                                                  std::uint64_t bytes) {
  const WarpAccess& access = touch.access;
  if (access.data.first != nullptr) {
    return bits_at(access.data.first + static_cast<std::size_t>(lane) * access.data.stride + byte, bytes);
  }
  const Operation& operation = *access.operation;
  const std::optional<MemoryAccess>& store = parsed(operation.instruction);
  if (!store || !store->is_store) return std::nullopt;
  const Slot* const elements =
      store->vector_elements == 8 ? program_.operand_lists.data() + operation.list : operation.operands;
  const auto element_bytes = static_cast<std::uint64_t>(store->type.bytes());
  const Slot slot = elements[byte / element_bytes];
  const std::uint64_t element = store->type.bits == 64 ? access.warp->read<std::uint64_t>(slot)[lane]
                                                       : access.warp->read<std::uint32_t>(slot)[lane];
  return bits_at(reinterpret_cast<const std::byte*>(&element) + byte % element_bytes, bytes);
}

/// The value in memory there, before the access.
std::optional<std::uint64_t> RaceChecker::present(const Touch& touch, std::uint64_t byte, std::uint64_t bytes) const {
  const WarpAccess& access = touch.access;
  const BlockContext& block = *access.warp->block;
  const std::uint64_t address = (*access.addresses)[touch.lane] + byte;
  if (access.space != ptx::Space::shared) return bits_at(block.memory->host(address), bytes);
  const BlockContext& owner = access.owner != nullptr ? *access.owner : block;
  return bits_at(owner.shared.data() + address, bytes);
}

/// The two numbers, if the store and the earlier one store numbers that are equal but for their last bits.
std::string RaceChecker::nearly_equal(const Touch& touch, const Access& earlier) {
  const int instruction = touch.access.operation->instruction;
  const std::optional<MemoryAccess>& store = parsed(instruction);
  if (!store || !store->is_store || store->type.bytes() < 4) return "";
  const auto [known, is_new] = are_floats_.try_emplace(instruction);
  if (is_new) known->second = stores_floats(*program_.kernel, instruction, store->type.bits);
  if (!known->second) return "";
  const auto bytes = static_cast<std::uint64_t>(store->type.bytes());
  const std::uint64_t byte = touch.byte / bytes * bytes;
  const auto now = written(touch, touch.lane, byte, bytes);
  const auto before = is_one_instruction(touch, earlier)
                          ? written(touch, static_cast<int>(earlier.thread % kLanes), byte, bytes)
                          : present(touch, byte, bytes);
  if (!now || !before) return "";
  return bytes == 4 ? pair_text_if_near<float, std::uint32_t>(*before, *now)
                    : pair_text_if_near<double, std::uint64_t>(*before, *now);
}

RaceChecker::WriteRace RaceChecker::judge_write_after_write(const Touch& touch, const Unit& unit, Access& now) {
  const Access& earlier = unit.writer;
  if (are_strong(earlier, now)) return WriteRace::none;
  const auto& instructions = program_.kernel->instructions;
  const bool is_of_one_warp = earlier.block == now.block && earlier.thread / kLanes == now.thread / kLanes;
  // A barrier is given up by a lane after its warp has met, which every arrival of the warp comes before.
  const std::string_view opcode = instructions[now.instruction].opcode;
  if (is_of_one_warp && opcode.starts_with("mbarrier.inval") &&
      instructions[earlier.instruction].opcode.starts_with("mbarrier.")) {
    return WriteRace::none;
  }
  if (touch.access.kind != AccessKind::store) {
    report(touch, earlier, kWriteAfterWrite, "");
    return WriteRace::other;
  }
  const bool is_one = is_one_instruction(touch, earlier);
  const auto value = written(touch, touch.lane, touch.byte, touch.bytes);
  const auto before = is_one ? written(touch, static_cast<int>(earlier.thread % kLanes), touch.byte, touch.bytes)
                      : earlier.is_asynchronous == 0 ? present(touch, touch.byte, touch.bytes)
                                                     : std::nullopt;
  if (!value || !before) {
    report(touch, earlier, kWriteAfterWrite, "");
    return WriteRace::other;
  }
  std::string why_equal = *value == *before ? "both write the same value" : "";
  if (why_equal.empty()) {
    if (const std::string pair = nearly_equal(touch, earlier); !pair.empty()) {
      why_equal = fmt::format("they write {}, and either may stay", pair);
    }
  }
  if (!why_equal.empty()) {
    now.is_disputed = earlier.is_disputed;
    now.is_repeated = earlier.is_repeated;
    if (!is_one || *value != *before) report(touch, earlier, kWriteAfterWrite, why_equal);
    if (is_one) return WriteRace::equal;
    now.is_repeated = 1;
    constexpr std::size_t kMostOthers = 64;
    if (std::vector<Access>& others = repeated_[&unit]; others.size() < kMostOthers) others.push_back(earlier);
    return WriteRace::equal;
  }
  if (touch.access.space != ptx::Space::shared) {
    report(touch, earlier, kWriteAfterWrite, "");
    return WriteRace::other;
  }
  disputes_[&unit].push_back(pending(touch, earlier, kWriteAfterWrite, "nobody reads the value"));
  now.is_disputed = 1;
  repeated_.erase(&unit);
  return WriteRace::other;
}

/// Whether a write of the value that the unit has is ordered before.
bool RaceChecker::ordered_with_equal(const Unit& unit, const Access& now) const {
  const auto found = unit.writer.is_repeated != 0 ? repeated_.find(&unit) : repeated_.end();
  if (found == repeated_.end()) return false;
  return std::ranges::any_of(found->second, [&](const Access& writer) { return ordered(writer, now); });
}

const ValueUses& RaceChecker::uses_of(int load) {
  const auto [known, is_new] = uses_.try_emplace(load);
  if (is_new) known->second = uses_of_load(*program_.kernel, load);
  return known->second;
}

void RaceChecker::judge_read_after_write(const Touch& touch, const Unit& unit) {
  const Access& earlier = unit.writer;
  if (are_strong(earlier, touch.now)) return;
  if (ordered_with_equal(unit, touch.now)) {
    return report(touch, earlier, kReadAfterWrite, "an equal value was written before");
  }
  const ValueUses* const uses =
      touch.now.is_asynchronous != 0 ? nullptr : &uses_of(touch.access.operation->instruction);
  if (uses == nullptr || !uses->is_only_stored) return report(touch, earlier, kReadAfterWrite, "");
  constexpr const char* kUnused = "the thread does not use the value";
  if (uses->stores.empty()) return report(touch, earlier, kReadAfterWrite, kUnused);
  const LaneMask users = uses->reaches_lanes ? ~LaneMask{0} : LaneMask{1} << touch.lane;
  now_->late_loads.push_back({touch.access.operation->instruction, touch.access.warp->index, users,
                              pending(touch, earlier, kReadAfterWrite, kUnused)});
}

/// Whether the reader's lane and the one of the touch, of one warp, have exchanged anything since.
bool RaceChecker::has_met_since(const Access& reader, const Touch& touch) const {
  const Met& met = now_->met[touch.access.warp->index];
  const LaneMask both = LaneMask{1} << (reader.thread % kLanes) | LaneMask{1} << touch.lane;
  return met.clock >= reader.clock && (met.lanes & both) == both;
}

/// Whether two lanes of a warp have read something by one execution of a load.
bool RaceChecker::have_loaded_together(const Access& one, const Access& other) const {
  if (one.block != other.block || one.thread / kLanes != other.thread / kLanes || one.clock != other.clock ||
      one.instruction != other.instruction || (one.is_asynchronous | other.is_asynchronous) != 0) {
    return false;
  }
  const std::vector<Loaded>& of_warp = loaded_[one.thread / kLanes];
  const Loaded& loaded = of_warp[one.instruction];
  return loaded.block == one.block && loaded.clock == one.clock && !loaded.again;
}

/// `unit` is as it was before the write.
void RaceChecker::judge_write_after_read(const Touch& touch, const Access& reader, const Unit& unit) {
  const Access& now = touch.now;
  if (are_strong(reader, now)) return;
  const int load = static_cast<int>(reader.instruction);
  const ValueUses* const uses = reader.is_asynchronous != 0 ? nullptr : &uses_of(load);
  constexpr const char* kUnused = "the other thread does not use the value";
  if (uses != nullptr && uses->is_only_stored) {
    if (uses->stores.empty()) return report(touch, reader, kWriteAfterRead, kUnused);
    // This is the only instruction that could use it, and the reader, a lane of this warp, takes no part.
    const int warp = touch.access.warp->index;
    const LaneMask lane = LaneMask{1} << (reader.thread % kLanes);
    const bool is_of_one_warp = reader.block == now.block && static_cast<int>(reader.thread / kLanes) == warp;
    const bool is_only_use = uses->stores == std::vector{touch.access.operation->instruction};
    if (is_of_one_warp && uses->reaches_lanes && has_met_since(reader, touch)) {
      return report(touch, reader, kWriteAfterRead, "the other thread had its value before, to give it to others");
    }
    if (is_of_one_warp && is_only_use && !uses->reaches_lanes && (touch.access.mask & lane) == 0) {
      now_->late_loads.push_back({load, warp, lane, pending(touch, reader, kWriteAfterRead, kUnused)});
      return;
    }
  }
  if (unit.first_reader.thread == now.thread && have_loaded_together(unit.first_reader, reader)) {
    return report(touch, reader, kWriteAfterRead, "one load of the warp had read it for both threads");
  }
  report(touch, reader, kWriteAfterRead, "");
}

/// Confirms the races of loads whose value these lanes now store.
void RaceChecker::store_late_values(const WarpAccess& access) {
  const int instruction = access.operation->instruction;
  std::erase_if(now_->late_loads, [&](const LateLoad& late) {
    if (late.warp != access.warp->index || (late.lanes & access.mask) == 0) return false;
    if (!std::ranges::binary_search(uses_of(late.load).stores, instruction)) return false;
    confirm(late.race);
    return true;
  });
}

}  // namespace convladder::simulated

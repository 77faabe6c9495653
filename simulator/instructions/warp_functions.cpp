// Instructions in which the lanes of a warp exchange values (PTX ISA 9.0, 9.7.9.5 shfl, 9.7.9.6 shfl.sync; 9.7.13:
// vote, vote.sync, match.sync, activemask, redux.sync, elect.sync).

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "simulator/instructions/arithmetic/float_modifiers.hpp"
#include "simulator/instructions/arithmetic/float_operations.hpp"
#include "simulator/instructions/arithmetic/lane_functions.hpp"
#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/instructions/warp_members.hpp"

namespace convladder::simulated {

void report_not_named(const WarpState& warp, const Operation& operation, LaneMask named, LaneMask lanes) {
  warp.block->fault(warp, operation, Checker::synchronization, kNotNamed, lanes, [&](int lane) {
    return warp.block->finding_at(
        warp, operation, lane, Checker::synchronization,
        fmt::format("the mask 0x{:08x} does not name {} threads that execute this", named, std::popcount(lanes)));
  });
}

void report_not_here(const WarpState& warp, const Operation& operation, LaneMask named, LaneMask lanes) {
  warp.block->fault(warp, operation, Checker::synchronization, kNotHere, lanes, [&](int lane) {
    return warp.block->finding_at(warp, operation, lane, Checker::synchronization,
                                  fmt::format("the mask 0x{:08x} names {} threads that do not execute this", named,
                                              std::popcount(named & warp.all() & ~lanes)));
  });
}

namespace {

// --- shfl -----------------------------------------------------------------------------------------------------------

enum class Direction { up, down, butterfly, index };

/// The lane that a lane reads from, by the ISA's pseudocode, and whether it is in the lane's segment.
struct Source {
  int lane = 0;
  bool in_range = false;
};
template <Direction kDirection>
Source source_of(int lane, std::uint32_t b, std::uint32_t c) {
  const auto distance = static_cast<int>(b & 31U);
  const auto segment = static_cast<int>((c >> 8) & 31U);
  const int first = lane & segment;
  const int last = first | (static_cast<int>(c & 31U) & ~segment);
  switch (kDirection) {
    case Direction::up:
      return {lane - distance, lane - distance >= last};
    case Direction::down:
      return {lane + distance, lane + distance <= last};
    case Direction::butterfly:
      return {lane ^ distance, (lane ^ distance) <= last};
    default:
      return {first | (distance & ~segment), (first | (distance & ~segment)) <= last};
  }
}

void report_no_source(const WarpState& warp, const Operation& operation, LaneMask lanes,
                      const std::array<int, kLanes>& sources) {
  if (warp.block->findings == nullptr) return;  // no hardware ends a kernel for this
  warp.block->fault(warp, operation, Checker::synchronization, kNoSource, lanes, [&](int lane) {
    return warp.block->finding_at(
        warp, operation, lane, Checker::synchronization,
        fmt::format("reads the value of lane {}, which does not take part", sources[static_cast<std::size_t>(lane)]));
  });
}

/// A lane that takes no part has no value to read. PTX leaves the reader's result open; GPUs give 0, which some of
/// NVIDIA's own programs rely on (reductions that shuffle with a mask of fewer lanes than the distance).
template <Direction kDirection, bool kHasMembers>
void shuffle(WarpState& warp, const Operation& operation) {
  const auto* const a = warp.read<std::uint32_t>(operation.operands[2]);
  const auto* const b = warp.read<std::uint32_t>(operation.operands[3]);
  const auto* const c = warp.read<std::uint32_t>(operation.operands[4]);
  std::array<std::uint32_t, kLanes> values{};
  std::array<int, kLanes> sources{};
  LaneMask in_range = 0;
  LaneMask without_source = 0;
  const auto exchange = [&](LaneMask members) {
    for (LaneMask left = members; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const Source source = source_of<kDirection>(lane, b[lane], c[lane]);
      sources[lane] = source.in_range ? source.lane : lane;
      in_range |= LaneMask{source.in_range} << lane;
      if (((members >> sources[lane]) & 1U) == 0) {
        without_source |= LaneMask{1} << lane;
        values[lane] = 0;
      } else {
        values[lane] = a[sources[lane]];
      }
    }
  };
  if constexpr (kHasMembers) {
    for_each_group(warp, operation, operation.operands[5], exchange);
  } else {
    exchange(warp.mask);
  }
  if (without_source != 0) report_no_source(warp, operation, without_source, sources);
  write_lanes(warp.write<std::uint32_t>(operation.operands[0]), warp.mask, [&](int lane) { return values[lane]; });
  write_predicate(warp.write<LaneMask>(operation.operands[1]), warp.mask, in_range);
}

template <bool kHasMembers>
Handler shuffle_of(std::string_view mode) {
  if (mode == "up") return &shuffle<Direction::up, kHasMembers>;
  if (mode == "down") return &shuffle<Direction::down, kHasMembers>;
  if (mode == "bfly") return &shuffle<Direction::butterfly, kHasMembers>;
  if (mode == "idx") return &shuffle<Direction::index, kHasMembers>;
  return nullptr;
}

/// Decodes "d" or "d|p": the slots of a value and of a predicate, which nobody reads where the text has none.
std::pair<Slot, Slot> value_and_predicate(InstructionDecoder& decoder, const ptx::Operand& operand) {
  if (operand.kind != ptx::OperandKind::pair) return {decoder.write(operand, 32), decoder.temporary(1)};
  return {decoder.write(operand.elements[0], 32), decoder.write(operand.elements[1], 1)};
}

bool decode_shuffle(InstructionDecoder& decoder, const std::vector<std::string_view>& parts) {
  const bool is_sync = parts.size() == 4 && parts[1] == "sync";
  if (parts[0] != "shfl" || parts.back() != "b32" || (!is_sync && parts.size() != 3)) return false;
  const Handler handler = is_sync ? shuffle_of<true>(parts[2]) : shuffle_of<false>(parts[1]);
  if (handler == nullptr) return false;
  decoder.expect_operands(is_sync ? 5 : 4);
  const auto& operands = decoder.instruction().operands;
  const Slot a = decoder.read(operands[1], 32);
  const Slot b = decoder.read(operands[2], 32);
  const Slot c = decoder.read(operands[3], 32);
  const Slot members = is_sync ? decoder.read(operands[4], 32) : a;
  const auto [value, predicate] = value_and_predicate(decoder, operands[0]);
  if (!is_sync) {
    decoder.emit(handler, {value, predicate, a, b, c, members});
  } else {
    decoder.emit_exchange(handler, {{value, 32, true}, {predicate, 1, true}, {a}, {b}, {c}, {members}}, 5);
  }
  return true;
}

// --- vote -----------------------------------------------------------------------------------------------------------

struct All {
  static LaneMask apply(LaneMask yes, LaneMask members) { return yes == members ? kAllLanes : 0; }
};
struct Any {
  static LaneMask apply(LaneMask yes, LaneMask /*members*/) { return yes != 0 ? kAllLanes : 0; }
};
struct Uniform {
  static LaneMask apply(LaneMask yes, LaneMask members) { return yes == 0 || yes == members ? kAllLanes : 0; }
};

template <typename Body>
void for_each_group_if(bool has_members, const WarpState& warp, const Operation& operation, Slot mask,
                       const Body& body) {
  if (has_members) {
    for_each_group(warp, operation, mask, body);
  } else {
    body(warp.mask);
  }
}

template <typename Vote, bool kHasMembers>
void vote(WarpState& warp, const Operation& operation) {
  const LaneMask votes = *warp.read<LaneMask>(operation.operands[1]);
  LaneMask result = 0;
  for_each_group_if(kHasMembers, warp, operation, operation.operands[2],
                    [&](LaneMask members) { result |= Vote::apply(votes & members, members) & members; });
  write_predicate(warp.write<LaneMask>(operation.operands[0]), warp.mask, result);
}

template <bool kHasMembers>
void ballot(WarpState& warp, const Operation& operation) {
  const LaneMask votes = *warp.read<LaneMask>(operation.operands[1]);
  auto* const destination = warp.write<LaneMask>(operation.operands[0]);
  for_each_group_if(kHasMembers, warp, operation, operation.operands[2], [&](LaneMask members) {
    write_lanes(destination, members, [&](int /*lane*/) { return votes & members; });
  });
}

template <bool kHasMembers>
Handler vote_of(std::string_view mode, std::string_view type) {
  if (mode == "ballot" && type == "b32") return &ballot<kHasMembers>;
  if (type != "pred") return nullptr;
  if (mode == "all") return &vote<All, kHasMembers>;
  if (mode == "any") return &vote<Any, kHasMembers>;
  if (mode == "uni") return &vote<Uniform, kHasMembers>;
  return nullptr;
}

bool decode_vote(InstructionDecoder& decoder, const std::vector<std::string_view>& parts) {
  // ptxas also accepts `vote.ballot.sync.b32`, which CUB writes.
  const bool is_sync = parts.size() == 4 && (parts[1] == "sync" || parts[2] == "sync");
  if (parts[0] != "vote" || (!is_sync && parts.size() != 3)) return false;
  const std::string_view mode = is_sync && parts[1] == "sync" ? parts[2] : parts[1];
  const Handler handler = is_sync ? vote_of<true>(mode, parts[3]) : vote_of<false>(mode, parts[2]);
  if (handler == nullptr) return false;
  decoder.expect_operands(is_sync ? 3 : 2);
  const auto& operands = decoder.instruction().operands;
  const Slot votes = decoder.read(operands[1], 1);
  const Slot members = is_sync ? decoder.read(operands[2], 32) : votes;
  const Slot result = decoder.write(operands[0], parts.back() == "pred" ? 1 : 32);
  if (!is_sync) {
    decoder.emit(handler, {result, votes, members});
  } else {
    decoder.emit_exchange(handler, {{result, parts.back() == "pred" ? 1 : 32, true}, {votes, 1}, {members}}, 2);
  }
  return true;
}

// --- match ----------------------------------------------------------------------------------------------------------

template <typename T>
LaneMask lanes_with(const T* values, T value, LaneMask members) {
  LaneMask same = 0;
  for (int lane = 0; lane < kLanes; ++lane) same |= LaneMask{values[lane] == value} << lane;
  return same & members;
}

template <typename T, bool kAll>
void match(WarpState& warp, const Operation& operation) {
  const T* const a = warp.read<T>(operation.operands[2]);
  std::array<LaneMask, kLanes> result{};
  LaneMask all_same = 0;
  for_each_group(warp, operation, operation.operands[3], [&](LaneMask members) {
    for (LaneMask left = members; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const LaneMask same = lanes_with(a, a[lane], members);
      if (same == members) all_same |= LaneMask{1} << lane;
      result[lane] = !kAll || same == members ? same : 0;
    }
  });
  write_lanes(warp.write<LaneMask>(operation.operands[0]), warp.mask, [&](int lane) { return result[lane]; });
  write_predicate(warp.write<LaneMask>(operation.operands[1]), warp.mask, all_same);
}

bool decode_match(InstructionDecoder& decoder, const std::vector<std::string_view>& parts) {
  if (parts.size() != 4 || parts[0] != "match" || parts[2] != "sync") return false;
  const bool all = parts[1] == "all";
  const bool wide = parts[3] == "b64";
  if ((!all && parts[1] != "any") || (!wide && parts[3] != "b32")) return false;
  decoder.expect_operands(3);
  const auto& operands = decoder.instruction().operands;
  if (!all && operands[0].kind == ptx::OperandKind::pair) decoder.fail("only match.all has a predicate");
  const Slot a = decoder.read(operands[1], wide ? 64 : 32);
  const Slot members = decoder.read(operands[2], 32);
  const auto [value, predicate] = value_and_predicate(decoder, operands[0]);
  const Handler of_64 = all ? &match<std::uint64_t, true> : &match<std::uint64_t, false>;
  const Handler of_32 = all ? &match<std::uint32_t, true> : &match<std::uint32_t, false>;
  decoder.emit_exchange(wide ? of_64 : of_32, {{value, 32, true}, {predicate, 1, true}, {a, wide ? 64 : 32}, {members}},
                        3);
  return true;
}

// --- redux, activemask, elect ---------------------------------------------------------------------------------------

struct Sum {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) { return a + b; }
};
template <typename T>
struct Smallest {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) {
    return to_slot<T>(std::min(from_slot<T>(a), from_slot<T>(b)));
  }
};
template <typename T>
struct Largest {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) {
    return to_slot<T>(std::max(from_slot<T>(a), from_slot<T>(b)));
  }
};
struct BitAnd {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) { return a & b; }
};
struct BitOr {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) { return a | b; }
};
struct BitXor {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) { return a ^ b; }
};

template <typename Function>
void reduce(WarpState& warp, const Operation& operation) {
  const auto* const a = warp.read<std::uint32_t>(operation.operands[1]);
  const auto value_of = [a](int lane) {
    if constexpr (requires { Function::prepared(a[lane]); }) return Function::prepared(a[lane]);
    return a[lane];
  };
  std::array<std::uint32_t, kLanes> result{};
  for_each_group(warp, operation, operation.operands[2], [&](LaneMask members) {
    std::uint32_t total = value_of(std::countr_zero(members));
    for (LaneMask left = members & (members - 1); left != 0; left &= left - 1) {
      total = Function::apply(total, value_of(std::countr_zero(left)));
    }
    for (LaneMask left = members; left != 0; left &= left - 1) result[std::countr_zero(left)] = total;
  });
  write_lanes(warp.write<std::uint32_t>(operation.operands[0]), warp.mask, [&](int lane) { return result[lane]; });
}

/// The minimum or maximum of floats; .NaN gives NaN if any number is NaN, .abs compares magnitudes.
template <bool kMaximum, bool kNan, bool kMagnitudes>
struct SingleExtremum {
  static std::uint32_t prepared(std::uint32_t bits) {
    const float value = canonical(std::bit_cast<float>(bits));
    return std::bit_cast<std::uint32_t>(kMagnitudes ? std::abs(value) : value);
  }
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) {
    using Exact = float_operations::Extremum<kMaximum, kNan, false>;
    return std::bit_cast<std::uint32_t>(Exact::apply(std::bit_cast<float>(a), std::bit_cast<float>(b)));
  }
};

constexpr std::pair<std::string_view, Handler> kReductions[] = {
    {"redux.sync.min.f32", &reduce<SingleExtremum<false, false, false>>},
    {"redux.sync.max.f32", &reduce<SingleExtremum<true, false, false>>},
    {"redux.sync.min.NaN.f32", &reduce<SingleExtremum<false, true, false>>},
    {"redux.sync.max.NaN.f32", &reduce<SingleExtremum<true, true, false>>},
    {"redux.sync.min.abs.f32", &reduce<SingleExtremum<false, false, true>>},
    {"redux.sync.max.abs.f32", &reduce<SingleExtremum<true, false, true>>},
    {"redux.sync.min.abs.NaN.f32", &reduce<SingleExtremum<false, true, true>>},
    {"redux.sync.max.abs.NaN.f32", &reduce<SingleExtremum<true, true, true>>},
    {"redux.sync.min.NaN.abs.f32", &reduce<SingleExtremum<false, true, true>>},
    {"redux.sync.max.NaN.abs.f32", &reduce<SingleExtremum<true, true, true>>},
    {"redux.sync.add.u32", &reduce<Sum>},
    {"redux.sync.add.s32", &reduce<Sum>},
    {"redux.sync.min.u32", &reduce<Smallest<std::uint32_t>>},
    {"redux.sync.min.s32", &reduce<Smallest<std::int32_t>>},
    {"redux.sync.max.u32", &reduce<Largest<std::uint32_t>>},
    {"redux.sync.max.s32", &reduce<Largest<std::int32_t>>},
    {"redux.sync.and.b32", &reduce<BitAnd>},
    {"redux.sync.or.b32", &reduce<BitOr>},
    {"redux.sync.xor.b32", &reduce<BitXor>},
};

void active_mask(WarpState& warp, const Operation& operation) {
  const LaneMask mask = warp.mask;
  write_lanes(warp.write<LaneMask>(operation.operands[0]), mask, [mask](int /*lane*/) { return mask; });
}

/// Elects a lane. The ISA leaves open which one leads: here it is the first.
void elect(WarpState& warp, const Operation& operation) {
  LaneMask leaders = 0;
  for_each_group(warp, operation, operation.operands[2], [&](LaneMask members) {
    const int leader = std::countr_zero(members);
    leaders |= LaneMask{1} << leader;
    write_lanes(warp.write<std::uint32_t>(operation.operands[0]), members,
                [leader](int /*lane*/) { return static_cast<std::uint32_t>(leader); });
  });
  write_predicate(warp.write<LaneMask>(operation.operands[1]), warp.mask, leaders);
}

bool decode_reduction(InstructionDecoder& decoder) {
  const std::string& opcode = decoder.instruction().opcode;
  const auto* const reduction = std::ranges::find(kReductions, opcode, &std::pair<std::string_view, Handler>::first);
  if (reduction == std::end(kReductions)) return false;
  decoder.expect_operands(3);
  const auto& operands = decoder.instruction().operands;
  const Slot a = decoder.read(operands[1], 32);
  const Slot members = decoder.read(operands[2], 32);
  decoder.emit_exchange(reduction->second, {{decoder.write(operands[0], 32), 32, true}, {a}, {members}}, 2);
  return true;
}

}  // namespace

bool decode_warp_function(InstructionDecoder& decoder) {
  const ptx::Instruction& instruction = decoder.instruction();
  const std::vector<std::string_view> parts = ptx::split_opcode(instruction.opcode);
  if (decode_shuffle(decoder, parts) || decode_vote(decoder, parts) || decode_match(decoder, parts)) return true;
  if (decode_reduction(decoder)) return true;
  if (instruction.opcode == "activemask.b32") {
    decoder.expect_operands(1);
    decoder.emit(active_mask, {decoder.write(instruction.operands[0], 32)});
    return true;
  }
  if (instruction.opcode == "elect.sync") {
    decoder.expect_operands(2);
    const Slot members = decoder.read(instruction.operands[1], 32);
    const auto [value, predicate] = value_and_predicate(decoder, instruction.operands[0]);
    decoder.emit_exchange(elect, {{value, 32, true}, {predicate, 1, true}, {members}}, 2);
    return true;
  }
  return false;
}

}  // namespace convladder::simulated

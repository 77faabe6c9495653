// Bits within integers: fields, masks, funnel shifts, permutations, searches (PTX ISA 9.0, 9.7.1, 9.7.7, 9.7.8).

#include <algorithm>
#include <array>
#include <bit>

#include "simulator/instructions/arithmetic/integer_types.hpp"
#include "simulator/instructions/arithmetic/lane_functions.hpp"

namespace convladder::simulated {
namespace {

/// Ones in all bits below `count`; all ones if the type has fewer.
template <typename T>
T low_bits(std::uint64_t count) {
  return count >= 8 * sizeof(T) ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << count) - 1);
}

template <typename T>
struct CountLeadingZeros {
  static std::uint32_t apply(T a) { return static_cast<std::uint32_t>(std::countl_zero(a)); }
};
template <typename T>
struct PopulationCount {
  static std::uint32_t apply(T a) { return static_cast<std::uint32_t>(std::popcount(a)); }
};
template <typename T>
struct ReverseBits {
  static T apply(T a) {
    T reversed = 0;
    for (unsigned bit = 0; bit < 8 * sizeof(T); ++bit) reversed |= ((a >> bit) & T{1}) << (8 * sizeof(T) - 1 - bit);
    return reversed;
  }
};

/// Positions and lengths of fields: the ISA takes their lower 8 bits, but GPUs do that only for numbers of 32 bits.
template <typename T>
std::uint64_t field_bound(std::uint32_t value) {
  return sizeof(T) == 4 ? value & 0xffU : value;
}

/// bfe: the field of `length` bits at `position`. Above the field, and where it reaches beyond the number, a signed
/// result has copies of the field's top bit.
template <typename T>
struct ExtractField {
  static T apply(T a, std::uint32_t b, std::uint32_t c) {
    using U = Unsigned<T>;
    constexpr std::uint64_t width = 8 * sizeof(T);
    const std::uint64_t position = field_bound<T>(b);
    const std::uint64_t length = field_bound<T>(c);
    if (length == 0) return 0;
    const auto bits = static_cast<U>(a);
    U field = position >= width ? U{0} : static_cast<U>(bits >> position);
    if constexpr (!std::is_signed_v<T>) return static_cast<T>(field & low_bits<U>(length));
    const std::uint64_t top = std::min(position + length - 1, width - 1);
    const std::uint64_t present = position >= width ? 0 : std::min(length, width - position);
    field &= low_bits<U>(present);
    return static_cast<T>(((bits >> top) & 1) != 0 ? field | static_cast<U>(~low_bits<U>(present)) : field);
  }
};

/// bfi: `into` with the low `length` bits of a at `position`.
template <typename T>
struct InsertField {
  static T apply(T a, T into, std::uint32_t c, std::uint32_t d) {
    const std::uint64_t position = field_bound<T>(c);
    const std::uint64_t length = field_bound<T>(d);
    if (position >= 8 * sizeof(T)) return into;
    const T mask = static_cast<T>(low_bits<T>(length) << position);
    return static_cast<T>((into & ~mask) | ((a << position) & mask));
  }
};

/// bfind: the highest bit that differs from the sign, or all ones. .shiftamt counts from the top instead.
template <typename T, bool kShiftAmount>
struct FindLeadingBit {
  static std::uint32_t apply(T a) {
    const auto bits = static_cast<Unsigned<T>>(a < 0 ? ~a : a);
    if (bits == 0) return 0xffffffffU;
    const int zeros = std::countl_zero(bits);
    return static_cast<std::uint32_t>(kShiftAmount ? zeros : static_cast<int>(8 * sizeof(T)) - 1 - zeros);
  }
};

/// fns: the position of the offset-th set bit at or above `base`, or below it for a negative offset; all ones if there
/// is none. PTX leaves a base beyond 31 undefined: here nothing is found.
struct FindNthSet {
  static std::uint32_t apply(std::uint32_t mask, std::uint32_t base, std::int32_t offset) {
    const auto is_set = [mask](std::int64_t at) { return at >= 0 && at < 32 && ((mask >> at) & 1U) != 0; };
    if (offset == 0) return is_set(base) ? base : 0xffffffffU;
    std::int64_t left = offset > 0 ? std::int64_t{offset} : -std::int64_t{offset};
    const int step = offset > 0 ? 1 : -1;
    for (std::int64_t at = base; at >= 0 && at < 32; at += step) {
      if (is_set(at) && --left == 0) return static_cast<std::uint32_t>(at);
    }
    return 0xffffffffU;
  }
};

template <typename T>
struct LogicalNot {
  static T apply(T a) { return a == 0 ? T{1} : T{0}; }
};

/// bmsk: b ones from bit a on. .clamp limits amounts beyond 31, .wrap takes them modulo 32.
template <bool kClamp>
struct BitMask {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t from = kClamp ? std::min(a, 32U) : a & 31U;
    const std::uint32_t count = kClamp ? std::min(b, 32U) : b & 31U;
    if (from >= 32) return 0;
    return low_bits<std::uint32_t>(count) << from;
  }
};

/// szext: the low b bits of a, extended by their sign or by zeros.
template <typename T, bool kClamp>
struct ExtendSign {
  static T apply(T a, std::uint32_t b) {
    const std::uint32_t count = kClamp ? std::min(b, 32U) : b & 31U;
    if (count == 0) return 0;
    const auto up = static_cast<std::uint32_t>(a) << (32 - count);
    return static_cast<T>(static_cast<T>(up) >> (32 - count));  // copies the sign of a signed type
  }
};

/// lop3: any function of three bits, given by its table of eight results.
struct ThreeInputLogic {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t table) {
    std::uint32_t result = 0;
    for (std::uint32_t row = 0; row < 8; ++row) {
      const std::uint32_t used = 0 - ((table >> row) & 1U);
      result |= used & ((row & 4U) != 0 ? a : ~a) & ((row & 2U) != 0 ? b : ~b) & ((row & 1U) != 0 ? c : ~c);
    }
    return result;
  }
};

/// lop3.and, lop3.or: also a predicate, from whether any bit is set and a further predicate.
template <bool kAnd>
void three_input_logic_with_predicate(WarpState& warp, const Operation& operation) {
  const auto* const a = warp.read<std::uint32_t>(operation.operands[2]);
  const auto* const b = warp.read<std::uint32_t>(operation.operands[3]);
  const auto* const c = warp.read<std::uint32_t>(operation.operands[4]);
  const LaneMask further = *warp.read<LaneMask>(operation.operands[5]);
  const auto table = static_cast<std::uint32_t>(operation.offset);
  LaneMask any = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    any |= LaneMask{ThreeInputLogic::apply(a[lane], b[lane], c[lane], table) != 0} << lane;
  }
  write_lanes(warp.write<std::uint32_t>(operation.operands[0]), warp.mask,
              [=](int lane) { return ThreeInputLogic::apply(a[lane], b[lane], c[lane], table); });
  write_predicate(warp.write<LaneMask>(operation.operands[1]), warp.mask, kAnd ? any & further : any | further);
}

/// shf: the 64 bits b:a shifted; their upper half for .l, their lower half for .r.
template <bool kLeft, bool kClamp>
struct FunnelShift {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const std::uint32_t by = kClamp ? std::min(c, 32U) : c & 31U;
    const std::uint64_t both = (std::uint64_t{b} << 32) | a;
    return static_cast<std::uint32_t>(kLeft ? (by == 32 ? both : (both << by) >> 32) : both >> by);
  }
};

/// prmt: four of the eight bytes of b:a, each chosen by a nibble whose top bit asks for the byte's sign instead.
std::uint32_t permuted(std::uint32_t a, std::uint32_t b, std::uint32_t selectors) {
  const std::uint64_t both = (std::uint64_t{b} << 32) | a;
  std::uint32_t result = 0;
  for (int byte = 0; byte < 4; ++byte) {
    const std::uint32_t selector = (selectors >> (4 * byte)) & 0xfU;
    std::uint32_t chosen = static_cast<std::uint32_t>(both >> (8 * (selector & 7U))) & 0xffU;
    if ((selector & 8U) != 0) chosen = (chosen & 0x80U) != 0 ? 0xffU : 0U;
    result |= chosen << (8 * byte);
  }
  return result;
}
struct Permute {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) { return permuted(a, b, c & 0xffffU); }
};
/// The special modes: the low two bits of c choose one of four sets of selectors.
struct PermuteMode {
  explicit PermuteMode(std::int64_t mode) : selectors(kSelectors.at(static_cast<std::size_t>(mode))) {}
  std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    return permuted(a, b, selectors[c & 3U]);
  }

  static constexpr std::array<const char*, 6> kNames{"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
  static constexpr std::array<std::array<std::uint32_t, 4>, 6> kSelectors{{{0x3210, 0x4321, 0x5432, 0x6543},
                                                                           {0x5670, 0x6701, 0x7012, 0x0123},
                                                                           {0x0000, 0x1111, 0x2222, 0x3333},
                                                                           {0x3210, 0x3211, 0x3222, 0x3333},
                                                                           {0x0000, 0x1110, 0x2210, 0x3210},
                                                                           {0x1010, 0x3232, 0x1010, 0x3232}}};
  std::array<std::uint32_t, 4> selectors;
};

template <typename T>
void add_fields(FormTable& table) {
  const std::string type = fmt::format(".{}", type_suffix<T>());
  add_form<ExtractField<T>, T, T, std::uint32_t, std::uint32_t>(table, "bfe" + type);
  add_form<FindLeadingBit<T, false>, std::uint32_t, T>(table, "bfind" + type);
  add_form<FindLeadingBit<T, true>, std::uint32_t, T>(table, "bfind.shiftamt" + type);
}

template <typename T>
void add_bits(FormTable& table) {
  const std::string type = fmt::format(".b{}", 8 * sizeof(T));
  add_form<PopulationCount<T>, std::uint32_t, T>(table, "popc" + type);
  add_form<CountLeadingZeros<T>, std::uint32_t, T>(table, "clz" + type);
  add_form<ReverseBits<T>, T, T>(table, "brev" + type);
  add_form<InsertField<T>, T, T, T, std::uint32_t, std::uint32_t>(table, "bfi" + type);
}

template <bool kClamp>
void add_clamped_or_wrapped(FormTable& table, const std::string& mode) {
  using U = std::uint32_t;
  add_form<BitMask<kClamp>, U, U, U>(table, fmt::format("bmsk.{}.b32", mode));
  add_form<ExtendSign<U, kClamp>, U, U, U>(table, fmt::format("szext.{}.u32", mode));
  add_form<ExtendSign<std::int32_t, kClamp>, std::int32_t, std::int32_t, U>(table, fmt::format("szext.{}.s32", mode));
  add_form<FunnelShift<true, kClamp>, U, U, U, U>(table, fmt::format("shf.l.{}.b32", mode));
  add_form<FunnelShift<false, kClamp>, U, U, U, U>(table, fmt::format("shf.r.{}.b32", mode));
}

}  // namespace

void add_bit_field_forms(FormTable& table) {
  using U = std::uint32_t;
  add_fields<std::int32_t>(table);
  add_fields<std::uint32_t>(table);
  add_fields<std::int64_t>(table);
  add_fields<std::uint64_t>(table);
  add_bits<std::uint32_t>(table);
  add_bits<std::uint64_t>(table);
  add_clamped_or_wrapped<true>(table, "clamp");
  add_clamped_or_wrapped<false>(table, "wrap");
  add_form<FindNthSet, U, U, U, std::int32_t>(table, "fns.b32");
  add_form<LogicalNot<std::uint16_t>, std::uint16_t, std::uint16_t>(table, "cnot.b16");
  add_form<LogicalNot<std::uint32_t>, std::uint32_t, std::uint32_t>(table, "cnot.b32");
  add_form<LogicalNot<std::uint64_t>, std::uint64_t, std::uint64_t>(table, "cnot.b64");
  add_form<ThreeInputLogic, U, U, U, U, U>(table, "lop3.b32");
  using enum OperandUse;
  const auto with_predicate = {write_32_and_predicate, read_32, read_32, read_32, immediate, read_predicate};
  table.add("lop3.and.b32", with_predicate, &three_input_logic_with_predicate<true>);
  table.add("lop3.or.b32", with_predicate, &three_input_logic_with_predicate<false>);
  add_form<Permute, U, U, U, U>(table, "prmt.b32");
  for (std::size_t mode = 0; mode < PermuteMode::kNames.size(); ++mode) {
    add_parameterized_form<PermuteMode, U, U, U, U>(table, fmt::format("prmt.b32.{}", PermuteMode::kNames[mode]),
                                                    static_cast<std::int64_t>(mode));
  }
}

}  // namespace convladder::simulated

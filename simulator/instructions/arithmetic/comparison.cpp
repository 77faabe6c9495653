// Comparisons into predicates and numbers, and logic on predicates (PTX ISA 9.0, 9.7.6, 9.7.8).
//
// Only the comparison itself is compiled for each operator and type, and only once: the handling of its result is
// the same for all.

#include "simulator/instructions/arithmetic/comparison.hpp"

#include <array>

namespace convladder::simulated {
namespace {

void write_predicate(const WarpState& warp, Slot slot, LaneMask value) {
  auto* const destination = warp.write<LaneMask>(slot);
  *destination = (*destination & ~warp.mask) | (value & warp.mask);
}

template <typename Comparison, typename T, bool kFlush>
[[gnu::noinline]] LaneMask compare_apart(const WarpState& warp, Slot left, Slot right) {
  return compare<Comparison, T, kFlush>(warp, left, right);
}
template <typename Comparison, typename Element, bool kFlush>
[[gnu::noinline]] HalfMasks compare_halves_apart(const WarpState& warp, Slot left, Slot right) {
  return compare_halves<Comparison, Element, kFlush>(warp, left, right);
}

/// How a form uses the result of the comparison: its parameter.
struct ResultMode {
  Combination combination = Combination::alone;
  std::uint32_t truth = 0;  ///< the number that `set` gives for true; for pairs, that of one half

  std::int64_t parameter() const { return (static_cast<std::int64_t>(combination) << 32) | truth; }
  static ResultMode of(const Operation& operation) {
    return {static_cast<Combination>(operation.offset >> 32), static_cast<std::uint32_t>(operation.offset)};
  }
  LaneMask of_result(LaneMask result, const WarpState& warp, Slot further) const {
    return combination == Combination::alone ? result : combined(combination, result, *warp.read<LaneMask>(further));
  }
};

void store_predicates(const WarpState& warp, const Operation& operation, LaneMask first, LaneMask second) {
  const ResultMode mode = ResultMode::of(operation);
  const Slot further = operation.operands[4];
  const LaneMask p = mode.of_result(first, warp, further);  // read before q is written, which may be c
  const LaneMask q = mode.of_result(second, warp, further);
  write_predicate(warp, operation.operands[0], p);
  write_predicate(warp, operation.operands[1], q);
}

/// setp p|q, a, b: p is the comparison's result and q its opposite.
template <typename Comparison, typename T, bool kFlush>
void set_predicates(WarpState& warp, const Operation& operation) {
  const LaneMask result = compare<Comparison, T, kFlush>(warp, operation.operands[2], operation.operands[3]);
  write_predicate(warp, operation.operands[0], result);
  write_predicate(warp, operation.operands[1], ~result);
}

/// setp p|q, a, b, c: both results combined with c.
template <typename Comparison, typename T, bool kFlush>
void set_combined_predicates(WarpState& warp, const Operation& operation) {
  const LaneMask result = compare_apart<Comparison, T, kFlush>(warp, operation.operands[2], operation.operands[3]);
  store_predicates(warp, operation, result, ~result);
}

/// setp.f16x2 p|q, a, b[, c]: p is the result of the lower halves, q that of the upper ones.
template <typename Comparison, typename Element, bool kFlush>
void set_predicates_of_halves(WarpState& warp, const Operation& operation) {
  const HalfMasks result =
      compare_halves_apart<Comparison, Element, kFlush>(warp, operation.operands[2], operation.operands[3]);
  store_predicates(warp, operation, result.low, result.high);
}

void store_number(const WarpState& warp, const Operation& operation, LaneMask compared) {
  const ResultMode mode = ResultMode::of(operation);
  const LaneMask result = mode.of_result(compared, warp, operation.operands[3]);
  write_lanes(warp.write<std::uint32_t>(operation.operands[0]), warp.mask,
              [=](int lane) { return ((result >> lane) & 1U) != 0 ? mode.truth : 0U; });
}

/// set d, a, b[, c]: the form's number where the comparison holds, zero elsewhere.
template <typename Comparison, typename T, bool kFlush>
void set_number(WarpState& warp, const Operation& operation) {
  store_number(warp, operation,
               compare_apart<Comparison, T, kFlush>(warp, operation.operands[1], operation.operands[2]));
}

void store_halves(const WarpState& warp, const Operation& operation, HalfMasks compared) {
  const ResultMode mode = ResultMode::of(operation);
  const LaneMask low = mode.of_result(compared.low, warp, operation.operands[3]);
  const LaneMask high = mode.of_result(compared.high, warp, operation.operands[3]);
  write_lanes(warp.write<std::uint32_t>(operation.operands[0]), warp.mask, [=](int lane) {
    return (((low >> lane) & 1U) != 0 ? mode.truth : 0U) | (((high >> lane) & 1U) != 0 ? mode.truth << 16 : 0U);
  });
}

/// set for pairs: the form's number in each half where the comparison holds, zero elsewhere.
template <typename Comparison, typename Element, bool kFlush>
void set_halves(WarpState& warp, const Operation& operation) {
  store_halves(warp, operation,
               compare_halves_apart<Comparison, Element, kFlush>(warp, operation.operands[1], operation.operands[2]));
}

struct NamedCombination {
  Combination how;
  std::string_view suffix;
};
constexpr std::array<NamedCombination, 4> kCombinations{{{Combination::alone, ""},
                                                         {Combination::with_and, ".and"},
                                                         {Combination::with_or, ".or"},
                                                         {Combination::with_xor, ".xor"}}};

/// "setp.COMPARISON[.COMBINATION].TYPE" for every combination.
void add_predicate_forms(FormTable& table, std::string_view comparison, std::string_view type, OperandUse read,
                         Handler alone, Handler with_predicate, LockstepHandler lockstep = nullptr) {
  for (const auto& [how, suffix] : kCombinations) {
    std::vector<OperandUse> operands{OperandUse::write_predicate_pair, read, read};
    if (how != Combination::alone) operands.push_back(OperandUse::read_predicate);
    const bool is_alone = how == Combination::alone;
    table.add(fmt::format("setp.{}{}.{}", comparison, suffix, type), operands, is_alone ? alone : with_predicate,
              ResultMode{how}.parameter(), is_alone ? lockstep : nullptr);
  }
}

template <typename T, bool kFlush>
void add_predicates(FormTable& table, std::string_view type) {
  for_each_comparison<T>([&]<typename Comparison>(std::string_view name) {
    const auto add = [&](std::string_view source) {
      add_predicate_forms(table, name, source, read_use<T>(), &set_predicates<Comparison, T, kFlush>,
                          &set_combined_predicates<Comparison, T, kFlush>,
                          &for_each_in_lockstep<&set_predicates<Comparison, T, kFlush>>);
    };
    add(type);
    if (std::is_unsigned_v<T> && (name == "eq" || name == "ne")) add(bits_suffix<T>());
  });
}

template <typename Element, bool kFlush>
void add_half_predicates(FormTable& table) {
  const std::string type = fmt::format("{}{}", kFlush ? "ftz." : "", Element::kSuffix);
  add_predicates<Element, kFlush>(table, type);
  const std::string pair = fmt::format("{}x2", type);
  for_each_comparison<Element>([&]<typename Comparison>(std::string_view name) {
    const Handler handler = &set_predicates_of_halves<Comparison, Element, kFlush>;
    add_predicate_forms(table, name, pair, OperandUse::read_32, handler, handler);
  });
}

/// A type of results of `set`, and its number for true.
struct SetResult {
  const char* type;
  std::uint32_t truth;
};
constexpr SetResult kSetHalf{Half::kSuffix, Half::kOne};
constexpr SetResult kSetBfloat16{Bfloat16::kSuffix, Bfloat16::kOne};
const std::vector<SetResult> kSetNumbers{{"u32", 0xffffffffU}, {"s32", 0xffffffffU}, {"f32", 0x3f800000U}};
const std::vector<SetResult> kSetFromHalf{
    {"u16", 0xffffU}, {"s16", 0xffffU}, {"u32", 0xffffffffU}, {"s32", 0xffffffffU}};

/// "set.COMPARISON[.COMBINATION][.ftz].RESULT.SOURCE" for every combination and result.
void add_number_forms(FormTable& table, std::string_view comparison, std::string_view flush, std::string_view source,
                      OperandUse read, const std::vector<SetResult>& results, Handler handler) {
  for (const auto& [how, suffix] : kCombinations) {
    std::vector<OperandUse> operands{OperandUse::write_32, read, read};
    if (how != Combination::alone) operands.push_back(OperandUse::read_predicate);
    for (const SetResult& result : results) {
      table.add(fmt::format("set.{}{}{}.{}.{}", comparison, suffix, flush, result.type, source), operands, handler,
                ResultMode{how, result.truth}.parameter());
    }
  }
}

template <typename T, bool kFlush>
void add_numbers(FormTable& table, std::string_view type, const std::vector<SetResult>& results) {
  for_each_comparison<T>([&]<typename Comparison>(std::string_view name) {
    const auto add = [&](std::string_view source) {
      add_number_forms(table, name, kFlush ? ".ftz" : "", source, read_use<T>(), results,
                       &set_number<Comparison, T, kFlush>);
    };
    add(type);
    if (std::is_unsigned_v<T> && (name == "eq" || name == "ne")) add(bits_suffix<T>());
  });
}

template <typename Element, bool kFlush>
void add_half_numbers(FormTable& table) {
  const std::string type = fmt::format("{}x2", Element::kSuffix);
  const std::vector<SetResult> results{{"u32", 0xffffU}, {"s32", 0xffffU}, {type.c_str(), Element::kOne}};
  for_each_comparison<Element>([&]<typename Comparison>(std::string_view name) {
    add_number_forms(table, name, kFlush ? ".ftz" : "", type, OperandUse::read_32, results,
                     &set_halves<Comparison, Element, kFlush>);
  });
}

/// Adds the forms of `set`; those with bfloat16 results cannot flush.
void add_all_numbers(FormTable& table) {
  std::vector<SetResult> flushing = kSetNumbers;
  flushing.push_back(kSetHalf);
  std::vector<SetResult> all = flushing;
  all.push_back(kSetBfloat16);
  add_numbers<std::int16_t, false>(table, "s16", all);
  add_numbers<std::uint16_t, false>(table, "u16", all);
  add_numbers<std::int32_t, false>(table, "s32", all);
  add_numbers<std::uint32_t, false>(table, "u32", all);
  add_numbers<std::int64_t, false>(table, "s64", all);
  add_numbers<std::uint64_t, false>(table, "u64", all);
  add_numbers<float, false>(table, "f32", all);
  add_numbers<float, true>(table, "f32", flushing);
  add_numbers<double, false>(table, "f64", all);

  std::vector<SetResult> from_half = kSetFromHalf;
  from_half.push_back(kSetHalf);
  add_numbers<Half, true>(table, "f16", from_half);
  from_half.push_back(kSetBfloat16);
  add_numbers<Half, false>(table, "f16", from_half);
  std::vector<SetResult> from_bfloat16 = kSetFromHalf;
  from_bfloat16.push_back(kSetBfloat16);
  add_numbers<Bfloat16, false>(table, "bf16", from_bfloat16);
  add_half_numbers<Half, false>(table);
  add_half_numbers<Half, true>(table);
  add_half_numbers<Bfloat16, false>(table);
}

template <Combination kHow>
void combine_predicates(WarpState& warp, const Operation& operation) {
  const LaneMask a = *warp.read<LaneMask>(operation.operands[1]);
  const LaneMask b = *warp.read<LaneMask>(operation.operands[2]);
  write_predicate(warp, operation.operands[0], combined(kHow, a, b));
}

void invert_predicate(WarpState& warp, const Operation& operation) {
  write_predicate(warp, operation.operands[0], ~*warp.read<LaneMask>(operation.operands[1]));
}

void copy_predicate(WarpState& warp, const Operation& operation) {
  write_predicate(warp, operation.operands[0], *warp.read<LaneMask>(operation.operands[1]));
}

}  // namespace

void add_comparison_forms(FormTable& table) {
  add_predicates<std::int16_t, false>(table, "s16");
  add_predicates<std::uint16_t, false>(table, "u16");
  add_predicates<std::int32_t, false>(table, "s32");
  add_predicates<std::uint32_t, false>(table, "u32");
  add_predicates<std::int64_t, false>(table, "s64");
  add_predicates<std::uint64_t, false>(table, "u64");
  add_predicates<float, false>(table, "f32");
  add_predicates<float, true>(table, "ftz.f32");
  add_predicates<double, false>(table, "f64");
  add_half_predicates<Half, false>(table);
  add_half_predicates<Half, true>(table);
  add_half_predicates<Bfloat16, false>(table);
  add_all_numbers(table);

  const std::vector<OperandUse> two{OperandUse::write_predicate, OperandUse::read_predicate,
                                    OperandUse::read_predicate};
  table.add("and.pred", two, &combine_predicates<Combination::with_and>);
  table.add("or.pred", two, &combine_predicates<Combination::with_or>);
  table.add("xor.pred", two, &combine_predicates<Combination::with_xor>);
  table.add("not.pred", {OperandUse::write_predicate, OperandUse::read_predicate}, &invert_predicate);
  table.add("mov.pred", {OperandUse::write_predicate, OperandUse::read_predicate}, &copy_predicate);
}

}  // namespace convladder::simulated

// Comparisons into predicates, and logic on predicates (PTX ISA 9.0, 9.7.6, 9.7.8).

#include "devices/simulated/execution/comparison.hpp"

namespace convladder::simulated {
namespace {

void write_predicate(const WarpState& warp, Slot slot, LaneMask value) {
  auto* const destination = warp.write<LaneMask>(slot);
  *destination = (*destination & ~warp.mask) | (value & warp.mask);
}

/// What the forms with a further predicate share: inlined into each, the lanes' loops would be compiled four times
/// over.
template <typename Comparison, typename T, bool kFlush>
[[gnu::noinline]] LaneMask compare_apart(const WarpState& warp, const Operation& operation) {
  return compare<Comparison, T, kFlush>(warp, operation.operands[2], operation.operands[3]);
}
template <typename Comparison, typename Element, bool kFlush>
[[gnu::noinline]] HalfMasks compare_halves_apart(const WarpState& warp, const Operation& operation) {
  return compare_halves<Comparison, Element, kFlush>(warp, operation.operands[2], operation.operands[3]);
}

/// setp p|q, a, b[, c]: p is the comparison's result and q its opposite, both combined with c.
template <typename Comparison, typename T, bool kFlush, typename Combination>
void set_predicates(WarpState& warp, const Operation& operation) {
  LaneMask result = 0;
  LaneMask further = 0;
  if constexpr (std::is_same_v<Combination, Alone>) {
    result = compare<Comparison, T, kFlush>(warp, operation.operands[2], operation.operands[3]);
  } else {
    result = compare_apart<Comparison, T, kFlush>(warp, operation);
    further = *warp.read<LaneMask>(operation.operands[4]);
  }
  write_predicate(warp, operation.operands[0], Combination::apply(result, further));
  write_predicate(warp, operation.operands[1], Combination::apply(~result, further));
}

/// setp.f16x2 p|q, a, b[, c]: p is the result of the lower halves, q that of the upper ones.
template <typename Comparison, typename Element, bool kFlush, typename Combination>
void set_predicates_of_halves(WarpState& warp, const Operation& operation) {
  const HalfMasks result = compare_halves_apart<Comparison, Element, kFlush>(warp, operation);
  LaneMask further = 0;
  if constexpr (!std::is_same_v<Combination, Alone>) further = *warp.read<LaneMask>(operation.operands[4]);
  write_predicate(warp, operation.operands[0], Combination::apply(result.low, further));
  write_predicate(warp, operation.operands[1], Combination::apply(result.high, further));
}

void add_set_predicate(FormTable& table, const std::string& opcode, OperandUse read, bool combined, Handler handler) {
  std::vector<OperandUse> operands{OperandUse::write_predicate_pair, read, read};
  if (combined) operands.push_back(OperandUse::read_predicate);
  table.add(opcode, std::move(operands), handler);
}

/// Calls visit.operator()<Combination>() for each.
template <typename Visit>
void for_each_combination(const Visit& visit) {
  visit.template operator()<Alone>();
  visit.template operator()<AndPredicate>();
  visit.template operator()<OrPredicate>();
  visit.template operator()<XorPredicate>();
}

template <typename T, bool kFlush>
void add_comparisons(FormTable& table, const std::string& type) {
  for_each_comparison<T>([&]<typename Comparison>(const std::string& name) {
    for_each_combination([&]<typename Combination>() {
      constexpr bool kCombined = !std::is_same_v<Combination, Alone>;
      const Handler handler = &set_predicates<Comparison, T, kFlush, Combination>;
      const std::string start = fmt::format("setp.{}{}", name, Combination::kName);
      add_set_predicate(table, fmt::format("{}.{}", start, type), read_use<T>(), kCombined, handler);
      if (std::is_unsigned_v<T> && (name == "eq" || name == "ne")) {
        add_set_predicate(table, fmt::format("{}.b{}", start, 8 * sizeof(T)), read_use<T>(), kCombined, handler);
      }
    });
  });
}

template <typename Element, bool kFlush>
void add_half_comparisons(FormTable& table) {
  const std::string flush = kFlush ? "ftz." : "";
  add_comparisons<Element, kFlush>(table, flush + Element::kSuffix);
  for_each_comparison<Element>([&]<typename Comparison>(const std::string& name) {
    for_each_combination([&]<typename Combination>() {
      add_set_predicate(table, fmt::format("setp.{}{}.{}{}x2", name, Combination::kName, flush, Element::kSuffix),
                        OperandUse::read_32, !std::is_same_v<Combination, Alone>,
                        &set_predicates_of_halves<Comparison, Element, kFlush, Combination>);
    });
  });
}

template <typename Combination>
void combine_predicates(WarpState& warp, const Operation& operation) {
  const LaneMask a = *warp.read<LaneMask>(operation.operands[1]);
  const LaneMask b = *warp.read<LaneMask>(operation.operands[2]);
  write_predicate(warp, operation.operands[0], Combination::apply(a, b));
}

void invert_predicate(WarpState& warp, const Operation& operation) {
  write_predicate(warp, operation.operands[0], ~*warp.read<LaneMask>(operation.operands[1]));
}

void copy_predicate(WarpState& warp, const Operation& operation) {
  write_predicate(warp, operation.operands[0], *warp.read<LaneMask>(operation.operands[1]));
}

}  // namespace

void add_comparison_forms(FormTable& table) {
  add_comparisons<std::int16_t, false>(table, "s16");
  add_comparisons<std::uint16_t, false>(table, "u16");
  add_comparisons<std::int32_t, false>(table, "s32");
  add_comparisons<std::uint32_t, false>(table, "u32");
  add_comparisons<std::int64_t, false>(table, "s64");
  add_comparisons<std::uint64_t, false>(table, "u64");
  add_comparisons<float, false>(table, "f32");
  add_comparisons<float, true>(table, "ftz.f32");
  add_comparisons<double, false>(table, "f64");
  add_half_comparisons<Half, false>(table);
  add_half_comparisons<Half, true>(table);
  add_half_comparisons<Bfloat16, false>(table);

  const std::vector<OperandUse> two{OperandUse::write_predicate, OperandUse::read_predicate,
                                    OperandUse::read_predicate};
  table.add("and.pred", two, &combine_predicates<AndPredicate>);
  table.add("or.pred", two, &combine_predicates<OrPredicate>);
  table.add("xor.pred", two, &combine_predicates<XorPredicate>);
  table.add("not.pred", {OperandUse::write_predicate, OperandUse::read_predicate}, &invert_predicate);
  table.add("mov.pred", {OperandUse::write_predicate, OperandUse::read_predicate}, &copy_predicate);
}

}  // namespace convladder::simulated

// Comparisons into predicates, logic on predicates, and selection by them (PTX ISA 9.0, 9.7.6).

#include "devices/simulated/execution/lane_functions.hpp"

namespace convladder::simulated {
namespace {

// Ordered comparisons are false if an input is NaN, unordered ones ("…u") are true.
struct Equal {
  template <typename T>
  static bool apply(T a, T b) {
    return a == b;
  }
};
struct NotEqual {
  template <typename T>
  static bool apply(T a, T b) {
    return a < b || a > b;
  }
};
struct Less {
  template <typename T>
  static bool apply(T a, T b) {
    return a < b;
  }
};
struct LessOrEqual {
  template <typename T>
  static bool apply(T a, T b) {
    return a <= b;
  }
};
struct Greater {
  template <typename T>
  static bool apply(T a, T b) {
    return a > b;
  }
};
struct GreaterOrEqual {
  template <typename T>
  static bool apply(T a, T b) {
    return a >= b;
  }
};
struct BothNumbers {
  template <typename T>
  static bool apply(T a, T b) {
    return a == a && b == b;
  }
};
template <typename Opposite>
struct Unless {
  template <typename T>
  static bool apply(T a, T b) {
    return !Opposite::apply(a, b);
  }
};

/// How the result of a comparison is combined with a further predicate.
struct Alone {
  static constexpr bool kHasPredicate = false;
  static LaneMask apply(LaneMask result, LaneMask) { return result; }
};
struct AndPredicate {
  static constexpr bool kHasPredicate = true;
  static LaneMask apply(LaneMask result, LaneMask predicate) { return result & predicate; }
};
struct OrPredicate {
  static constexpr bool kHasPredicate = true;
  static LaneMask apply(LaneMask result, LaneMask predicate) { return result | predicate; }
};
struct XorPredicate {
  static constexpr bool kHasPredicate = true;
  static LaneMask apply(LaneMask result, LaneMask predicate) { return result ^ predicate; }
};

template <typename Comparison, typename T, typename Combination>
void set_predicate(WarpState& warp, const Operation& operation) {
  const auto* a = warp.read<SlotElement<T>>(operation.operands[1]);
  const auto* b = warp.read<SlotElement<T>>(operation.operands[2]);
  LaneMask result = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    result |= LaneMask{Comparison::apply(from_slot<T>(a[lane]), from_slot<T>(b[lane]))} << lane;
  }
  LaneMask further = 0;
  if constexpr (Combination::kHasPredicate) further = *warp.read<LaneMask>(operation.operands[3]);
  LaneMask* const destination = warp.write<LaneMask>(operation.operands[0]);
  *destination = (*destination & ~warp.mask) | (Combination::apply(result, further) & warp.mask);
}

template <typename Comparison, typename T, typename Combination>
void add_set_predicate(FormTable& table, const std::string& comparison, const std::string& combination,
                       const std::string& type) {
  std::vector<OperandUse> operands{OperandUse::write_predicate, read_use<T>(), read_use<T>()};
  if (Combination::kHasPredicate) operands.push_back(OperandUse::read_predicate);
  table.add(fmt::format("setp.{}{}.{}", comparison, combination, type), std::move(operands),
            &set_predicate<Comparison, T, Combination>);
}

template <typename Comparison, typename T>
void add_comparison(FormTable& table, const std::string& comparison, const std::string& type) {
  add_set_predicate<Comparison, T, Alone>(table, comparison, "", type);
  add_set_predicate<Comparison, T, AndPredicate>(table, comparison, ".and", type);
  add_set_predicate<Comparison, T, OrPredicate>(table, comparison, ".or", type);
  add_set_predicate<Comparison, T, XorPredicate>(table, comparison, ".xor", type);
}

template <typename T>
void add_comparisons(FormTable& table) {
  const std::string type = type_suffix<T>();
  add_comparison<Equal, T>(table, "eq", type);
  add_comparison<NotEqual, T>(table, "ne", type);
  add_comparison<Less, T>(table, "lt", type);
  add_comparison<LessOrEqual, T>(table, "le", type);
  add_comparison<Greater, T>(table, "gt", type);
  add_comparison<GreaterOrEqual, T>(table, "ge", type);
  if constexpr (std::is_unsigned_v<T>) {  // the same by other names
    add_comparison<Less, T>(table, "lo", type);
    add_comparison<LessOrEqual, T>(table, "ls", type);
    add_comparison<Greater, T>(table, "hi", type);
    add_comparison<GreaterOrEqual, T>(table, "hs", type);
    const std::string bits = fmt::format("b{}", 8 * sizeof(T));
    add_comparison<Equal, T>(table, "eq", bits);
    add_comparison<NotEqual, T>(table, "ne", bits);
  }
  if constexpr (std::is_floating_point_v<T>) {
    add_comparison<Unless<NotEqual>, T>(table, "equ", type);
    add_comparison<Unless<Equal>, T>(table, "neu", type);
    add_comparison<Unless<GreaterOrEqual>, T>(table, "ltu", type);
    add_comparison<Unless<Greater>, T>(table, "leu", type);
    add_comparison<Unless<LessOrEqual>, T>(table, "gtu", type);
    add_comparison<Unless<Less>, T>(table, "geu", type);
    add_comparison<BothNumbers, T>(table, "num", type);
    add_comparison<Unless<BothNumbers>, T>(table, "nan", type);
  }
}

template <typename T>
void select(WarpState& warp, const Operation& operation) {
  const T* a = warp.read<T>(operation.operands[1]);
  const T* b = warp.read<T>(operation.operands[2]);
  const LaneMask predicate = *warp.read<LaneMask>(operation.operands[3]);
  write_lanes(warp.write<T>(operation.operands[0]), warp.mask,
              [=](int lane) { return ((predicate >> lane) & 1U) != 0 ? a[lane] : b[lane]; });
}

template <typename Combination>
void combine_predicates(WarpState& warp, const Operation& operation) {
  const LaneMask a = *warp.read<LaneMask>(operation.operands[1]);
  const LaneMask b = *warp.read<LaneMask>(operation.operands[2]);
  LaneMask* const destination = warp.write<LaneMask>(operation.operands[0]);
  *destination = (*destination & ~warp.mask) | (Combination::apply(a, b) & warp.mask);
}

void invert_predicate(WarpState& warp, const Operation& operation) {
  const LaneMask a = *warp.read<LaneMask>(operation.operands[1]);
  LaneMask* const destination = warp.write<LaneMask>(operation.operands[0]);
  *destination = (*destination & ~warp.mask) | (~a & warp.mask);
}

void copy_predicate(WarpState& warp, const Operation& operation) {
  const LaneMask a = *warp.read<LaneMask>(operation.operands[1]);
  LaneMask* const destination = warp.write<LaneMask>(operation.operands[0]);
  *destination = (*destination & ~warp.mask) | (a & warp.mask);
}

}  // namespace

void add_comparison_forms(FormTable& table) {
  add_comparisons<std::int16_t>(table);
  add_comparisons<std::uint16_t>(table);
  add_comparisons<std::int32_t>(table);
  add_comparisons<std::uint32_t>(table);
  add_comparisons<std::int64_t>(table);
  add_comparisons<std::uint64_t>(table);
  add_comparisons<float>(table);
  add_comparisons<double>(table);

  for (const char* type : {"b16", "u16", "s16", "b32", "u32", "s32", "f32"}) {
    table.add(fmt::format("selp.{}", type),
              {OperandUse::write_32, OperandUse::read_32, OperandUse::read_32, OperandUse::read_predicate},
              &select<std::uint32_t>);
  }
  for (const char* type : {"b64", "u64", "s64", "f64"}) {
    table.add(fmt::format("selp.{}", type),
              {OperandUse::write_64, OperandUse::read_64, OperandUse::read_64, OperandUse::read_predicate},
              &select<std::uint64_t>);
  }
  const std::vector<OperandUse> two{OperandUse::write_predicate, OperandUse::read_predicate,
                                    OperandUse::read_predicate};
  table.add("and.pred", two, &combine_predicates<AndPredicate>);
  table.add("or.pred", two, &combine_predicates<OrPredicate>);
  table.add("xor.pred", two, &combine_predicates<XorPredicate>);
  table.add("not.pred", {OperandUse::write_predicate, OperandUse::read_predicate}, &invert_predicate);
  table.add("mov.pred", {OperandUse::write_predicate, OperandUse::read_predicate}, &copy_predicate);
}

}  // namespace convladder::simulated

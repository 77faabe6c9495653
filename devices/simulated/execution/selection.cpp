// Selection by a predicate or a sign, comparison results as numbers, tests of floating point numbers (PTX ISA 9.0,
// 9.7.3, 9.7.6: selp, slct, set, testp).

#include "devices/simulated/execution/comparison.hpp"

namespace convladder::simulated {
namespace {

template <typename T>
void select(WarpState& warp, const Operation& operation) {
  const T* a = warp.read<T>(operation.operands[1]);
  const T* b = warp.read<T>(operation.operands[2]);
  const LaneMask predicate = *warp.read<LaneMask>(operation.operands[3]);
  write_lanes(warp.write<T>(operation.operands[0]), warp.mask,
              [=](int lane) { return ((predicate >> lane) & 1U) != 0 ? a[lane] : b[lane]; });
}

/// slct d, a, b, c: a if c is at least zero, b otherwise, also if c is NaN.
template <typename T, typename Selector, bool kFlush>
struct SelectBySign {
  static T apply(T a, T b, Selector c) { return flushed<kFlush>(c) >= Selector{0} ? a : b; }
};

/// What a form of `set` gives for true, and how it combines the comparison with a predicate.
struct SetMode {
  enum Combination { alone, with_and, with_or, with_xor };
  std::uint32_t truth;
  Combination combination;

  std::int64_t parameter() const { return (std::int64_t{combination} << 32) | truth; }
  static SetMode from(std::int64_t parameter) {
    return {static_cast<std::uint32_t>(parameter), static_cast<Combination>(parameter >> 32)};
  }
  LaneMask combined(LaneMask result, const WarpState& warp, Slot further) const {
    switch (combination) {
      case with_and:
        return result & *warp.read<LaneMask>(further);
      case with_or:
        return result | *warp.read<LaneMask>(further);
      case with_xor:
        return result ^ *warp.read<LaneMask>(further);
      default:
        return result;
    }
  }
};

/// set d, a, b[, c]: `truth` where the comparison holds, zero elsewhere.
template <typename Comparison, typename T, bool kFlush>
void set_number(WarpState& warp, const Operation& operation) {
  const SetMode mode = SetMode::from(operation.offset);
  const LaneMask compared = compare<Comparison, T, kFlush>(warp, operation.operands[1], operation.operands[2]);
  const LaneMask result = mode.combined(compared, warp, operation.operands[3]);
  write_lanes(warp.write<std::uint32_t>(operation.operands[0]), warp.mask,
              [=](int lane) { return ((result >> lane) & 1U) != 0 ? mode.truth : 0U; });
}

/// The same for each half of a pair; `truth` is that of one half.
template <typename Comparison, typename Element, bool kFlush>
void set_halves(WarpState& warp, const Operation& operation) {
  const SetMode mode = SetMode::from(operation.offset);
  const HalfMasks compared =
      compare_halves<Comparison, Element, kFlush>(warp, operation.operands[1], operation.operands[2]);
  const LaneMask low = mode.combined(compared.low, warp, operation.operands[3]);
  const LaneMask high = mode.combined(compared.high, warp, operation.operands[3]);
  write_lanes(warp.write<std::uint32_t>(operation.operands[0]), warp.mask, [=](int lane) {
    return (((low >> lane) & 1U) != 0 ? mode.truth : 0U) | (((high >> lane) & 1U) != 0 ? mode.truth << 16 : 0U);
  });
}

/// A type that `set` can give, and its true.
struct SetResult {
  const char* type;
  std::uint32_t truth;
};
constexpr SetResult kSetHalf{Half::kSuffix, Half::kOne};
constexpr SetResult kSetBfloat16{Bfloat16::kSuffix, Bfloat16::kOne};
const std::vector<SetResult> kSetNumbers{{"u32", 0xffffffffU}, {"s32", 0xffffffffU}, {"f32", 0x3f800000U}};
const std::vector<SetResult> kSetFromHalf{
    {"u16", 0xffffU}, {"s16", 0xffffU}, {"u32", 0xffffffffU}, {"s32", 0xffffffffU}};

/// "set.operator[.combination][.ftz].result.source" for every combination and result.
void add_set_forms(FormTable& table, const std::string& comparison, const std::string& flush, const std::string& source,
                   OperandUse read, const std::vector<SetResult>& results, Handler handler) {
  for (const auto& [combination, suffix] : {std::pair{SetMode::alone, ""}, std::pair{SetMode::with_and, ".and"},
                                            std::pair{SetMode::with_or, ".or"}, std::pair{SetMode::with_xor, ".xor"}}) {
    std::vector<OperandUse> operands{OperandUse::write_32, read, read};
    if (combination != SetMode::alone) operands.push_back(OperandUse::read_predicate);
    for (const SetResult& result : results) {
      table.add(fmt::format("set.{}{}{}.{}.{}", comparison, suffix, flush, result.type, source), operands, handler,
                SetMode{result.truth, combination}.parameter());
    }
  }
}

template <typename T, bool kFlush>
void add_set(FormTable& table, const std::string& type, const std::vector<SetResult>& results) {
  for_each_comparison<T>([&]<typename Comparison>(const std::string& name) {
    const auto add = [&](const std::string& source) {
      add_set_forms(table, name, kFlush ? ".ftz" : "", source, read_use<T>(), results,
                    &set_number<Comparison, T, kFlush>);
    };
    add(type);
    if (std::is_unsigned_v<T> && (name == "eq" || name == "ne")) add(fmt::format("b{}", 8 * sizeof(T)));
  });
}

template <typename Element, bool kFlush>
void add_set_of_pairs(FormTable& table) {
  const std::string type = fmt::format("{}x2", Element::kSuffix);
  for_each_comparison<Element>([&]<typename Comparison>(const std::string& name) {
    add_set_forms(table, name, kFlush ? ".ftz" : "", type, OperandUse::read_32,
                  {{"u32", 0xffffU}, {"s32", 0xffffU}, {type.c_str(), Element::kOne}},
                  &set_halves<Comparison, Element, kFlush>);
  });
}

/// Bfloat16 results have no form that flushes.
void add_sets(FormTable& table) {
  std::vector<SetResult> flushing = kSetNumbers;
  flushing.push_back(kSetHalf);
  std::vector<SetResult> all = flushing;
  all.push_back(kSetBfloat16);
  add_set<std::int16_t, false>(table, "s16", all);
  add_set<std::uint16_t, false>(table, "u16", all);
  add_set<std::int32_t, false>(table, "s32", all);
  add_set<std::uint32_t, false>(table, "u32", all);
  add_set<std::int64_t, false>(table, "s64", all);
  add_set<std::uint64_t, false>(table, "u64", all);
  add_set<float, false>(table, "f32", all);
  add_set<float, true>(table, "f32", flushing);
  add_set<double, false>(table, "f64", all);

  std::vector<SetResult> from_half = kSetFromHalf;
  from_half.push_back(kSetHalf);
  add_set<Half, true>(table, "f16", from_half);
  from_half.push_back(kSetBfloat16);
  add_set<Half, false>(table, "f16", from_half);
  std::vector<SetResult> from_bfloat16 = kSetFromHalf;
  from_bfloat16.push_back(kSetBfloat16);
  add_set<Bfloat16, false>(table, "bf16", from_bfloat16);
  add_set_of_pairs<Half, false>(table);
  add_set_of_pairs<Half, true>(table);
  add_set_of_pairs<Bfloat16, false>(table);
}

struct IsFinite {
  template <typename T>
  static bool apply(T a) {
    return std::abs(a) <= std::numeric_limits<T>::max();
  }
};
struct IsInfinite {
  template <typename T>
  static bool apply(T a) {
    return std::abs(a) > std::numeric_limits<T>::max();
  }
};
struct IsNumber {
  template <typename T>
  static bool apply(T a) {
    return a == a;
  }
};
struct IsNotANumber {
  template <typename T>
  static bool apply(T a) {
    return a != a;
  }
};
/// Zeros count as normal numbers here, as PTX says.
struct IsNormal {
  template <typename T>
  static bool apply(T a) {
    return a == 0 || (IsFinite::apply(a) && std::abs(a) >= std::numeric_limits<T>::min());
  }
};
struct IsSubnormal {
  template <typename T>
  static bool apply(T a) {
    return a != 0 && std::abs(a) < std::numeric_limits<T>::min();
  }
};

template <typename Test, typename T>
void test_property(WarpState& warp, const Operation& operation) {
  const auto* a = warp.read<SlotElement<T>>(operation.operands[1]);
  LaneMask result = 0;
  for (int lane = 0; lane < kLanes; ++lane) result |= LaneMask{Test::apply(from_slot<T>(a[lane]))} << lane;
  auto* const destination = warp.write<LaneMask>(operation.operands[0]);
  *destination = (*destination & ~warp.mask) | (result & warp.mask);
}

template <typename T>
void add_tests(FormTable& table) {
  const std::vector<OperandUse> operands{OperandUse::write_predicate, read_use<T>()};
  const auto add = [&](const char* name, Handler handler) {
    table.add(fmt::format("testp.{}.{}", name, type_suffix<T>()), operands, handler);
  };
  add("finite", &test_property<IsFinite, T>);
  add("infinite", &test_property<IsInfinite, T>);
  add("number", &test_property<IsNumber, T>);
  add("notanumber", &test_property<IsNotANumber, T>);
  add("normal", &test_property<IsNormal, T>);
  add("subnormal", &test_property<IsSubnormal, T>);
}

template <typename T>
void add_selections(FormTable& table, const std::string& type) {
  table.add(fmt::format("selp.{}", type), {write_use<T>(), read_use<T>(), read_use<T>(), OperandUse::read_predicate},
            &select<T>);
}
template <typename T>
void add_selections_by_sign(FormTable& table, const std::string& type) {
  add_form<SelectBySign<T, std::int32_t, false>, T, T, T, std::int32_t>(table, fmt::format("slct.{}.s32", type));
  add_form<SelectBySign<T, float, false>, T, T, T, float>(table, fmt::format("slct.{}.f32", type));
  add_form<SelectBySign<T, float, true>, T, T, T, float>(table, fmt::format("slct.ftz.{}.f32", type));
}

}  // namespace

void add_selection_forms(FormTable& table) {
  for (const char* type : {"b16", "u16", "s16", "b32", "u32", "s32", "f32"}) {
    add_selections<std::uint32_t>(table, type);
    add_selections_by_sign<std::uint32_t>(table, type);
  }
  for (const char* type : {"b64", "u64", "s64", "f64"}) {
    add_selections<std::uint64_t>(table, type);
    add_selections_by_sign<std::uint64_t>(table, type);
  }
  add_sets(table);
  add_tests<float>(table);
  add_tests<double>(table);
}

}  // namespace convladder::simulated

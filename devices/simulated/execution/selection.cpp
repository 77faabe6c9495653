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
  bool as_float;
  Combination combination;

  std::int64_t parameter() const { return (as_float ? 4 : 0) + combination; }
  static SetMode from(std::int64_t parameter) {
    return {(parameter & 4) != 0, static_cast<Combination>(parameter & 3)};
  }
  LaneMask combined(LaneMask result, LaneMask further) const {
    switch (combination) {
      case with_and:
        return result & further;
      case with_or:
        return result | further;
      case with_xor:
        return result ^ further;
      default:
        return result;
    }
  }
};

/// set d, a, b[, c]: all ones or 1.0 where the comparison holds, zero elsewhere.
template <typename Comparison, typename T, bool kFlush>
void set_number(WarpState& warp, const Operation& operation) {
  const SetMode mode = SetMode::from(operation.offset);
  LaneMask result = compare<Comparison, T, kFlush>(warp, operation.operands[1], operation.operands[2]);
  if (mode.combination != SetMode::alone) {
    result = mode.combined(result, *warp.read<LaneMask>(operation.operands[3]));
  }
  const std::uint32_t truth = mode.as_float ? 0x3f800000U : 0xffffffffU;
  write_lanes(warp.write<std::uint32_t>(operation.operands[0]), warp.mask,
              [=](int lane) { return ((result >> lane) & 1U) != 0 ? truth : 0U; });
}

template <typename T, bool kFlush>
void add_set(FormTable& table, const std::string& type) {
  for_each_comparison<T>([&]<typename Comparison>(const std::string& name) {
    for (const auto& [combination, suffix] :
         {std::pair{SetMode::alone, ""}, std::pair{SetMode::with_and, ".and"}, std::pair{SetMode::with_or, ".or"},
          std::pair{SetMode::with_xor, ".xor"}}) {
      std::vector<OperandUse> operands{OperandUse::write_32, read_use<T>(), read_use<T>()};
      if (combination != SetMode::alone) operands.push_back(OperandUse::read_predicate);
      for (const char* result : {"u32", "s32", "f32"}) {
        const SetMode mode{result[0] == 'f', combination};
        const auto add = [&](const std::string& source) {
          table.add(fmt::format("set.{}{}{}.{}.{}", name, suffix, kFlush ? ".ftz" : "", result, source), operands,
                    &set_number<Comparison, T, kFlush>, mode.parameter());
        };
        add(type);
        if (std::is_unsigned_v<T> && (name == "eq" || name == "ne")) add(fmt::format("b{}", 8 * sizeof(T)));
      }
    }
  });
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
  LaneMask* const destination = warp.write<LaneMask>(operation.operands[0]);
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
  add_set<std::int16_t, false>(table, "s16");
  add_set<std::uint16_t, false>(table, "u16");
  add_set<std::int32_t, false>(table, "s32");
  add_set<std::uint32_t, false>(table, "u32");
  add_set<std::int64_t, false>(table, "s64");
  add_set<std::uint64_t, false>(table, "u64");
  add_set<float, false>(table, "f32");
  add_set<float, true>(table, "f32");
  add_set<double, false>(table, "f64");
  add_tests<float>(table);
  add_tests<double>(table);
}

}  // namespace convladder::simulated

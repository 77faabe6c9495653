// Selection by a predicate or a sign, tests of floating point numbers (PTX ISA 9.0, 9.7.3, 9.7.6: selp, slct, testp).

#include <cmath>
#include <limits>

#include "simulator/instructions/arithmetic/float_modifiers.hpp"
#include "simulator/instructions/arithmetic/lane_functions.hpp"

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
            &select<T>, 0, &for_each_in_lockstep<&select<T>>);
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
  add_tests<float>(table);
  add_tests<double>(table);
}

}  // namespace convladder::simulated

// Arithmetic rounded toward zero, down and up: .rz, .rm, .rp (PTX ISA 9.0, 9.7.3).
//
// The host rounds in hardware, in the mode that is set around each operation of a warp. This file is compiled with
// -frounding-math; the operands are loaded behind the call that sets the mode and the results stored before the one
// that sets it back, so that no calculation can leave the scope.

#include <cfenv>

#include "simulator/instructions/arithmetic/float_modifiers.hpp"
#include "simulator/instructions/arithmetic/float_operations.hpp"
#include "simulator/instructions/arithmetic/lane_functions.hpp"
#include "simulator/instructions/arithmetic/packed_float.hpp"

namespace convladder::simulated {
namespace {

using namespace float_operations;  // the names are those of the instructions

class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding) : before_(std::fegetround()) {
    std::fesetround(rounding == Rounding::toward_zero ? FE_TOWARDZERO
                    : rounding == Rounding::down      ? FE_DOWNWARD
                                                      : FE_UPWARD);
  }
  ~RoundingScope() { std::fesetround(before_); }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  int before_;
};

template <typename Lane>
void execute(WarpState& warp, const Operation& operation) {
  const RoundingScope scope(static_cast<Rounding>(operation.offset));
  Lane::execute(warp, operation);
}

template <typename Operation, typename T, bool kFlush, bool kSaturate, typename... Arguments>
void add_directed(FormTable& table, const std::string& name, Rounding rounding) {
  using Lane = LaneOperation<Rounded<Operation, T, kFlush, kSaturate>, T, Arguments...>;
  table.add(fmt::format("{}{}{}.{}", name, kFlush ? ".ftz" : "", kSaturate ? ".sat" : "", type_suffix<T>()),
            {write_use<T>(), read_use<Arguments>()...}, &execute<Lane>, static_cast<std::int64_t>(rounding));
}

/// The form of an operation with .ftz, which may differ in more than flushed inputs and result.
template <typename Operation>
struct WhenFlushed : std::type_identity<Operation> {};
template <>
struct WhenFlushed<Divide> : std::type_identity<FlushedBeforeRounding<Divide>> {};
template <>
struct WhenFlushed<Reciprocal> : std::type_identity<FlushedBeforeRounding<Reciprocal>> {};

/// Adds "name[.ftz][.sat].f32" and "name.f64".
template <typename Operation, bool kWithSaturation, typename... Arguments>
void add_modified(FormTable& table, const std::string& name, Rounding rounding) {
  using T = std::tuple_element_t<0, std::tuple<Arguments...>>;
  add_directed<Operation, T, false, false, Arguments...>(table, name, rounding);
  if constexpr (sizeof(T) == 4) {
    using Flushed = typename WhenFlushed<Operation>::type;
    add_directed<Flushed, T, true, false, Arguments...>(table, name, rounding);
    if constexpr (kWithSaturation) {
      add_directed<Operation, T, false, true, Arguments...>(table, name, rounding);
      add_directed<Flushed, T, true, true, Arguments...>(table, name, rounding);
    }
  }
}

template <typename T>
void add_arithmetic(FormTable& table, const std::string& suffix, Rounding rounding) {
  add_modified<Add, true, T, T>(table, "add" + suffix, rounding);
  add_modified<Subtract, true, T, T>(table, "sub" + suffix, rounding);
  add_modified<Multiply, true, T, T>(table, "mul" + suffix, rounding);
  add_modified<FusedMultiplyAdd, true, T, T, T>(table, "fma" + suffix, rounding);
  add_modified<FusedMultiplyAdd, true, T, T, T>(table, "mad" + suffix, rounding);
  add_modified<Divide, false, T, T>(table, "div" + suffix, rounding);
  add_modified<Reciprocal, false, T>(table, "rcp" + suffix, rounding);
  add_modified<SquareRoot, false, T>(table, "sqrt" + suffix, rounding);
  // .ftz changes nothing here: ptxas makes the same code of both.
  if constexpr (sizeof(T) == 8) {
    add_directed<Reciprocal, T, false, false, T>(table, fmt::format("rcp{}.ftz", suffix), rounding);
  }
}

/// Adds "name[.ftz].f32x2".
template <typename Operation, typename... Pairs>
void add_pairs(FormTable& table, const std::string& name, Rounding rounding) {
  const auto add = [&]<bool kFlush>(const char* flush) {
    using Lane = LaneOperation<OnSinglePairs<Rounded<Operation, float, kFlush, false>>, SinglePair, Pairs...>;
    table.add(fmt::format("{}{}.f32x2", name, flush), {OperandUse::write_64, read_use<Pairs>()...}, &execute<Lane>,
              static_cast<std::int64_t>(rounding));
  };
  add.template operator()<false>("");
  add.template operator()<true>(".ftz");
}

/// Adds "name[.sat].f32.f16" and "name[.sat].f32.bf16".
template <typename Operation, typename... Arguments>
void add_mixed(FormTable& table, const std::string& name, const char* element, Rounding rounding) {
  const auto add = [&]<bool kSaturate>(const char* saturation) {
    using Lane = LaneOperation<OnWidened<Rounded<Operation, float, false, kSaturate>>, float, Arguments...>;
    table.add(fmt::format("{}{}.f32.{}", name, saturation, element), {OperandUse::write_32, read_use<Arguments>()...},
              &execute<Lane>, static_cast<std::int64_t>(rounding));
  };
  add.template operator()<false>("");
  add.template operator()<true>(".sat");
}

template <typename Element>
void add_mixed_arithmetic(FormTable& table, const std::string& suffix, Rounding rounding) {
  add_mixed<Add, Element, float>(table, "add" + suffix, Element::kSuffix, rounding);
  add_mixed<Subtract, Element, float>(table, "sub" + suffix, Element::kSuffix, rounding);
  add_mixed<FusedMultiplyAdd, Element, Element, float>(table, "fma" + suffix, Element::kSuffix, rounding);
}

void add_pair_arithmetic(FormTable& table, const std::string& suffix, Rounding rounding) {
  using P = SinglePair;
  add_pairs<Add, P, P>(table, "add" + suffix, rounding);
  add_pairs<Subtract, P, P>(table, "sub" + suffix, rounding);
  add_pairs<Multiply, P, P>(table, "mul" + suffix, rounding);
  add_pairs<FusedMultiplyAdd, P, P, P>(table, "fma" + suffix, rounding);
}

}  // namespace

void add_directed_rounding_forms(FormTable& table) {
  for (const auto& [suffix, rounding] :
       {std::pair{".rz", Rounding::toward_zero}, std::pair{".rm", Rounding::down}, std::pair{".rp", Rounding::up}}) {
    add_arithmetic<float>(table, suffix, rounding);
    add_arithmetic<double>(table, suffix, rounding);
    add_pair_arithmetic(table, suffix, rounding);
    add_mixed_arithmetic<Half>(table, suffix, rounding);
    add_mixed_arithmetic<Bfloat16>(table, suffix, rounding);
  }
}

}  // namespace convladder::simulated

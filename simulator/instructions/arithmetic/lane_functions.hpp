// Turns a function on one lane's values into a handler for a warp.
#pragma once

#include <fmt/format.h>

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "simulator/instructions/forms.hpp"
#include "support/half.hpp"

namespace convladder::simulated {

/// How a value of type T is stored in its slot: uint32_t for up to 32 bits (smaller ones zero-extended), uint64_t for
/// 64.
template <typename T>
using SlotElement = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <typename T>
inline T from_slot(SlotElement<T> element) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<T>(element);
  } else if constexpr (std::is_class_v<T>) {  // Half, Bfloat16 and their pairs
    return T{static_cast<typename T::Bits>(element)};
  } else {
    return static_cast<T>(element);
  }
}

template <typename T>
inline SlotElement<T> to_slot(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<SlotElement<T>>(value);
  } else if constexpr (std::is_class_v<T>) {
    return value.bits;
  } else {
    return static_cast<SlotElement<T>>(static_cast<std::make_unsigned_t<T>>(value));
  }
}

template <typename T>
constexpr OperandUse write_use() {
  return sizeof(T) == 8 ? OperandUse::write_64 : OperandUse::write_32;
}
template <typename T>
constexpr OperandUse read_use() {
  return sizeof(T) == 8 ? OperandUse::read_64 : OperandUse::read_32;
}

/// d = Function::apply(a, …) for every lane; `Result` and `Arguments` are the lane's types.
template <typename Function, typename Result, typename... Arguments>
struct LaneOperation {
  static void execute(WarpState& warp, const Operation& operation) {
    run(warp, operation, std::index_sequence_for<Arguments...>{});
  }

  static void execute_in_lockstep(const WarpsInLockstep& group, const Operation& operation) {
    run_in_lockstep(group, operation, std::index_sequence_for<Arguments...>{});
  }

  template <std::size_t... Index>
  static void run(WarpState& warp, const Operation& operation, std::index_sequence<Index...> /*indices*/) {
    const auto sources = std::tuple(warp.read<SlotElement<Arguments>>(operation.operands[1 + Index])...);
    write(warp.write<SlotElement<Result>>(operation.operands[0]), warp.mask, std::get<Index>(sources)...);
  }

  template <std::size_t... Index>
  static void run_in_lockstep(const WarpsInLockstep& group, const Operation& operation,
                              std::index_sequence<Index...> /*indices*/) {
    const OperandInLockstep<SlotElement<Result>> destination(group, operation.operands[0]);
    const std::tuple<OperandInLockstep<const SlotElement<Arguments>>...> sources(
        OperandInLockstep<const SlotElement<Arguments>>(group, operation.operands[1 + Index])...);
    const auto count = static_cast<std::size_t>(group.count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::ptrdiff_t apart = group.apart[i];
      write(destination.of(apart), group.active[i], std::get<Index>(sources).of(apart)...);
    }
  }

  [[gnu::always_inline]] static void write(SlotElement<Result>* destination, LaneMask mask,
                                           const SlotElement<Arguments>*... sources) {
    write_lanes(destination, mask,
                [=](int lane) { return to_slot<Result>(Function::apply(from_slot<Arguments>(sources[lane])...)); });
  }
};

/// d = function.apply(a, …) for every lane, with a function object made from the form's parameter: a rounding, a mode.
template <typename Function, typename Result, typename... Arguments>
struct ParameterizedLaneOperation {
  static void execute(WarpState& warp, const Operation& operation) {
    run(warp, operation, std::index_sequence_for<Arguments...>{});
  }

  template <std::size_t... Index>
  static void run(WarpState& warp, const Operation& operation, std::index_sequence<Index...> /*indices*/) {
    const Function function(operation.offset);
    const auto sources = std::tuple(warp.read<SlotElement<Arguments>>(operation.operands[1 + Index])...);
    write_lanes(warp.write<SlotElement<Result>>(operation.operands[0]), warp.mask, [&](int lane) {
      return to_slot<Result>(function.apply(from_slot<Arguments>(std::get<Index>(sources)[lane])...));
    });
  }
};

template <typename Function, typename Result, typename... Arguments>
void add_parameterized_form(FormTable& table, const std::string& opcode, std::int64_t parameter) {
  table.add(opcode, {write_use<Result>(), read_use<Arguments>()...},
            &ParameterizedLaneOperation<Function, Result, Arguments...>::execute, parameter);
}

template <typename Function, typename Result, typename... Arguments>
void add_form(FormTable& table, const std::string& opcode) {
  table.add(opcode, {write_use<Result>(), read_use<Arguments>()...},
            &LaneOperation<Function, Result, Arguments...>::execute, 0,
            &LaneOperation<Function, Result, Arguments...>::execute_in_lockstep);
}

/// The suffix of a type in an opcode: "s32".
template <typename T>
constexpr std::string_view type_suffix() {
  constexpr auto of_width = [](std::string_view in_8, std::string_view in_16, std::string_view in_32,
                               std::string_view in_64) {
    return sizeof(T) == 1 ? in_8 : sizeof(T) == 2 ? in_16 : sizeof(T) == 4 ? in_32 : in_64;
  };
  if constexpr (std::is_floating_point_v<T>) {
    return of_width("", "", "f32", "f64");
  } else if constexpr (std::is_signed_v<T>) {
    return of_width("s8", "s16", "s32", "s64");
  } else {
    return of_width("u8", "u16", "u32", "u64");
  }
}
/// "b32", where an opcode has no type but a width.
template <typename T>
constexpr std::string_view bits_suffix() {
  return sizeof(T) == 2 ? "b16" : sizeof(T) == 4 ? "b32" : "b64";
}

}  // namespace convladder::simulated

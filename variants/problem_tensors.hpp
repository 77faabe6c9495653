// The tensors of a problem: their properties, and where they lie.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "support/element_type.hpp"

namespace convladder {

/// A tensor of a problem: dense, with neighbours in the last dimension next to each other.
struct ProblemTensor {
  std::string_view name;      ///< "weights"; no other tensor of the problem has it
  std::int64_t elements = 0;  ///< of one item, or of a constant: 1 to 2^31 - 1
  ElementType type = ElementType::f32;
  bool stays_as_filled = false;  ///< for given tensors: no element is replaced between calls, as in a permutation
  bool may_move = false;   ///< for given tensors: elements mean the same at any address, and calls find them at others
  bool any_order = false;  ///< for results: the exact values, in whatever order

  std::size_t bytes() const { return static_cast<std::size_t>(elements) * element_bytes(type); }
};

/// Where a tensor lies, with its items one behind the other. Null if only a launch is planned.
struct PlacedTensor {
  ProblemTensor tensor;
  void* address = nullptr;

  /// Checks the element type: throws std::logic_error if `T` does not stand for it.
  template <typename T>
  T* as() const {
    if (element_type_for<T>() != tensor.type) throw_other_type(element_type_for<T>());
    return static_cast<T*>(address);
  }

 private:
  [[noreturn]] void throw_other_type(std::optional<ElementType> asked) const;
};

/// The tensors of a call, by role and in the problem's order. By default the accessors mean a role's first tensor and
/// float32; floats of 16 bits are `Half` and `Bfloat16` (support/half.hpp). The accessors throw std::logic_error for
/// another type and std::out_of_range for a tensor that is not there.
struct ProblemTensors {
  std::vector<PlacedTensor> inputs;     ///< one set for each item; only read
  std::vector<PlacedTensor> constants;  ///< shared by all items; only read
  std::vector<PlacedTensor> outputs;    ///< one set for each item; every element is written
  std::vector<PlacedTensor> in_outs;    ///< one set for each item; each call finds the given values and leaves results

  template <typename T = float>
  const T* input(std::size_t which = 0) const {
    return inputs.at(which).as<T>();
  }
  template <typename T = float>
  const T* constant(std::size_t which = 0) const {
    return constants.at(which).as<T>();
  }
  template <typename T = float>
  T* output(std::size_t which = 0) const {
    return outputs.at(which).as<T>();
  }
  template <typename T = float>
  T* in_out(std::size_t which = 0) const {
    return in_outs.at(which).as<T>();
  }
};

}  // namespace convladder

// A problem's tensors with their values.
#pragma once

#include <span>
#include <vector>

#include "variants/problem.hpp"

namespace convladder {

/// A tensor with its values: of all items, one after the other, or of a constant.
struct TensorData {
  ProblemTensor tensor;
  std::span<const std::byte> bytes;

  /// Throws std::logic_error if `T` does not stand for the tensor's element type.
  template <typename T = float>
  std::span<const T> values() const {
    return {placed().as<T>(), bytes.size() / sizeof(T)};
  }
  /// The tensor's address, only to be read.
  PlacedTensor placed() const { return {tensor, const_cast<std::byte*>(bytes.data())}; }
};

/// The data of one size on which a case computes.
struct ProblemData {
  ProblemSize shape;
  std::vector<TensorData> given;      ///< in the order of Problem::given
  std::vector<TensorData> constants;  ///< in the order of Problem::constants

  /// The input of a problem with one float32 input, and the constant of one with one.
  std::span<const float> input() const { return given.at(0).values(); }
  std::span<const float> weights() const { return constants.at(0).values(); }
  std::vector<PlacedTensor> placed_constants() const {
    std::vector<PlacedTensor> placed;
    for (const TensorData& one : constants) placed.push_back(one.placed());
    return placed;
  }
};

}  // namespace convladder

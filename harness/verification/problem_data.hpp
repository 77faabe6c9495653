// A problem's tensors, filled.
#pragma once

#include <span>
#include <vector>

#include "variants/convolution/problem.hpp"

namespace convladder {

/// What a case computes on: of a size, the input of all items, one behind the other, and what they share.
struct ProblemData {
  ProblemSize shape;
  std::span<const float> input;
  std::vector<std::span<const float>> constants;  ///< in the order of Problem::constants

  std::vector<const float*> constant_addresses() const {
    std::vector<const float*> addresses;
    for (const std::span<const float> constant : constants) addresses.push_back(constant.data());
    return addresses;
  }
};

/// Those of a convolution.
struct ConvProblem {
  ConvShape shape;
  std::span<const float> input;    ///< NCHW
  std::span<const float> weights;  ///< OIHW
};

inline ConvProblem conv_problem(const ProblemData& data) {
  return {conv_shape(data.shape), data.input, data.constants.at(0)};
}

}  // namespace convladder

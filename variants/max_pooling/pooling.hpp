// The sizes of a max pooling as its variants know them.
#pragma once

#include "variants/activation_shape.hpp"
#include "variants/problem_size.hpp"

namespace convladder {

/// Windows of size x size, `stride` apart, none cut off.
struct Pooling {
  ActivationShape input;  ///< shape of one image
  ActivationShape output;
  int size = 1;
  int stride = 1;
};

inline Pooling pooling_of(const ProblemSize& problem_size) {
  const std::vector<int>& v = problem_size.values;
  Pooling pooling{{v.at(0), v.at(1), v.at(2)}, {}, v.at(3), v.at(4)};
  pooling.output = {pooling.input.channels, (pooling.input.height - pooling.size) / pooling.stride + 1,
                    (pooling.input.width - pooling.size) / pooling.stride + 1};
  return pooling;
}

}  // namespace convladder

// Random tensors for convolutions, the same on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "support/seeded_random.hpp"
#include "variants/convolution/conv_shape.hpp"

namespace convladder {

struct ConvTestData {
  std::vector<float> input;    ///< NCHW
  std::vector<float> weights;  ///< OIHW
};

/// Uniform in -1..1 with 24 random bits.
inline ConvTestData random_data(const ConvShape& shape, std::uint64_t seed) {
  ConvTestData data{std::vector<float>(static_cast<std::size_t>(shape.input_elements())),
                    std::vector<float>(static_cast<std::size_t>(shape.weight_elements()))};
  SeededRandom random(seed, 0);
  for (std::vector<float>* values : {&data.input, &data.weights}) {
    for (float& value : *values) value = static_cast<float>(random.between(-(1 << 24), 1 << 24)) * 0x1p-24F;
  }
  return data;
}

/// Whole numbers from -8 to 8: every sum of fewer than 2^18 products is exact in float32, in any order.
inline ConvTestData integer_data(const ConvShape& shape, std::uint64_t seed) {
  ConvTestData data = random_data(shape, seed);
  SeededRandom random(seed, 1);
  for (std::vector<float>* values : {&data.input, &data.weights}) {
    for (float& value : *values) value = static_cast<float>(random.between(-8, 8));
  }
  return data;
}

}  // namespace convladder

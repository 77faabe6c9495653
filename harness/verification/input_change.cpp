#include "harness/verification/input_change.hpp"

#include <algorithm>
#include <cmath>

#include "datasets/seeded_random.hpp"

namespace convladder {

std::int64_t InputChange::poked_element(std::int64_t call, std::int64_t image_elements) const {
  return static_cast<std::int64_t>(SeededRandom(pokes, static_cast<std::uint64_t>(call)).next() %
                                   static_cast<std::uint64_t>(image_elements));
}

float InputChange::poked_value(std::int64_t call, int image) const {
  const std::uint64_t bits =
      SeededRandom(pokes + static_cast<std::uint64_t>(call), static_cast<std::uint64_t>(image) + 1).next();
  float size = poke_size * (0.5F + static_cast<float>(bits >> 42U) * 0x1p-23F);
  if (whole) size = std::ceil(size);
  return (bits & 1U) != 0 ? size : -size;
}

void write_changed_image(float* to, const InputChange& change, const ConvShape& shape, std::span<const float> input,
                         int image) {
  const std::int64_t elements = shape.input_elements_per_image();
  const float* const from = input.data() + change.source(image, shape.batch) * elements;
#pragma omp simd
  for (std::int64_t i = 0; i < elements; ++i) to[i] = change.factor * from[i];
}

}  // namespace convladder

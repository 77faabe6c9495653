#include "harness/verification/input_change.hpp"

#include <algorithm>
#include <cmath>

#include "support/seeded_random.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {

InputLayout::InputLayout(const ProblemSize& size) {
  if (is_convolution(size)) {
    *this = InputLayout(conv_shape(size));
    return;
  }
  batch = size.batch;
  width = static_cast<int>(size.input_elements_per_item());
}

InputLayout::InputLayout(const ConvShape& shape)
    : batch(shape.batch), channels(shape.in_channels), height(shape.height), width(shape.width), window(shape.kernel) {}

PokedElements InputChange::poked(std::int64_t call, const InputLayout& shape) const {
  SeededRandom random(pokes, static_cast<std::uint64_t>(call));
  const int whole_image = std::max(shape.height, shape.width);
  const bool is_looked_at = std::ranges::find(looked_at, call) != looked_at.end();
  PokedElements poked{
      .channel = random.between(0, shape.channels - 1),
      .step = everywhere && !is_looked_at && random.chance(50) ? std::max(shape.window, 2) : whole_image};
  poked.first_row = random.between(0, std::min(poked.step, shape.height) - 1);
  poked.first_column = random.between(0, std::min(poked.step, shape.width) - 1);
  return poked;
}

float InputChange::poked_value(std::int64_t call, int image) const {
  const std::uint64_t bits =
      SeededRandom(pokes + static_cast<std::uint64_t>(call), static_cast<std::uint64_t>(image) + 1).next();
  float size = poke_size * (0.5F + static_cast<float>(bits >> 42U) * 0x1p-23F);
  if (whole) size = std::ceil(size);
  return (bits & 1U) != 0 ? size : -size;
}

void write_changed_image(float* to, const InputChange& change, const InputLayout& shape, std::span<const float> input,
                         int image) {
  const std::int64_t elements = shape.elements_per_image();
  const float* const from = input.data() + change.source(image, shape.batch) * elements;
#pragma omp simd
  for (std::int64_t i = 0; i < elements; ++i) to[i] = change.factor * from[i];
}

void poke_image(float* to, const InputChange& change, const InputLayout& shape, int image, std::int64_t call) {
  const float value = change.poked_value(call, image);
  change.poked(call, shape).for_each(shape, [&](int, int, std::int64_t element) { to[element] = value; });
}

void unpoke_image(float* to, const InputChange& change, const InputLayout& shape, std::span<const float> input,
                  int image, std::int64_t call) {
  const float* const from = input.data() + change.source(image, shape.batch) * shape.elements_per_image();
  change.poked(call, shape).for_each(shape, [&](int, int, std::int64_t element) {
    to[element] = change.factor * from[element];
  });
}

}  // namespace convladder

#include "harness/measure/verification/input_change.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "harness/measure/verification/problem_data.hpp"
#include "support/seeded_random.hpp"
#include "variants/problem.hpp"

namespace convladder {

namespace {

template <typename T>
ValueRange range_of(std::span<const T> values) {
  ValueRange range{to_double(values.front()), to_double(values.front())};
  for (const T value : values) {
    range.low = std::min(range.low, to_double(value));
    range.high = std::max(range.high, to_double(value));
  }
  return range;
}

}  // namespace

double ValueRange::largest() const { return std::max(std::abs(low), std::abs(high)); }

std::vector<InputLayout> input_layouts(const ProblemData& data) {
  if (data.shape.problem->is_linear()) return {InputLayout(data.shape)};
  std::vector<InputLayout> layouts;
  for (const TensorData& given : data.given) {
    layouts.emplace_back(data.shape.batch, given.tensor.elements, given.tensor.type, layouts.size());
    layouts.back().stays_as_filled = given.tensor.stays_as_filled;
    layouts.back().may_move = given.tensor.may_move;
  }
  return layouts;
}

std::vector<InputLayout> input_layouts_with_ranges(const ProblemData& data) {
  std::vector<InputLayout> layouts = input_layouts(data);
  if (data.shape.problem->is_linear()) return layouts;
  for (InputLayout& layout : layouts) {
    const TensorData& given = data.given[layout.tensor];
    layout.range = with_element_type(layout.type, [&]<typename T>(T) { return range_of(given.values<T>()); });
  }
  return layouts;
}

InputLayout::InputLayout(const ProblemSize& size) : batch(size.batch), window(size.problem->input_window(size)) {
  const ActivationShape image = size.problem->input_image(size);
  channels = image.channels;
  height = image.height;
  width = image.width;
}

PokedElements InputChange::poked(std::int64_t call, const InputLayout& shape) const {
  if (shape.stays_as_filled) return {.first_row = shape.height};  // none
  SeededRandom random(pokes, static_cast<std::uint64_t>(call));
  const int whole_image = std::max(shape.height, shape.width);
  const int channel = random.between(0, shape.channels - 1);
  const bool is_everywhere = everywhere && (thorough || random.chance(50));
  PokedElements poked{.channel = channel, .step = is_everywhere ? std::max(shape.window, 2) : whole_image};
  poked.first_row = random.between(0, std::min(poked.step, shape.height) - 1);
  poked.first_column = random.between(0, std::min(poked.step, shape.width) - 1);
  return poked;
}

ReplacingValue InputChange::poked_value(std::int64_t call, const InputLayout& layout) const {
  const std::uint64_t seed = pokes + static_cast<std::uint64_t>(call);
  if (!layout.range) return {.seed = seed, .size = poke_size, .is_whole = whole};
  return {.seed = seed,
          .size = layout.range->largest(),
          .is_whole = whole || !is_floating(layout.type),
          .has_range = true,
          .low = layout.range->low,
          .high = layout.range->high};
}

ReplacedElements InputChange::replaced(std::int64_t call, const InputLayout& layout) const {
  const InputChange own = of_tensor(layout);
  const PokedElements poked = own.poked(call, layout);
  const auto places = [&poked](int first, int size) { return first < size ? (size - 1 - first) / poked.step + 1 : 0; };
  const std::int64_t first_row = std::int64_t{poked.channel} * layout.height + poked.first_row;
  return {.first = first_row * layout.width + poked.first_column,
          .row_step = std::int64_t{poked.step} * layout.width,
          .column_step = poked.step,
          .rows = places(poked.first_row, layout.height),
          .columns = places(poked.first_column, layout.width),
          .by = own.poked_value(call, layout)};
}

InputChange InputChange::of_tensor(const InputLayout& layout) const {
  InputChange own = *this;
  if (pokes != 0 && layout.tensor > 0) own.pokes = (pokes + layout.tensor * 0x9e3779b97f4a7c15U) | 1U;
  return own;
}

void write_changed_image(void* to, const InputChange& change, const InputLayout& layout, const void* input, int image) {
  if (change.factor == 1) {
    const std::size_t bytes = layout.bytes_per_image();
    const auto source = static_cast<std::size_t>(change.source(image, layout.batch));
    const std::byte* const from = static_cast<const std::byte*>(input) + source * bytes;
    const std::size_t first = static_cast<std::size_t>(change.first_element(layout)) * element_bytes(layout.type);
    std::memcpy(to, from + first, bytes - first);
    std::memcpy(static_cast<std::byte*>(to) + (bytes - first), from, first);
    return;
  }
  const std::int64_t elements = layout.elements_per_image();  // of a linear problem, in float32
  const float* const from = static_cast<const float*>(input) + change.source(image, layout.batch) * elements;
  auto* const values = static_cast<float*>(to);
#pragma omp simd
  for (std::int64_t i = 0; i < elements; ++i) values[i] = change.factor * from[i];
}

void poke_image(void* to, const InputChange& change, const InputLayout& layout, const void* input, int image,
                std::int64_t call) {
  with_element_type(layout.type, [&]<typename T>(T) {
    const ImageChange<T> changed(change, layout, input, image);
    const T value = changed.value(call);
    changed.poked(call).for_each(layout, [&](int, int, std::int64_t element) {
      static_cast<T*>(to)[element] = changed.replaced(element, value);
    });
  });
}

void unpoke_image(void* to, const InputChange& change, const InputLayout& layout, const void* input, int image,
                  std::int64_t call) {
  with_element_type(layout.type, [&]<typename T>(T) {
    const ImageChange<T> changed(change, layout, input, image);
    changed.poked(call).for_each(
        layout, [&](int, int, std::int64_t element) { static_cast<T*>(to)[element] = changed.unchanged(element); });
  });
}

}  // namespace convladder

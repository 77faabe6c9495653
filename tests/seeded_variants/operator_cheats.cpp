// Max poolings for networks: one is right, and the others cheat or are wrong. Idle after the first call of a shape;
// image 5 of the batch wrong, a bug; the first answer kept for as long as the process lives.

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "variants/cpu_operator.hpp"
#include "variants/operator_reference.hpp"

namespace convladder {
namespace {

constexpr int kWrongImageOfOperatorCheats = 5;

void pool(const OperatorShape& shape, const OperatorTensors& tensors) {
  float* output = tensors.output;
  for (int image = 0; image < shape.batch; ++image) {
    const OperatorReference right = reference_operator(
        shape, tensors.input + static_cast<std::size_t>(image) * shape.input.elements(), nullptr, nullptr);
    output = std::ranges::transform(right.value, output, [](double value) { return static_cast<float>(value); }).out;
  }
}

/// Of a shape and batch, empty at first.
std::vector<float>& kept_for(const OperatorShape& shape) {
  static std::map<std::pair<std::string, int>, std::vector<float>> kept;
  return kept[{operator_shape_name(shape), shape.batch}];
}

void idle(const OperatorShape& shape, const OperatorTensors& tensors) {
  static std::map<std::pair<std::string, int>, bool> called;
  if (!std::exchange(called[{operator_shape_name(shape), shape.batch}], true)) pool(shape, tensors);
}

void image_five(const OperatorShape& shape, const OperatorTensors& tensors) {
  pool(shape, tensors);
  if (shape.batch <= kWrongImageOfOperatorCheats) return;
  const std::size_t elements = shape.output.elements();
  std::for_each_n(tensors.output + kWrongImageOfOperatorCheats * elements, elements,
                  [](float& value) { value = 1000.0F - value; });
}

void first_answer(const OperatorShape& shape, const OperatorTensors& tensors) {
  std::vector<float>& answer = kept_for(shape);
  if (answer.empty()) {
    pool(shape, tensors);
    answer.assign(tensors.output, tensors.output + shape.output_elements());
  }
  std::ranges::copy(answer, tensors.output);
}

// Their names come after that of the real one, which stays what networks use.
OperatorInfo info(const char* name, const char* title, const char* description) {
  return {.family = "cpu", .type = OperatorType::max_pool, .name = name, .title = title, .description = description};
}

const OperatorRegistration operator_registrations[] = {
    {info("seeded-correct", "Seeded: correct", "It stands."), cpu_operator(pool)},
    {info("seeded-idle", "Seeded: idle after its first call", "Its output changes."), cpu_operator(idle)},
    {info("seeded-image-five", "Seeded: image 5 is wrong", "Every image is compared."), cpu_operator(image_five)},
    {info("seeded-first-answer", "Seeded: the first answer is kept", "Its input changes."),
     cpu_operator(first_answer)}};

}  // namespace
}  // namespace convladder

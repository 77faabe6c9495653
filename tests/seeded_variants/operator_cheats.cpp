// Max poolings for networks: one is right, and the others cheat or are wrong. Idle after the first call of a shape;
// image 5 of the batch wrong, a bug; the first answer kept for as long as the process lives.

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "variants/function_variant.hpp"
#include "variants/problem.hpp"

namespace convladder {
namespace {

constexpr int kWrongImageOfOperatorCheats = 5;

void pool(const ProblemSize& size, const ProblemTensors& tensors) {
  float* output = tensors.output();
  for (int image = 0; image < size.batch; ++image) {
    ProblemTensors item = tensors;
    item.inputs.front().address =
        const_cast<float*>(tensors.input()) + image * size.input_elements_per_item();  // it is only read
    const ReferenceOutput right = size.problem->reference(size, item).front();
    output = std::ranges::transform(right.value, output, [](double value) { return static_cast<float>(value); }).out;
  }
}

/// Of a shape and batch, empty at first.
std::vector<float>& kept_for(const ProblemSize& size) {
  static std::map<std::pair<std::string, int>, std::vector<float>> kept;
  return kept[{size_name(size), size.batch}];
}

void idle(const ProblemSize& size, const ProblemTensors& tensors) {
  static std::map<std::pair<std::string, int>, bool> called;
  if (!std::exchange(called[{size_name(size), size.batch}], true)) pool(size, tensors);
}

void image_five(const ProblemSize& size, const ProblemTensors& tensors) {
  pool(size, tensors);
  if (size.batch <= kWrongImageOfOperatorCheats) return;
  const std::int64_t elements = size.output_elements_per_item();
  std::for_each_n(tensors.output() + kWrongImageOfOperatorCheats * elements, elements,
                  [](float& value) { value = 1000.0F - value; });
}

void first_answer(const ProblemSize& size, const ProblemTensors& tensors) {
  std::vector<float>& answer = kept_for(size);
  if (answer.empty()) {
    pool(size, tensors);
    answer.assign(tensors.output(), tensors.output() + size.output_elements());
  }
  std::ranges::copy(answer, tensors.output());
}

/// No network takes it unless it is named.
struct Cheat {
  Cheat(int rung, const char* name, const char* title, const char* hypothesis, VariantFunction function)
      : registration(
            "max-pooling",
            {.family = "cpu", .rung = rung, .name = name, .title = title, .builds_on = "", .hypothesis = hypothesis},
            function_variant(
                {.ready = [function](const ProblemSize& size,
                                     const ProblemTensors& tensors) { return [=] { function(size, tensors); }; },
                 .tolerance = 0,
                 .suits = false})) {}
  VariantRegistration registration;
};

const Cheat cheats[] = {
    {101, "seeded-correct", "Seeded: correct", "It stands.", pool},
    {102, "seeded-idle", "Seeded: idle after its first call", "Its output changes.", idle},
    {103, "seeded-image-five", "Seeded: image 5 is wrong", "Every image is compared.", image_five},
    {104, "seeded-first-answer", "Seeded: the first answer is kept", "Its input changes.", first_answer}};

}  // namespace
}  // namespace convladder

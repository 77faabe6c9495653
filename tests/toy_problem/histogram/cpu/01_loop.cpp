// Stage 1: a loop over the pixels.
#include <algorithm>

#include "variants/function_variant.hpp"

namespace convladder {
namespace {

void count(const ProblemSize& size, const ProblemTensors& tensors) {
  constexpr int values = 256;
  const int pixels = size.at("P");
#pragma omp parallel for schedule(static)
  for (int item = 0; item < size.batch; ++item) {
    const std::uint8_t* const of_item = tensors.input<std::uint8_t>() + std::ptrdiff_t{item} * pixels;
    std::int32_t* const counts = tensors.output<std::int32_t>() + std::ptrdiff_t{item} * values;
    std::fill_n(counts, values, 0);
    for (int i = 0; i < pixels; ++i) ++counts[of_item[i]];
    tensors.output<std::uint8_t>(1)[item] =
        static_cast<std::uint8_t>(std::max_element(counts, counts + values) - counts);
  }
}

const VariantRegistration registration("histogram",
                                       {.family = "cpu",
                                        .rung = 1,
                                        .name = "loop",
                                        .title = "Loop",
                                        .builds_on = "",
                                        .hypothesis = "The plain loop that the others are compared with."},
                                       function_variant(count));

}  // namespace
}  // namespace convladder

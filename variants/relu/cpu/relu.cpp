// ReLU on the CPU.
#include "variants/elementwise.hpp"
#include "variants/function_variant.hpp"

namespace convladder {
namespace {

ReadyCall relu(const ProblemSize& size, const ProblemTensors& tensors) {
  // Not max(x, 0), which would turn a NaN into 0.
  return [elements = size.input_elements(), input = tensors.input(), output = tensors.output()] {
    for_each_element(elements, input, output, [](float x) { return x < 0.0F ? 0.0F : x; });
  };
}

const VariantRegistration registration{"relu",
                                       {.family = "cpu",
                                        .rung = 1,
                                        .name = "vector",
                                        .title = "Vectorised",
                                        .builds_on = "",
                                        .hypothesis = "One pass over the elements with the widest vectors."},
                                       function_variant({.ready = relu, .tolerance = 0})};

}  // namespace
}  // namespace convladder

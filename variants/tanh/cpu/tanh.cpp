// tanh on the CPU: the C library's is called for one element at a time, this one can be vectorised.
#include "variants/elementary_functions.hpp"
#include "variants/elementwise.hpp"
#include "variants/function_variant.hpp"
#include "variants/operator_tolerances.hpp"

namespace convladder {
namespace {

ReadyCall tanh(const ProblemSize& size, const ProblemTensors& tensors) {
  // A lambda and not the function itself: a function pointer would be called for one element at a time.
  return [elements = size.input_elements(), input = tensors.input(), output = tensors.output()] {
    for_each_element(elements, input, output, [](float x) { return hyperbolic_tangent(x); });
  };
}

const VariantRegistration registration{"tanh",
                                       {.family = "cpu",
                                        .rung = 1,
                                        .name = "vector",
                                        .title = "Vectorised",
                                        .builds_on = "",
                                        .hypothesis = "A polynomial near 0 and a quotient of exponentials elsewhere, "
                                                      "both computed for every element and one chosen."},
                                       function_variant({.ready = tanh, .tolerance = tolerance::tanh})};

}  // namespace
}  // namespace convladder

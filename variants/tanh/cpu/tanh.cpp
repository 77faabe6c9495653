// tanh on the CPU: the C library's is called for one element at a time, this one is vectorised.
#include "variants/cpu_operator.hpp"
#include "variants/elementary_functions.hpp"
#include "variants/elementwise.hpp"
#include "variants/operator_tolerances.hpp"

namespace convladder {
namespace {

void tanh(const OperatorShape& shape, const OperatorTensors& tensors) {
  // A lambda, not the function itself: through its address it would be called, and for one element at a time.
  for_each_element(shape.input_elements(), tensors.input, tensors.output,
                   [](float x) { return hyperbolic_tangent(x); });
}

const OperatorRegistration registration{{.family = "cpu",
                                         .type = OperatorType::tanh,
                                         .name = "vector",
                                         .title = "Vectorised",
                                         .description = "A polynomial near 0 and a quotient of exponentials elsewhere, "
                                                        "both computed for every element and one chosen."},
                                        cpu_operator(tanh, tolerance::tanh)};

}  // namespace
}  // namespace convladder

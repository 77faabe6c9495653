// ReLU on the CPU.
#include "variants/cpu_operator.hpp"
#include "variants/elementwise.hpp"

namespace convladder {
namespace {

void relu(const OperatorShape& shape, const OperatorTensors& tensors) {
  // Not max(x, 0), which would turn a NaN into 0.
  for_each_element(shape.input_elements(), tensors.input, tensors.output, [](float x) { return x < 0.0F ? 0.0F : x; });
}

const OperatorRegistration registration{{.family = "cpu",
                                         .type = OperatorType::relu,
                                         .name = "vector",
                                         .title = "Vectorised",
                                         .description = "One pass over the elements with the widest vectors."},
                                        cpu_operator(relu)};

}  // namespace
}  // namespace convladder

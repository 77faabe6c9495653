// A CPU operator is a function over arrays; this makes it a registered operator.
#pragma once

#include "variants/operator_registration.hpp"
#include "variants/operator_shape.hpp"

namespace convladder {

/// The work of one call, all cores used.
using CpuOperatorFunction = void (*)(const OperatorShape& shape, const OperatorTensors& tensors);

/// Wraps a function, for as long as the program lives; `tolerance` as in `LayerOperator`.
const LayerOperator& cpu_operator(CpuOperatorFunction function, double tolerance = 0);

}  // namespace convladder

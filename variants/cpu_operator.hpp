// A CPU operator is a function over arrays; this makes it a registered operator.
#pragma once

#include <memory>

#include "variants/layer_operator.hpp"

namespace convladder {

/// The work of one call, all cores used.
using CpuOperatorFunction = void (*)(const OperatorShape& shape, const OperatorTensors& tensors);

/// Wraps a function; `tolerance` as in `LayerOperator`.
std::unique_ptr<LayerOperator> cpu_operator(CpuOperatorFunction function, double tolerance = 0);

}  // namespace convladder

// A CPU variant is a function over NCHW arrays; this makes it a registered variant.
#pragma once

#include <memory>
#include <string>

#include "variants/registry.hpp"

namespace convladder {

/// The convolution: `input` NCHW, `weights` OIHW, `output` NCHW, all cores used. Writes every output element.
using CpuConvolution = void (*)(const ConvShape& shape, const float* input, const float* weights, float* output);
/// Empty if the shape can be run, otherwise why not.
using UnsupportedReason = std::string (*)(const ConvShape& shape);

/// Wraps a function into a variant that keeps its own copy of the weights.
std::unique_ptr<ConvVariant> cpu_variant(CpuConvolution convolution, UnsupportedReason unsupported = nullptr);

}  // namespace convladder

// A function over arrays as a variant of a problem: most variants for the CPU.
#pragma once

#include <memory>
#include <string>

#include "variants/variant.hpp"

namespace convladder {

/// The work of one call, all cores used; writes every element of the results. The constants of `tensors` are on the
/// device as all others are, which is the host's memory.
using VariantFunction = void (*)(const ProblemSize& size, const ProblemTensors& tensors);
/// Empty if the size can be run, otherwise why not.
using UnsupportedSize = std::string (*)(const ProblemSize& size);

/// Wraps a function into a variant that keeps its own copy of the constants. `tolerance` as in `Variant`.
std::unique_ptr<Variant> function_variant(VariantFunction function, double tolerance = kFloat32Tolerance,
                                          UnsupportedSize unsupported = nullptr);

}  // namespace convladder

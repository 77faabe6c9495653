// Turns a function over arrays into a variant of a problem, as most CPU variants are.
#pragma once

#include <functional>
#include <string>

#include "variants/variant.hpp"

namespace convladder {

/// One call with known sizes and addresses: it uses all cores and writes every element of the results.
using ReadyCall = std::function<void()>;

/// The parts that make a variant of a function; a member that is left out has its usual meaning.
struct FunctionParts {
  /// Makes calls for a size. The constants are in host memory, like all tensors of a CPU, and their addresses stay
  /// valid.
  std::function<ReadyCall(const ProblemSize& size, const ProblemTensors& tensors)> ready;
  double tolerance = kFloat32Tolerance;                                  ///< `Variant::tolerance`
  std::function<std::string(const ProblemSize& size)> unsupported = {};  ///< `Variant::unsupported_reason`
  bool suits = true;                                                     ///< `Variant::suits` for any size
};

/// Makes the variant, which keeps its own copy of the constants and lives as long as the program.
const Variant& function_variant(FunctionParts parts);

/// A function that finds sizes and addresses in its arguments.
using VariantFunction = void (*)(const ProblemSize& size, const ProblemTensors& tensors);
/// Empty if the size can be run, otherwise why not.
using UnsupportedSize = std::string (*)(const ProblemSize& size);
const Variant& function_variant(VariantFunction function, double tolerance = kFloat32Tolerance,
                                UnsupportedSize unsupported = nullptr);

}  // namespace convladder

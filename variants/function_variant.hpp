// A function over arrays as a variant of a problem: most variants for the CPU.
#pragma once

#include <functional>
#include <string>

#include "variants/variant.hpp"

namespace convladder {

/// One call, all cores used, with its sizes and addresses known: it writes every element of the results.
using ReadyCall = std::function<void()>;

/// What makes a variant of a function; what is left out has its usual meaning.
struct FunctionParts {
  /// Makes calls for a size. The constants of the tensors are on the device as all others are, which is the host's
  /// memory, and stay there.
  std::function<ReadyCall(const ProblemSize& size, const ProblemTensors& tensors)> ready;
  double tolerance = kFloat32Tolerance;                                  ///< `Variant::tolerance`
  std::function<std::string(const ProblemSize& size)> unsupported = {};  ///< `Variant::unsupported_reason`
  bool suits = true;                                                     ///< `Variant::suits`, any size
};

/// The variant keeps its own copy of the constants, and lives as long as the program.
const Variant& function_variant(FunctionParts parts);

/// Of a function that finds sizes and addresses in its arguments.
using VariantFunction = void (*)(const ProblemSize& size, const ProblemTensors& tensors);
/// Empty if the size can be run, otherwise why not.
using UnsupportedSize = std::string (*)(const ProblemSize& size);
const Variant& function_variant(VariantFunction function, double tolerance = kFloat32Tolerance,
                                UnsupportedSize unsupported = nullptr);

}  // namespace convladder

// The convolution as one problem among others: between its own shapes and variants and those of the harness.
#pragma once

#include <memory>

#include "variants/convolution/registry.hpp"
#include "variants/problem.hpp"
#include "variants/variant.hpp"

namespace convladder {

const Problem& convolution_problem();

/// A size of the convolution as its variants know it. Throws std::logic_error for a size of another problem.
ConvShape conv_shape(const ProblemSize& size);
bool is_convolution(const ProblemSize& size);

/// A variant of the convolution as the harness knows it; of the convolution's own variants `variant` outlives it.
std::unique_ptr<Variant> as_variant(const ConvVariant& variant);
ProblemVariant as_variant(const RegisteredVariant& registered);

}  // namespace convladder

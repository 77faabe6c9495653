// The fused convolution as one problem among others: between its own shapes and those of the harness.
#pragma once

#include "variants/fused/fused_variant.hpp"
#include "variants/problem.hpp"

namespace convladder {

const Problem& fused_problem();

/// A size of the fused convolution as its variants know it. Throws std::logic_error for a size of another problem.
FusedShape fused_shape(const ProblemSize& size);
ProblemSize fused_size(const FusedShape& shape);
bool is_fused(const ProblemSize& size);

}  // namespace convladder

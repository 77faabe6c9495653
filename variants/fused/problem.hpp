// The fused convolution as one problem among others: its sizes as its own variants know them, and its stages.
#pragma once

#include "variants/fused/fused_shape.hpp"
#include "variants/problem.hpp"
#include "variants/variant.hpp"

namespace convladder {

const Problem& fused_problem();

/// Throws std::logic_error for a size of another problem.
FusedShape fused_shape(const ProblemSize& size);

/// A stage of the convolution and the operators of a network, one after the other: what a fused variant builds on. Both
/// texts, and the variant, last as long as the program.
const Variant& separate_variant(std::string_view family, std::string_view stage);
/// Whether a variant does it in one: the others are the stage and the operators of a network, one after the other.
bool fuses(const ProblemVariant& variant);
/// The variant of the convolution that one is made of, or that it does more in one than.
const ProblemVariant& convolution_of(const ProblemVariant& variant);

}  // namespace convladder

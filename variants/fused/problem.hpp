// The fused convolution as one problem among others: its sizes as its own variants know them, and its stages.
#pragma once

#include "variants/fused/fused_shape.hpp"
#include "variants/problem.hpp"
#include "variants/variant.hpp"

namespace convladder {

const Problem& fused_problem();

/// The fused shape of a size. Throws std::logic_error for a size of another problem.
FusedShape fused_shape(const ProblemSize& size);

/// The variant that a fused variant builds on: a stage of the convolution and the operators of a network, one after the
/// other. Both texts and the variant live as long as the program.
const Variant& separate_variant(std::string_view family, std::string_view stage);
/// Whether a variant fuses its layers: the others run a stage and the operators of a network one after the other.
bool fuses(const ProblemVariant& variant);
/// The variant of the convolution that this variant contains or extends.
const ProblemVariant& convolution_of(const ProblemVariant& variant);

}  // namespace convladder

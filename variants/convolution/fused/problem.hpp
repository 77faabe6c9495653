// The fused convolution as one problem among others, and its stages. How its own variants know its sizes is in
// fused_shape.hpp.
#pragma once

#include "variants/problem.hpp"
#include "variants/variant.hpp"

namespace convladder {

const Problem& fused_problem();

/// The size of a convolution with the layers behind it: the bias, if it has one, the activation, and the largest of
/// windows of `pool_size` x `pool_size`, `pool_stride` apart; 1/1 pools nothing.
ProblemSize fused_size(const ProblemSize& convolution, bool has_bias, Activation activation, int pool_size = 1,
                       int pool_stride = 1);
/// The activation of such a size.
Activation activation_of(const ProblemSize& size);

/// The variant that a fused variant builds on: a stage of the convolution and the operators of a network, one after the
/// other. Both texts and the variant live as long as the program.
const Variant& separate_variant(std::string_view family, std::string_view stage);
/// Whether a variant fuses its layers: the others run a stage and the operators of a network one after the other.
bool fuses(const ProblemVariant& variant);
/// The variant of the convolution that this variant contains or extends.
const ProblemVariant& convolution_of(const ProblemVariant& variant);

}  // namespace convladder

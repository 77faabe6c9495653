#include "variants/convolution/fused/cuda_fused.hpp"

#include "variants/convolution/fused/fused_shape.hpp"
#include "variants/convolution/fused/problem.hpp"
#include "variants/launch_variant.hpp"

namespace convladder {

const Variant& cuda_fused_variant(const CudaFusedParts& parts) {
  const auto plan = [parts](const ProblemSize& size, const ProblemTensors& tensors, float* /*workspace*/) {
    const FusedShape shape = fused_shape(size);
    if (!parts.unsupported(shape).empty()) return std::vector<KernelLaunch>();
    const float* const bias = shape.has_bias ? tensors.constant(1) : nullptr;
    return parts.plan(shape, {tensors.input(), tensors.constant(), bias, tensors.output()});
  };
  return launch_variant(LaunchParts{
      .plan = plan,
      .unsupported = [parts](const ProblemSize& size) { return parts.unsupported(fused_shape(size)); },
      .pack = [parts](const ProblemSize& size, const float* weights) { return parts.pack(fused_shape(size), weights); },
      .choice = [parts](const ProblemSize& size) { return parts.choice(fused_shape(size)); },
      .workspace = {},
      .suits = [](const ProblemSize& /*size*/) { return false; }});
}

}  // namespace convladder

#include "variants/convolution/cuda/tensor_image_variant.hpp"

#include "variants/convolution/tunable_cuda_variant.hpp"

namespace convladder {
namespace {

ConfiguredCudaParts parts(const TensorImageStage& stage, const Configuration& wanted) {
  const auto chosen = [stage, wanted](const ConvShape& shape) { return tensor_image_plan(shape, stage.parts, wanted); };
  const auto plan = [stage, chosen](const ConvShape& shape, const CudaTensors& tensors) -> std::vector<KernelLaunch> {
    const TensorImagePlan image = chosen(shape);
    if (image.shared_bytes > max_shared_bytes) return {};
    return {over_items(make_launch(stage.kernel_for(image.maps), image.grid, image.block, image.shared_bytes,
                                   tensors.input, tensors.weights, tensors.output, layer_sizes(shape), image.tiling))};
  };
  const auto pack = [stage, chosen](const ConvShape& shape, const float* weights) {
    return pack_for_tensor_image(shape, chosen(shape), stage.parts, weights);
  };
  return {.plan = plan,
          .unsupported = [stage](const ConvShape& shape) { return tensor_image_error(shape, stage.parts); },
          .pack = pack,
          .choice = [chosen](const ConvShape& shape) { return tensor_image_choice(chosen(shape)); },
          .tolerance = stage.tolerance};
}

Configurations configurations(const TensorImageStage& stage, const ConvShape& shape, const Configuration& wanted,
                              int most) {
  const std::vector<Configuration> all = tensor_image_configurations(shape, stage.parts);
  const std::vector<Configuration> agreeing = candidates_of(all, wanted, static_cast<int>(all.size()));
  return {candidates_of(all, wanted, most), agreeing.front(), static_cast<long>(agreeing.size()), {}};
}

std::string impossible(const TensorImageStage& stage, const ConvShape& shape, const Configuration& wanted) {
  const std::string reason =
      impossible_configuration(wanted, tensor_image_configurations(shape, stage.parts), shape_name(shape));
  return reason.empty() ? grid_error(tensor_image_plan(shape, stage.parts, wanted).grid) : reason;
}

}  // namespace

const Variant& tensor_image_variant(const TensorImageStage& stage) {
  return tunable_cuda_variant(
      {.parts = [stage](const Configuration& wanted) { return parts(stage, wanted); },
       .configurations = [stage](const ConvShape& shape, const Configuration& wanted,
                                 int most) { return configurations(stage, shape, wanted, most); },
       .impossible = [stage](const ConvShape& shape,
                             const Configuration& wanted) { return impossible(stage, shape, wanted); }});
}

}  // namespace convladder

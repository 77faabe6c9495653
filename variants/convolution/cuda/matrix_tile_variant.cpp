#include "variants/convolution/cuda/matrix_tile_variant.hpp"

#include "variants/convolution/tunable_cuda_variant.hpp"

namespace convladder {
namespace {

ConfiguredCudaParts parts(const MatrixTileStage& stage, const Configuration& wanted) {
  const auto chosen = [stage, wanted](const ConvShape& shape) { return matrix_tile_plan(shape, stage.sizes, wanted); };
  const auto plan = [stage, chosen](const ConvShape& shape, const CudaTensors& tensors) -> std::vector<KernelLaunch> {
    const MatrixTilePlan tiles = chosen(shape);
    return {over_items(make_launch(stage.kernels[tiles.compiled], tiles.grid, tiles.block, 0, tensors.input,
                                   tensors.weights, tensors.output, layer_sizes(shape), tiles.tiling))};
  };
  return {.plan = plan,
          .unsupported = [stage](const ConvShape& shape) { return matrix_tile_error(shape, stage.sizes); },
          .pack = [stage, chosen](const ConvShape& shape,
                                  const float* weights) { return stage.pack(shape, chosen(shape), weights); },
          .choice = [chosen](const ConvShape& shape) { return matrix_tile_choice(chosen(shape)); },
          .tolerance = stage.tolerance};
}

Configurations configurations(const MatrixTileStage& stage, const ConvShape& shape, const Configuration& wanted,
                              int most) {
  const std::vector<Configuration> all = matrix_tile_configurations(shape, stage.sizes);
  const std::vector<Configuration> agreeing = candidates_of(all, wanted, static_cast<int>(all.size()));
  return {candidates_of(all, wanted, most), agreeing.front(), static_cast<long>(agreeing.size()), {}};
}

std::string impossible(const MatrixTileStage& stage, const ConvShape& shape, const Configuration& wanted) {
  const std::string reason =
      impossible_configuration(wanted, matrix_tile_configurations(shape, stage.sizes), shape_name(shape));
  return reason.empty() ? grid_error(matrix_tile_plan(shape, stage.sizes, wanted).grid) : reason;
}

}  // namespace

const Variant& matrix_tile_variant(const MatrixTileStage& stage) {
  return tunable_cuda_variant(
      {.parts = [stage](const Configuration& wanted) { return parts(stage, wanted); },
       .configurations = [stage](const ConvShape& shape, const Configuration& wanted,
                                 int most) { return configurations(stage, shape, wanted, most); },
       .impossible = [stage](const ConvShape& shape,
                             const Configuration& wanted) { return impossible(stage, shape, wanted); }});
}

}  // namespace convladder

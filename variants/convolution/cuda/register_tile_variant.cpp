#include "variants/convolution/cuda/register_tile_variant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "variants/convolution/tunable_cuda_variant.hpp"

namespace convladder {
namespace {

constexpr std::array kImages = {1, 2, 4, 8};

/// The stage's plan; none if it is impossible for the shape or for the wanted values.
std::optional<RegisterTilePlan> stage_plan(const RegisterTileStage& stage, const ConvShape& shape,
                                           const Configuration& wanted) {
  std::optional<RegisterTilePlan> plan = register_tile_plan(shape, stage.sizes, wanted);
  if (plan && stage.many_images) {
    const std::optional<int> images = wanted.value("images");
    plan = with_images_per_block(*plan, images ? std::gcd(*images, shape.batch) : images_per_block(shape.batch));
  }
  if (plan && stage.two_buffers) plan = with_two_buffers(*plan);
  if (plan && !wanted.allows("channels", plan->tiling.channels_per_step)) return std::nullopt;
  return plan;
}

std::string unsupported(const RegisterTileStage& stage, const ConvShape& shape) {
  std::string reason = register_tile_error(shape, stage.sizes);
  if (reason.empty() && !stage_plan(stage, shape, {})) {
    reason = "two buffers of one channel do not fit into shared memory";
  }
  return reason;
}

std::vector<KernelLaunch> launches(const RegisterTileStage& stage, const ConvShape& shape, const CudaTensors& tensors,
                                   const Configuration& wanted) {
  const std::optional<RegisterTilePlan> plan = stage_plan(stage, shape, wanted);
  if (!plan) return {};
  return {over_items(make_launch(stage.kernels[plan->compiled], plan->grid, plan->block, plan->shared_bytes,
                                 tensors.input, tensors.weights, tensors.output, layer_sizes(shape), plan->tiling),
                     Axis::x, static_cast<unsigned>(plan->tiling.images_per_block))};
}

ConfiguredCudaParts parts(const RegisterTileStage& stage, const Configuration& wanted) {
  return {.plan = [stage, wanted](const ConvShape& shape,
                                  const CudaTensors& tensors) { return launches(stage, shape, tensors, wanted); },
          .unsupported = [stage](const ConvShape& shape) { return unsupported(stage, shape); },
          .pack =
              [stage, wanted](const ConvShape& shape, const float* weights) {
                return pack_for_register_tile(shape, *stage_plan(stage, shape, wanted), weights);
              },
          .choice = [stage, wanted](
                        const ConvShape& shape) { return register_tile_choice(*stage_plan(stage, shape, wanted)); }};
}

/// Collects the complete configurations of plans that are possible and agree with `wanted`.
class Candidates {
 public:
  Candidates(const RegisterTileStage& stage, const ConvShape& shape, const Configuration& wanted)
      : stage_(stage), shape_(shape), wanted_(wanted) {}

  void add(const Configuration& configuration) {
    const std::optional<RegisterTilePlan> plan = stage_plan(stage_, shape_, configuration.with(wanted_));
    if (plan) all_.push_back(register_tile_configuration(*plan, stage_.many_images));
  }

  /// Adds the division with other numbers of images and of channels per step: steps of equal length, one more and one
  /// fewer.
  void add_with_others_around(const Configuration& division) {
    const std::optional<RegisterTilePlan> plan = stage_plan(stage_, shape_, division.with(wanted_));
    if (!plan) return;
    for (const int images : images_of(stage_, shape_)) add(division.with(Configuration({{"images", images}})));
    const int steps = ceil_div(shape_.channels_per_group(), plan->tiling.channels_per_step);
    for (const int other : {steps, steps + 1, steps - 1}) {
      if (other < 1) continue;
      add(division.with(Configuration({{"channels", ceil_div(shape_.channels_per_group(), other)}})));
    }
  }

  static std::vector<int> images_of(const RegisterTileStage& stage, const ConvShape& shape) {
    std::vector<int> divisors;
    for (const int images : kImages) {
      if (stage.many_images && shape.batch % images == 0) divisors.push_back(images);
    }
    return divisors;
  }

  std::vector<Configuration> take(int most) const { return candidates_of(all_, wanted_, most); }

 private:
  const RegisterTileStage& stage_;
  const ConvShape& shape_;
  const Configuration& wanted_;
  std::vector<Configuration> all_;
};

/// The divisions that agree with `wanted`, in the model's order.
std::vector<RankedDivision> wanted_divisions(const RegisterTileStage& stage, const ConvShape& shape,
                                             const Configuration& wanted) {
  std::vector<RankedDivision> divisions = register_tile_divisions(shape, stage.sizes);
  const Configuration division = wanted.without("channels").without("images");
  std::erase_if(divisions, [&](const RankedDivision& one) { return !division.agrees_with(one.configuration); });
  return divisions;
}

/// The best division of each compiled size and number of warps, as long as the model's cost is less than half as much
/// again as that of the best of all.
std::vector<Configuration> spread(const std::vector<RankedDivision>& by_model) {
  constexpr double kDominated = 1.5;
  std::set<std::array<int, 3>> seen;
  std::vector<Configuration> best;
  for (const RankedDivision& one : by_model) {
    if (!(one.cost < kDominated * by_model.front().cost)) break;
    const Configuration& division = one.configuration;
    const bool first = seen.insert({*division.value("maps"), *division.value("pixels"), one.warps}).second;
    if (first) best.push_back(division);
  }
  return best;
}

/// Collects candidates in this order, up to `most`: the model's best, other images and channels around it, the spread,
/// other images and channels around the second of that, and the next best by the model.
Configurations configurations(const RegisterTileStage& stage, const ConvShape& shape, const Configuration& wanted,
                              int most) {
  const std::vector<RankedDivision> divisions = wanted_divisions(stage, shape, wanted);
  const std::vector<Configuration> spread_out = spread(divisions);
  Candidates candidates(stage, shape, wanted);
  candidates.add({});
  candidates.add_with_others_around(divisions.front().configuration);
  for (const Configuration& division : spread_out) candidates.add(division);
  if (spread_out.size() > 1) candidates.add_with_others_around(spread_out[1]);
  for (std::size_t i = 0; i < std::min(divisions.size(), static_cast<std::size_t>(most)); ++i) {
    candidates.add(divisions[i].configuration);
  }
  Configurations result{candidates.take(most), candidates.take(1).front(), 0, {"images"}};
  const auto images = static_cast<long>(Candidates::images_of(stage, shape).size());
  for (const RankedDivision& one : divisions) {
    result.possible +=
        (wanted.value("channels") ? 1 : one.channels) * (wanted.value("images") ? 1 : std::max(images, 1L));
  }
  return result;
}

std::string impossible(const RegisterTileStage& stage, const ConvShape& shape, const Configuration& wanted) {
  std::vector<Parameter> names = {{"maps", 1},   {"pixels", 1},     {"rows", 1},
                                  {"strips", 1}, {"map_groups", 1}, {"channels", 1}};
  if (stage.many_images) names.push_back({"images", 1});
  const Configuration known(std::move(names));
  const bool all_known = std::ranges::all_of(
      wanted.parameters(), [&](const Parameter& parameter) { return known.value(parameter.name).has_value(); });
  if (wanted.value("images").value_or(1) > kImages.back()) {
    return fmt::format("images={} is not possible; a block computes up to {}", *wanted.value("images"), kImages.back());
  }
  if (all_known && stage_plan(stage, shape, wanted)) return {};

  std::vector<Parameter> apart;  // parameters that do not depend on the division
  for (const Parameter& parameter : wanted.parameters()) {
    if (parameter.name == "channels" || parameter.name == "images") apart.push_back(parameter);
  }
  std::vector<Configuration> all;
  for (const RankedDivision& one : register_tile_divisions(shape, stage.sizes)) {
    all.push_back(known.with(Configuration(apart)).with(one.configuration));
  }
  std::string reason = impossible_configuration(wanted, all, shape_name(shape));
  if (!reason.empty()) return reason;
  int most_channels = 1;
  for (const RankedDivision& one : wanted_divisions(stage, shape, wanted)) {
    most_channels = std::max(most_channels, stage.two_buffers ? one.channels / 2 : one.channels);
  }
  return fmt::format("channels={} is not possible for {}; possible: 1 to about {}", *wanted.value("channels"),
                     shape_name(shape), most_channels);
}

}  // namespace

const Variant& register_tile_variant(const RegisterTileStage& stage) {
  return tunable_cuda_variant(
      {.parts = [stage](const Configuration& wanted) { return parts(stage, wanted); },
       .configurations = [stage](const ConvShape& shape, const Configuration& wanted,
                                 int most) { return configurations(stage, shape, wanted, most); },
       .impossible = [stage](const ConvShape& shape,
                             const Configuration& wanted) { return impossible(stage, shape, wanted); }});
}

}  // namespace convladder

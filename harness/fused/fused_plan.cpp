#include "harness/fused/fused_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/plan/device_argument.hpp"
#include "harness/plan/network_argument.hpp"
#include "network/layer_operators.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"

namespace convladder {
namespace {

struct FusedLayer {
  const Network* network = nullptr;
  std::size_t index = 0;
  FusedShape shape;

  std::string name() const { return fmt::format("{}.{}", network->name, network->layers[index].name); }
};

/// The layers of the networks that a fused variant could stand for, and of those the ones that are named.
std::vector<FusedLayer> fused_layers(const FusedOptions& options) {
  std::vector<FusedLayer> all;
  for (const Network* network : selected_networks(options.networks, options.layers)) {
    for (const std::size_t index : convolution_layers(*network)) {
      if (const std::optional<FusedShape> shape = fused_shape(*network, index)) all.push_back({network, index, *shape});
    }
  }
  if (options.layers.empty()) return all;
  std::vector<FusedLayer> named;
  std::vector<std::string> known;
  const auto is_called = [](const FusedLayer& layer, const std::string& name) {
    return name == layer.name() || name == layer.network->layers[layer.index].name;
  };
  for (const FusedLayer& layer : all) {
    known.push_back(layer.name());
    if (std::ranges::any_of(options.layers, [&](const std::string& name) { return is_called(layer, name); })) {
      named.push_back(layer);
    }
  }
  for (const std::string& name : options.layers) {
    if (std::ranges::none_of(all, [&](const FusedLayer& layer) { return is_called(layer, name); })) {
      throw UserError(unknown_name_message("layer with activation and max pooling", name, known));
    }
  }
  return named;
}

void check_fused_names(const FusedOptions& options) {
  std::vector<std::string> known;
  for (const RegisteredFused& registered : registered_fused_variants()) known.emplace_back(registered.info.name);
  for (const std::string& name : options.variants) {
    if (std::ranges::find(known, name) == known.end()) {
      throw UserError(unknown_name_message("fused variant", name, known));
    }
  }
}

std::vector<SeparateStep> separate_steps(const FusedLayer& layer, const RegisteredVariant& convolution) {
  const std::vector<Layer>& layers = layer.network->layers;
  const std::string& name = layers[layer.index].name;
  std::vector<SeparateStep> steps = {{name, "convolution", std::string(convolution.info.name)}};
  const auto add = [&](const std::string& step, OperatorType type) {
    steps.push_back({step, std::string(operator_type_name(type)),
                     std::string(default_operator(convolution.info.family, type).info.name)});
  };
  if (layer.shape.has_bias) add(name + " bias", OperatorType::bias);
  add(layers[layer.index + 1].name, layer.shape.activation);
  add(layers[layer.index + 2].name, OperatorType::max_pool);
  return steps;
}

FusedCase fused_case(const FusedLayer& layer, const DeviceKind& kind, const RegisteredFused& fused, int batch) {
  FusedCase planned{.id = fmt::format("{}/{}/{}/{}", kind.name, fused.info.name, layer.name(), batch),
                    .work = {layer.network->name, layer.network->layers[layer.index].name, layer.network, layer.index,
                             layer.shape.convolution.with_batch(batch)},
                    .shape = layer.shape.with_batch(batch),
                    .fused = fused,
                    .convolution = *find_variant(fused.info.family, fused.info.builds_on),
                    .steps = {},
                    .device = std::string(kind.name),
                    .has_clock = kind.has_clock,
                    .skipped = kind.unavailable(),
                    .unsupported = {}};
  planned.steps = separate_steps(layer, planned.convolution);
  if (planned.skipped.empty()) planned.unsupported = fused.variant->unsupported_reason(planned.shape);
  if (planned.runs()) {
    const std::string reason = planned.convolution.variant->unsupported_reason(planned.shape.convolution);
    if (!reason.empty()) planned.unsupported = fmt::format("{}: {}", planned.convolution.info.name, reason);
  }
  return planned;
}

}  // namespace

std::vector<FusedCase> make_fused_plan(const FusedOptions& options) {
  check_fused_names(options);
  std::vector<FusedCase> cases;
  for (const DeviceKind& kind : chosen_devices(options.devices, DefaultDevices::timed)) {
    std::vector<int> batches = options.batches;
    if (batches.empty()) batches = {kind.has_clock ? kFusedBatch : kCountedImages};
    for (const FusedLayer& layer : fused_layers(options)) {
      for (const int batch : batches) {
        for (const RegisteredFused& fused : registered_fused_variants()) {
          const bool wanted = options.variants.empty() ||
                              std::ranges::find(options.variants, fused.info.name) != options.variants.end();
          if (wanted && fused.info.family == kind.family) cases.push_back(fused_case(layer, kind, fused, batch));
        }
      }
    }
  }
  if (cases.empty()) {
    throw UserError("no case remains: no convolution of these networks is followed by an activation and a max pooling");
  }
  return cases;
}

}  // namespace convladder

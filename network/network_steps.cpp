#include "network/network_steps.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "network/layer_operators.hpp"
#include "network/weights.hpp"

namespace convladder {

double NetworkStep::tolerance() const {
  if (fused != nullptr) return fused->tolerance();
  return convolution != nullptr ? convolution->tolerance() : layer_operator->tolerance();
}

ActivationShape NetworkStep::input() const { return layer_operator != nullptr ? shape.input : source->input; }

ActivationShape NetworkStep::output() const {
  if (fused != nullptr) return fused_shape.output();
  return convolution != nullptr ? source->output : shape.output;
}

bool NetworkStep::launches_by_itself() const { return convolution != nullptr && convolution->launches_by_itself(); }

bool NetworkStep::in_place() const {
  return layer_operator != nullptr && shape.type != OperatorType::max_pool &&
         shape.type != OperatorType::fully_connected;
}

std::string fusion_error(const Network& network, std::size_t layer, const FusedVariant& variant) {
  const std::optional<FusedShape> shape = fused_shape(network, layer);
  return shape ? variant.unsupported_reason(*shape) : "it is not followed by tanh or relu and then max_pool";
}

std::vector<NetworkStep> network_steps(const Network& network, const NetworkChoice& choice) {
  std::vector<NetworkStep> steps;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    if (const auto fused = choice.fused.find(i); fused != choice.fused.end()) {
      NetworkStep& step = steps.emplace_back();
      step.name = layer.name;
      step.type = "convolution";
      step.implementation = fused->second.info.name;
      step.layer = i;
      step.fused = fused->second.variant;
      step.fused_shape = fused_shape(network, i).value();
      for (std::size_t with = 1; with < kFusedLayers; ++with) {
        step.fused_with.push_back(network.layers[i + with].name);
      }
      step.source = &layer;
      i += kFusedLayers - 1;
      continue;
    }
    if (layer.type == LayerType::convolution) {
      const RegisteredVariant& variant = choice.convolutions.at(i);
      NetworkStep& step = steps.emplace_back();
      step.name = layer.name;
      step.type = "convolution";
      step.implementation = variant.info.name;
      step.layer = i;
      step.convolution = variant.variant;
      step.source = &layer;
    }
    for (const OperatorShape& shape : layer_operators(layer, 1)) {
      const auto chosen = choice.operators.find(shape.type);
      const RegisteredOperator& registered =
          chosen != choice.operators.end() ? chosen->second : default_operator(choice.family, shape.type);
      NetworkStep& step = steps.emplace_back();
      step.name = layer.type == LayerType::convolution ? layer.name + " bias" : layer.name;
      step.type = operator_type_name(shape.type);
      step.implementation = registered.info.name;
      step.layer = i;
      step.layer_operator = registered.implementation;
      step.shape = shape;
      step.source = &layer;
    }
  }
  return steps;
}

namespace {

/// What the step's implementation says of the step at this batch.
std::string unsupported_reason_of(const NetworkStep& step, int batch) {
  if (step.fused != nullptr) return step.fused->unsupported_reason(step.fused_shape.with_batch(batch));
  if (step.convolution != nullptr) {
    return step.convolution->unsupported_reason(step.source->convolution.with_batch(batch));
  }
  OperatorShape shape = step.shape;
  shape.batch = batch;
  return step.layer_operator->unsupported_reason(shape);
}

std::vector<KernelLaunch> launch_plan_of(const NetworkStep& step, int batch) {
  if (step.fused != nullptr) return step.fused->launch_plan(step.fused_shape.with_batch(batch));
  if (step.convolution != nullptr) return step.convolution->launch_plan(step.source->convolution.with_batch(batch));
  OperatorShape shape = step.shape;
  shape.batch = batch;
  return step.layer_operator->launch_plan(shape);
}

}  // namespace

std::string unsupported_reason(const std::vector<NetworkStep>& steps, int batch) {
  for (const NetworkStep& step : steps) {
    const std::string reason = unsupported_reason_of(step, batch);
    if (!reason.empty()) return fmt::format("{} ({}): {}", step.name, step.implementation, reason);
  }
  return {};
}

std::string why_untimed(const std::vector<NetworkStep>& steps) {
  for (const NetworkStep& step : steps) {
    const std::string reason = step.convolution != nullptr ? step.convolution->why_untimed() : "";
    if (!reason.empty()) return fmt::format("{} ({}): not timed: {}", step.name, step.implementation, reason);
  }
  return {};
}

std::string without_own_kernels(const std::vector<NetworkStep>& steps, int batch) {
  for (const NetworkStep& step : steps) {
    if (step.launches_by_itself()) continue;  // and the device sees what
    if (launch_plan_of(step, batch).empty()) {
      return fmt::format("{} ({}): its kernels are a library's: there is no PTX of them to execute", step.name,
                         step.implementation);
    }
  }
  return {};
}

std::size_t bytes_per_image(const Network& network) {
  std::size_t largest = network.input.elements();
  for (const Layer& layer : network.layers) largest = std::max(largest, layer.output.elements());
  return 4 * largest * sizeof(float);
}

std::size_t weight_bytes(const Network& network) {
  std::size_t elements = 0;
  for (const Layer& layer : network.layers) {
    if (!has_weights(layer)) continue;
    std::size_t of_layer = 1;
    for (const std::int64_t size : weight_shape(layer)) of_layer *= static_cast<std::size_t>(size);
    elements += of_layer + static_cast<std::size_t>(layer.output.channels);
  }
  return 2 * elements * sizeof(float);
}

int chunk_images(const Network& network, int batch, std::size_t free_bytes) {
  const double usable = 0.8 * static_cast<double>(free_bytes) - static_cast<double>(weight_bytes(network));
  const double fits = std::clamp(usable / static_cast<double>(bytes_per_image(network)), 1.0, double{1 << 30});
  const int chunks = (batch - 1) / static_cast<int>(fits) + 1;
  return (batch - 1) / chunks + 1;
}

}  // namespace convladder

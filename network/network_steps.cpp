#include "network/network_steps.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <stdexcept>

#include "network/layer_operators.hpp"
#include "network/weights.hpp"

namespace convladder {

namespace {

/// The accuracy that is asked of a library's step: convolutions in float32's class, sums of fully connected layers in
/// one chain (variants/fully_connected/cpu/onednn_fully_connected.cpp), tanh and softmax by the library's own
/// polynomials.
double library_tolerance(const NetworkStep& step) {
  constexpr double kProduct = 5e-6;
  constexpr double kElementwise = 2e-6;
  if (step.is_fully_connected()) return kProduct;
  if (step.kind != StepKind::layer_operator) return kFloat32Tolerance;
  const bool exact = step.source->type == LayerType::max_pool || step.source->type == LayerType::relu;
  return exact ? 0 : kElementwise;
}

}  // namespace

double NetworkStep::tolerance() const { return variant == nullptr ? library_tolerance(*this) : variant->tolerance(); }

ProblemTensors step_tensors(const ProblemSize& size, const LayerConstants& weights, const float* input, float* output) {
  const Problem& problem = *size.problem;
  ProblemTensors tensors;
  tensors.inputs = {{problem.inputs(size).front(), const_cast<float*>(input)}};  // inputs are only read
  tensors.outputs = {{problem.outputs(size).front(), output}};
  for (const ProblemTensor& constant : problem.constants(size)) {
    const std::span<const float> values = constant.name == "bias" ? weights.bias : weights.weights;
    tensors.constants.push_back({constant, const_cast<float*>(values.data())});
  }
  return tensors;
}

std::string fusion_error(const Network& network, std::size_t layer, const Variant& variant) {
  const std::optional<FusedLayers> fused = fused_layers(network, layer);
  return fused ? variant.unsupported_reason(fused->size) : "it is not followed by tanh or relu";
}

namespace {

class StepList {
 public:
  StepList(const Network& network, const NetworkChoice& choice) : network_(network), choice_(choice) {}

  std::vector<NetworkStep> list() {
    for (std::size_t i = 0; i < network_.layers.size();) i += add_layer(i);
    return std::move(steps_);
  }

  std::vector<NetworkStep> list_of_library(std::string_view library) {
    for (std::size_t i = 0; i < network_.layers.size();) {
      i += add_of_library(i);
      steps_.back().implementation = library;
    }
    return std::move(steps_);
  }

 private:
  NetworkStep& add(std::size_t layer, StepKind kind) {
    NetworkStep& step = steps_.emplace_back();
    step.name = network_.layers[layer].name;
    step.type = "convolution";
    step.layer = layer;
    step.kind = kind;
    step.source = &network_.layers[layer];
    step.output = step.source->output;
    return step;
  }

  static void take(NetworkStep& step, const ProblemVariant& variant) {
    step.implementation = variant.info.name;
    step.variant = variant.variant;
  }

  const ProblemVariant& operator_for(const ProblemSize& size) const {
    const auto chosen = choice_.operators.find(std::string(layer_type_of(*size.problem)));
    if (chosen != choice_.operators.end()) return chosen->second;
    const ProblemVariant* const usual = default_variant(choice_.family, size);
    if (usual != nullptr) return *usual;
    throw std::logic_error(fmt::format("this build has no {} of family {}", size.problem->name(), choice_.family));
  }

  NetworkStep& add_fused(std::size_t layer, const FusedLayers& fused) {
    NetworkStep& step = add(layer, StepKind::fused);
    step.size = fused.size;
    step.output = fused.size.problem->output_image(fused.size);
    for (std::size_t with = 1; with < fused.layers; ++with) {
      step.fused_with.push_back(network_.layers[layer + with].name);
    }
    return step;
  }

  /// Adds the steps of layer i; returns how many layers they do.
  std::size_t add_layer(std::size_t i) {
    const Layer& layer = network_.layers[i];
    if (const auto chosen = choice_.fused.find(i); chosen != choice_.fused.end()) {
      const FusedLayers fused = fused_layers(network_, i).value();
      NetworkStep& step = add_fused(i, fused);
      take(step, chosen->second);
      return fused.layers;
    }
    if (layer.type == LayerType::convolution) {
      const ProblemVariant& variant = choice_.convolutions.at(i);
      NetworkStep& step = add(i, StepKind::convolution);
      step.size = layer.size;
      take(step, variant);
    }
    for (const ProblemSize& size : layer_operators(layer)) {
      NetworkStep& step = add(i, StepKind::layer_operator);
      if (layer.type == LayerType::convolution) step.name += " bias";
      step.type = layer_type_of(*size.problem);
      step.size = size;
      take(step, operator_for(size));
    }
    return 1;
  }

  /// A library does as much in one step as the reference can check.
  std::size_t add_of_library(std::size_t i) {
    const Layer& layer = network_.layers[i];
    const bool connected = layer.type == LayerType::fully_connected;
    const std::optional<FusedLayers> fused = connected ? fused_fully_connected(network_, i) : fused_layers(network_, i);
    std::size_t layers = 1;
    if (fused) {
      if (NetworkStep& step = add_fused(i, *fused); connected) step.type = "fully_connected";
      layers = fused->layers;
    } else if (layer.type == LayerType::convolution) {
      add(i, StepKind::convolution).size = layer.size;
    } else {
      NetworkStep& step = add(i, StepKind::layer_operator);
      step.size = layer_operators(layer).front();
      step.type = layer_type_of(*step.size.problem);
    }
    return layers;
  }

  const Network& network_;
  const NetworkChoice& choice_;
  std::vector<NetworkStep> steps_;
};

}  // namespace

std::vector<NetworkStep> network_steps(const Network& network, const NetworkChoice& choice) {
  if (choice.whole) return library_steps(network, choice.whole->info.name);
  return StepList(network, choice).list();
}

std::vector<NetworkStep> library_steps(const Network& network, std::string_view library) {
  const NetworkChoice choice;
  return StepList(network, choice).list_of_library(library);
}

std::vector<std::string> step_names(const std::vector<NetworkStep>& steps) {
  std::vector<std::string> names;
  for (const NetworkStep& step : steps) names.push_back(step.name);
  return names;
}

std::string unsupported_reason(const std::vector<NetworkStep>& steps, int batch) {
  for (const NetworkStep& step : steps) {
    if (step.variant == nullptr) continue;
    const std::string reason = step.variant->unsupported_reason(step.size.with_batch(batch));
    if (!reason.empty()) return fmt::format("{} ({}): {}", step.name, step.implementation, reason);
  }
  return {};
}

std::string why_untimed(const std::vector<NetworkStep>& steps) {
  for (const NetworkStep& step : steps) {
    const std::string reason = step.variant != nullptr ? step.variant->why_untimed() : "";
    if (!reason.empty()) return fmt::format("{} ({}): not timed: {}", step.name, step.implementation, reason);
  }
  return {};
}

std::string without_own_kernels(const std::vector<NetworkStep>& steps, int batch) {
  for (const NetworkStep& step : steps) {
    if (step.launches_by_itself()) continue;  // the device sees its kernels
    if (step.variant == nullptr || step.variant->launch_plan(step.size.with_batch(batch)).empty()) {
      return fmt::format("{} ({}): its kernels are a library's: there is no PTX of them to execute", step.name,
                         step.implementation);
    }
  }
  return {};
}

std::size_t bytes_per_image(const Network& network) { return 5 * largest_activation(network) * sizeof(float); }

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

int chunk_for_caches(const std::vector<NetworkStep>& steps, int batch) {
  constexpr std::size_t kBytesOfCore = std::size_t{4} << 20;
  constexpr int kFewest = 128;
  constexpr int kWholeVectors = 32;
  std::size_t most = 1;
  for (const NetworkStep& step : steps) most = std::max({most, step.input().elements(), step.output.elements()});
  const std::size_t bytes = static_cast<std::size_t>(omp_get_max_threads()) * kBytesOfCore;
  const auto near = static_cast<int>(std::min<std::size_t>(bytes / (2 * most * sizeof(float)), 1 << 20));
  const int chunk = near / kWholeVectors * kWholeVectors;
  return chunk < kFewest || batch < 2 * chunk ? batch : chunk;
}

}  // namespace convladder

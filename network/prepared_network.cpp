#include "network/prepared_network.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "devices/cpu/other_threads.hpp"

namespace convladder {

NetworkMemory::NetworkMemory(Device& device, const Network& network, int chunk) {
  std::size_t largest = network.input.elements();
  for (const Layer& layer : network.layers) largest = std::max(largest, layer.output.elements());
  for (DeviceBuffer& buffer : activations_) {
    buffer = device.allocate(largest * static_cast<std::size_t>(chunk) * sizeof(float), "activations");
  }
  for (const Layer& layer : network.layers) {
    if (!has_weights(layer)) continue;
    DeviceWeights& of_layer = weights_[layer.name];
    if (layer.type == LayerType::fully_connected) {
      of_layer.weights = device.allocate(layer.input.elements() * layer.output.elements() * sizeof(float),
                                         fmt::format("weights of {}", layer.name));
    }
    if (layer.bias) {
      of_layer.bias = device.allocate(static_cast<std::size_t>(layer.output.channels) * sizeof(float),
                                      fmt::format("bias of {}", layer.name));
    }
  }
}

void NetworkMemory::copy_weights(Device& device, const NetworkWeights& weights) {
  for (auto& [name, on_device] : weights_) {
    const LayerWeights& host = weights.layers.at(name);
    if (on_device.weights.bytes() > 0) {
      device.copy_to_device(on_device.weights.address(), host.weights.data(), on_device.weights.bytes());
    }
    if (on_device.bias.bytes() > 0) {
      device.copy_to_device(on_device.bias.address(), host.bias.data(), on_device.bias.bytes());
    }
  }
}

void PreparedStep::run() const {
  if (whole != nullptr) return whole->run_step(index);
  if (layer_operator != nullptr) return layer_operator->run();
  convolution->load_input();
  convolution->convolve();
  convolution->store_output();
  OtherThreads::rest();  // the next layer is OpenMP's
}

void PreparedNetwork::run() const {
  if (whole != nullptr) return whole->run();
  for (const PreparedStep& step : steps) step.run();
}

namespace {

/// The last step that moves the activations elsewhere; what follows works in place there.
const NetworkStep* last_moving_step(const std::vector<NetworkStep>& steps) {
  const auto last =
      std::find_if(steps.rbegin(), steps.rend(), [](const NetworkStep& step) { return !step.in_place(); });
  return last == steps.rend() ? nullptr : &*last;
}

/// Between its first and last step the library keeps its activations itself.
PreparedNetwork prepare_whole(const std::vector<NetworkStep>& steps, const NetworkWeights& weights,
                              const NetworkMemory& memory, int images, const NetworkEnds& ends) {
  PreparedNetwork prepared;
  float* const scores = ends.output != nullptr ? ends.output : memory.activations(1);
  prepared.whole = steps.front().whole->prepare(steps, weights, images, {ends.input, scores});
  for (const NetworkStep& step : steps) {
    PreparedStep& bound = prepared.steps.emplace_back();
    bound.step = &step;
    bound.whole = prepared.whole.get();
    bound.index = prepared.steps.size() - 1;
  }
  prepared.scores = scores;
  return prepared;
}

}  // namespace

PreparedNetwork prepare_network(Device& device, const std::vector<NetworkStep>& steps, const NetworkWeights& weights,
                                const NetworkMemory& memory, int images, const NetworkEnds& ends) {
  if (!steps.empty() && steps.front().whole != nullptr) return prepare_whole(steps, weights, memory, images, ends);
  PreparedNetwork prepared;
  const NetworkStep* const last_moving = last_moving_step(steps);
  float* at = ends.input;
  for (const NetworkStep& step : steps) {
    PreparedStep& bound = prepared.steps.emplace_back();
    bound.step = &step;
    bound.input = at;
    if (!step.in_place()) at = memory.activations(at == memory.activations(0) ? 1 : 0);
    if (&step == last_moving && ends.output != nullptr) at = ends.output;
    bound.output = at;
    if (step.fused != nullptr) {
      const LayerWeights& of_layer = weights.layers.at(step.source->name);
      bound.layer_operator =
          step.fused->prepare(device, step.fused_shape.with_batch(images),
                              {bound.input, of_layer.weights.data(),
                               step.fused_shape.has_bias ? of_layer.bias.data() : nullptr, bound.output});
      continue;
    }
    if (step.convolution != nullptr) {
      bound.convolution =
          step.convolution->prepare(device, step.source->convolution.with_batch(images),
                                    weights.layers.at(step.source->name).weights.data(), {bound.input, bound.output});
      continue;
    }
    OperatorShape shape = step.shape;
    shape.batch = images;
    OperatorTensors tensors{bound.input, nullptr, nullptr, bound.output};
    if (has_weights(*step.source)) {
      const DeviceWeights& of_layer = memory.of_layer(step.source->name);
      tensors.weights = of_layer.weights.floats();
      tensors.bias = of_layer.bias.floats();
    }
    bound.layer_operator = step.layer_operator->prepare(device, shape, tensors);
  }
  prepared.scores = at;
  return prepared;
}

}  // namespace convladder

#include "network/prepared_network.hpp"

#include <algorithm>

#include "devices/cpu/other_threads.hpp"

namespace convladder {

NetworkMemory::NetworkMemory(Device& device, const Network& network, int chunk) {
  std::size_t largest = network.input.elements();
  for (const Layer& layer : network.layers) largest = std::max(largest, layer.output.elements());
  for (DeviceBuffer& buffer : activations_) {
    buffer = device.allocate(largest * static_cast<std::size_t>(chunk) * sizeof(float), "activations");
  }
}

void PreparedStep::run() const {
  if (whole != nullptr) return whole->run_step(index);
  prepared->load_input();
  prepared->run();
  prepared->store_output();
  if (step->kind == StepKind::convolution) OtherThreads::rest();  // the next layer is OpenMP's
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

/// Prepares a network that a library does as a whole: between its first and last step the library keeps its activations
/// itself.
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
  static const LayerWeights kNoWeights;
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
    const ProblemSize size = step.size.with_batch(images);
    const LayerWeights& of_layer = has_weights(*step.source) ? weights.layers.at(step.source->name) : kNoWeights;
    bound.prepared = step.variant->prepare(device, size, step_tensors(size, of_layer, bound.input, bound.output));
  }
  prepared.scores = at;
  return prepared;
}

}  // namespace convladder

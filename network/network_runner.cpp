#include "network/network_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include "devices/nvtx_range.hpp"

namespace convladder {
namespace {

/// The host's clock and what was done by it.
class PassLog {
 public:
  explicit PassLog(std::vector<Activity>& activities) : activities_(activities) {}

  template <typename Work>
  void phase(std::string_view name, const Work& work) {
    const NvtxRange range{std::string(name)};
    const double start = now_ns();
    work();
    activities_.push_back({std::string(activity_group::kHost), std::string(name), start, now_ns() - start});
  }
  void step(const std::string& name, double start_ns, double duration_ns) {
    activities_.push_back({std::string(activity_group::kLayers), name, start_ns, duration_ns});
  }
  double now_ns() const {
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::vector<Activity>& activities_;
};

/// A layer's weights on the device. A convolution's are the variant's own affair: it takes them from the host.
struct DeviceWeights {
  DeviceBuffer weights;
  DeviceBuffer bias;
};

/// The memory of a pass.
class PassMemory {
 public:
  PassMemory(Device& device, const Network& network, int chunk) {
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

  void copy_weights(Device& device, const NetworkWeights& weights) {
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

  float* activations(int which) const { return activations_[which].floats(); }
  const DeviceWeights& of_layer(const std::string& name) const { return weights_.at(name); }

 private:
  DeviceBuffer activations_[2];
  std::map<std::string, DeviceWeights> weights_;
};

/// A step bound to its tensors.
struct PreparedStep {
  const NetworkStep* step = nullptr;
  const float* input = nullptr;
  float* output = nullptr;
  std::unique_ptr<PreparedConv> convolution;
  std::unique_ptr<PreparedOperator> layer_operator;

  void run() const {
    if (layer_operator != nullptr) return layer_operator->run();
    convolution->load_input();
    convolution->convolve();
    convolution->store_output();
  }
};

/// All steps for chunks of one size. Images enter in the first buffer; `scores` is where the last step leaves its own.
struct PreparedNetwork {
  std::vector<PreparedStep> steps;
  const float* scores = nullptr;
};

PreparedNetwork prepare_network(Device& device, const std::vector<NetworkStep>& steps, const NetworkWeights& weights,
                                const PassMemory& memory, int images) {
  PreparedNetwork prepared;
  int at = 0;
  for (const NetworkStep& step : steps) {
    PreparedStep& bound = prepared.steps.emplace_back();
    bound.step = &step;
    bound.input = memory.activations(at);
    if (!step.in_place()) at = 1 - at;
    bound.output = memory.activations(at);
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
  prepared.scores = memory.activations(at);
  return prepared;
}

class Pass {
 public:
  Pass(Device& device, const Network& network, const std::vector<NetworkStep>& steps, const NetworkWeights& weights,
       const PassOptions& options, PassResult& result)
      : device_(device),
        network_(network),
        steps_(steps),
        weights_(weights),
        options_(options),
        result_(result),
        log_(result.activities) {
    result_.counters.resize(steps.size());
  }

  void run(const float* images, int count) {
    const double start = log_.now_ns();
    const int chunk = std::min(options_.chunk, count);
    const int rest = count % chunk;
    log_.phase(pass_phase::kAllocate, [&] { memory_.emplace(device_, network_, chunk); });
    log_.phase(pass_phase::kCopyWeights, [&] { memory_->copy_weights(device_, weights_); });
    log_.phase(pass_phase::kPrepare, [&] {
      whole_ = prepare_network(device_, steps_, weights_, *memory_, chunk);
      if (rest > 0) rest_ = prepare_network(device_, steps_, weights_, *memory_, rest);
      device_.wait();
    });
    result_.scores.resize(static_cast<std::size_t>(count) * network_.layers.back().output.elements());
    for (int first = 0; first < count; first += chunk) {
      const int images_now = std::min(chunk, count - first);
      run_chunk(images_now == chunk ? whole_ : rest_, first, images_now, images);
    }
    log_.phase(pass_phase::kFree, [&] {
      whole_ = {};
      rest_ = {};
      memory_.reset();
    });
    result_.total_ns = log_.now_ns() - start;
  }

 private:
  void run_chunk(const PreparedNetwork& network, int first, int images_now, const float* images) {
    const std::size_t image_elements = network_.input.elements();
    const std::size_t classes = network_.layers.back().output.elements();
    log_.phase(pass_phase::kCopyImages, [&] {
      device_.copy_to_device(memory_->activations(0), images + first * image_elements,
                             images_now * image_elements * sizeof(float));
    });
    log_.phase(pass_phase::kLayers, [&] {
      for (std::size_t i = 0; i < network.steps.size(); ++i) run_step(network.steps[i], i, images_now);
    });
    log_.phase(pass_phase::kSynchronize, [&] { device_.wait(); });
    log_.phase(pass_phase::kCopyScores, [&] {
      device_.copy_to_host(result_.scores.data() + first * classes, network.scores,
                           images_now * classes * sizeof(float));
    });
  }

  void run_step(const PreparedStep& prepared, std::size_t index, int images_now) {
    const NetworkStep& step = *prepared.step;
    const NvtxRange range(step.name);
    if (options_.observer != nullptr) options_.observer->before(step, images_now, prepared.input, prepared.output);
    if (options_.time_steps) {
      const double start = log_.now_ns();
      log_.step(step.name, start, device_.time_ns([&] { prepared.run(); }));
    } else {
      prepared.run();
    }
    if (!device_.has_clock()) {
      for (KernelCounters& counters : device_.take_counters()) {
        result_.counters[index].push_back(std::move(counters));
      }
    }
    if (options_.observer == nullptr) return;
    device_.wait();
    options_.observer->after(step, images_now, prepared.output);
  }

  Device& device_;
  const Network& network_;
  const std::vector<NetworkStep>& steps_;
  const NetworkWeights& weights_;
  const PassOptions& options_;
  PassResult& result_;
  PassLog log_;
  std::optional<PassMemory> memory_;  // outlives what is prepared on it
  PreparedNetwork whole_;
  PreparedNetwork rest_;
};

}  // namespace

PassResult run_pass(Device& device, const Network& network, const std::vector<NetworkStep>& steps,
                    const NetworkWeights& weights, const float* images, int count, const PassOptions& options) {
  PassResult result;
  device.take_counters();  // of what came before
  Pass(device, network, steps, weights, options, result).run(images, count);
  return result;
}

double activity_ns(std::span<const Activity> activities, std::string_view group, std::string_view name) {
  double sum = 0;
  for (const Activity& activity : activities) {
    if (activity.group == group && activity.name == name) sum += activity.duration_ns;
  }
  return sum;
}

}  // namespace convladder

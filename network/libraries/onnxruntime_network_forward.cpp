// A rival beside the networks: ONNX Runtime with the network as one model, which is what it was made for.
//
// The model is written in memory, with the weights in it; the runtime fuses what it can, and keeps layouts of its own
// between layers. A step that is run alone is a model of its own, so that every step is verified. A loaded network runs
// the whole model, whose scores are compared with those of the steps.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "devices/cpu/other_threads.hpp"
#include "network/network_problem.hpp"
#include "network/network_steps.hpp"
#include "network/network_variant.hpp"
#include "variants/convolution/cpu/libraries/onnx_model.hpp"
#include "variants/convolution/cpu/libraries/onnxruntime_library.hpp"
#include "variants/convolution/fused/problem.hpp"

namespace convladder {
namespace {

constexpr const char* kName = "onnxruntime-network";
constexpr const char* kInput = "input";
constexpr const char* kOutput = "output";

using Sizes = std::vector<std::int64_t>;

Sizes sizes_of(const ActivationShape& shape, int images) { return {images, shape.channels, shape.height, shape.width}; }

/// The sizes of a step's output: [image][feature] behind a fully connected layer, NCHW elsewhere.
Sizes output_sizes(const NetworkStep& step, int images) {
  if (step.is_fully_connected()) return {images, static_cast<std::int64_t>(step.output.elements())};
  return sizes_of(step.output, images);
}

/// Writes the nodes of steps that follow one another.
class ModelOfSteps {
 public:
  ModelOfSteps(const NetworkProblem& problem, const std::vector<PlacedTensor>& constants)
      : problem_(problem), constants_of_network_(constants) {}

  void add(const NetworkStep& step) {
    if (step.is_fully_connected()) {
      add_fully_connected(step);
      if (step.kind == StepKind::fused) add_elementwise(activation_of(step.size));
    } else if (step.kind == StepKind::layer_operator) {
      add_operator(step);
    } else {
      const bool is_fused = step.kind == StepKind::fused;
      add_convolution(step, is_fused && step.source->bias);
      if (!is_fused) return;
      add_elementwise(activation_of(step.size));
      if (step.output != step.source->output) add_max_pool(step.size);
    }
  }

  std::string bytes(const Sizes& input, const Sizes& output) {
    model_.add_input(kInput, input);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      Node& node = nodes_[i];
      const std::string from = i == 0 ? kInput : fmt::format("after {}", i - 1);
      std::vector<std::string_view> inputs{from};
      inputs.insert(inputs.end(), node.constants.begin(), node.constants.end());
      const std::string to = i + 1 == nodes_.size() ? kOutput : fmt::format("after {}", i);
      model_.add_node(node.operation, inputs, to, node.lists, node.numbers);
    }
    model_.add_output(kOutput, output);
    return model_.bytes();
  }

 private:
  struct Node {
    std::string_view operation;
    std::vector<std::string> constants = {};  ///< its inputs after the first
    std::vector<OnnxModel::Attribute> lists = {};
    std::vector<OnnxModel::Number> numbers = {};
  };

  LayerConstants weights_of(const NetworkStep& step) const {
    return problem_.constants_of(step.layer, constants_of_network_);
  }

  std::string constant(const Sizes& sizes, std::span<const float> values) {
    std::string name = fmt::format("constant {}", constants_++);
    model_.add_constant(name, sizes, values);
    return name;
  }

  void add_convolution(const NetworkStep& step, bool has_bias) {
    const Layer& layer = *step.source;
    const LayerConstants of_layer = weights_of(step);
    const int kernel = layer.size.at("kernel");
    const int stride = layer.size.at("stride");
    const int padding = layer.size.at("padding");
    Node node{.operation = "Conv",
              .constants = {constant(weight_shape(layer), of_layer.weights)},
              .lists = {{"kernel_shape", {kernel, kernel}},
                        {"strides", {stride, stride}},
                        {"pads", {padding, padding, padding, padding}}},
              .numbers = {{"group", layer.size.at("groups")}}};
    if (has_bias) node.constants.push_back(constant({layer.output.channels}, of_layer.bias));
    nodes_.push_back(std::move(node));
  }

  void add_fully_connected(const NetworkStep& step) {
    const Layer& layer = *step.source;
    const LayerConstants of_layer = weights_of(step);
    const auto outputs = static_cast<std::int64_t>(layer.output.elements());
    nodes_.push_back({.operation = "Flatten", .numbers = {{"axis", 1}}});
    Node node{.operation = "Gemm",
              .constants = {constant({outputs, static_cast<std::int64_t>(layer.input.elements())}, of_layer.weights)},
              .numbers = {{"transB", 1}}};
    if (layer.bias) node.constants.push_back(constant({outputs}, of_layer.bias));
    nodes_.push_back(std::move(node));
  }

  void add_elementwise(Activation activation) {
    nodes_.push_back({.operation = activation == Activation::tanh ? "Tanh" : "Relu"});
  }

  /// `of` is the size of a max pooling, or of a fused convolution with one.
  void add_max_pool(const ProblemSize& of) {
    const int size = of.at("pool_size");
    const int stride = of.at("pool_stride");
    nodes_.push_back(
        {.operation = "MaxPool", .lists = {{"kernel_shape", {size, size}}, {"strides", {stride, stride}}}});
  }

  void add_operator(const NetworkStep& step) {
    const Layer& layer = *step.source;
    switch (layer.type) {
      case LayerType::max_pool:
        return add_max_pool(layer.size);
      case LayerType::tanh:
        return add_elementwise(Activation::tanh);
      case LayerType::relu:
        return add_elementwise(Activation::relu);
      case LayerType::softmax:  // over all that is behind the images
        return nodes_.push_back({.operation = "Softmax", .numbers = {{"axis", 1}}});
      case LayerType::convolution:  // its bias
        return nodes_.push_back(
            {.operation = "Add", .constants = {constant({layer.output.channels, 1, 1}, weights_of(step).bias)}});
      case LayerType::fully_connected:
        return add_fully_connected(step);
    }
  }

  const NetworkProblem& problem_;
  const std::vector<PlacedTensor>& constants_of_network_;
  OnnxModel model_;
  std::vector<Node> nodes_;
  int constants_ = 0;
};

class OnnxRuntimeForward final : public PreparedVariant {
 public:
  OnnxRuntimeForward(const ProblemSize& size, const ProblemTensors& tensors)
      : problem_(network_problem(size)),
        steps_(library_steps(problem_.network(), kName)),
        images_(size.batch),
        tensors_(tensors) {
    for (std::size_t i = 0; i + 1 < steps_.size(); ++i) {
      between_.emplace_back(steps_[i].output.elements() * static_cast<std::size_t>(images_));
    }
    for (std::size_t i = 0; i < steps_.size(); ++i) sessions_.push_back(session(i, i + 1, model(i, i + 1)));
    whole_model_ = model(0, steps_.size());
  }

  std::vector<std::string> parts() const override { return step_names(steps_); }
  void run_part(std::size_t step) override { sessions_[step]->run(); }
  void run() override {
    if (whole_ == nullptr) whole_ = session(0, steps_.size(), std::exchange(whole_model_, {}));
    whole_->run();
  }
  float* part_output(std::size_t step) override { return output(step); }

 private:
  float* output(std::size_t step) { return step + 1 == steps_.size() ? tensors_.output() : between_[step].data(); }

  /// The sizes of the output of the steps from `first` on to the one before `end`.
  Sizes sizes_behind(std::size_t first, std::size_t end) const {
    // A softmax behind a fully connected layer of the same model has rows of features.
    const bool is_flat =
        std::any_of(steps_.begin() + static_cast<std::ptrdiff_t>(first),
                    steps_.begin() + static_cast<std::ptrdiff_t>(end), std::mem_fn(&NetworkStep::is_fully_connected));
    if (is_flat) return {images_, static_cast<std::int64_t>(steps_[end - 1].output.elements())};
    return output_sizes(steps_[end - 1], images_);
  }

  /// Those steps as a model, with their weights in it.
  std::string model(std::size_t first, std::size_t end) const {
    ModelOfSteps model(problem_, tensors_.constants);
    for (std::size_t i = first; i < end; ++i) model.add(steps_[i]);
    return model.bytes(sizes_of(steps_[first].input(), images_), sizes_behind(first, end));
  }

  std::unique_ptr<OnnxRuntimeSession> session(std::size_t first, std::size_t end, const std::string& bytes) {
    // The library takes its input as void*, but only reads it.
    float* const input = first == 0 ? const_cast<float*>(tensors_.input()) : output(first - 1);
    return std::make_unique<OnnxRuntimeSession>(bytes, omp_get_max_threads(),
                                                OnnxTensor{kInput, sizes_of(steps_[first].input(), images_), input},
                                                OnnxTensor{kOutput, sizes_behind(first, end), output(end - 1)});
  }

  const NetworkProblem& problem_;
  std::vector<NetworkStep> steps_;
  int images_;
  ProblemTensors tensors_;
  std::vector<std::vector<float>> between_;  ///< the outputs of each step but the last
  std::vector<std::unique_ptr<OnnxRuntimeSession>> sessions_;
  std::string whole_model_;
  std::unique_ptr<OnnxRuntimeSession> whole_;  ///< made when it is first asked for: a pass runs the steps
  OtherThreads others_;                        // told to spin no longer than OpenMP's
};

class OnnxRuntimeNetworkForward final : public Variant {
 public:
  std::string unsupported_reason(const ProblemSize& size) const override {
    const std::string& missing = onnxruntime_library().missing;
    if (missing.empty()) return {};
    return fmt::format("{} ({}): {}", library_steps(network_problem(size).network(), kName).front().name, kName,
                       missing);
  }
  std::unique_ptr<PreparedVariant> prepare(Device& /*device*/, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    return std::make_unique<OnnxRuntimeForward>(size, tensors);
  }
  std::vector<VariantPart> parts(const ProblemSize& size) const override {
    const NetworkProblem& problem = network_problem(size);
    return network_parts(problem, library_steps(problem.network(), kName));
  }
};

const OnnxRuntimeNetworkForward forward;

const VariantRegistration registration(
    kWholeNetworks,
    {.family = "cpu",
     .rung = std::nullopt,
     .name = kName,
     .title = "ONNX Runtime, the whole network",
     .builds_on = "",
     .hypothesis = "What a program gets that leaves its network to a runtime: nodes fused, layouts kept in between."},
    forward);

}  // namespace
}  // namespace convladder

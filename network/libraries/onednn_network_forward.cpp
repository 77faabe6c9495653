// The networks' ceiling on the CPU: oneDNN from the images to the scores, as its own examples of inference do it.
//
// Bias and activation are part of the convolution's or the inner product's primitive (post-ops), every primitive is
// asked for its layout (format_tag::any) and hands it to the next, and everything is made once: memory, reordered
// weights, primitives. Where two neighbours want different layouts there is a reorder between them, as part of the
// second. It loses where a layer's shape does not suit blocks of 16 channels, as with one input channel, and since it
// pools only after it has written all of a convolution.
#include <fmt/format.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>

#include "devices/device_error.hpp"
#include "network/network_problem.hpp"
#include "network/network_steps.hpp"
#include "network/network_variant.hpp"
#include "variants/convolution/cpu/libraries/onednn_convolution.hpp"
#include "variants/convolution/fused/problem.hpp"
#include "variants/onednn_description.hpp"

namespace convladder {
namespace {

using dnnl::memory;

constexpr const char* kName = "onednn-network";
constexpr auto kInference = dnnl::prop_kind::forward_inference;

/// A description that leaves the layout to the primitive.
memory::desc any_layout(const memory::dims& dimensions) {
  return {dimensions, memory::data_type::f32, memory::format_tag::any};
}

memory::desc plain_layout(const memory::dims& dimensions) {
  const auto tag = dimensions.size() == 2 ? memory::format_tag::ab : memory::format_tag::abcd;
  return {dimensions, memory::data_type::f32, tag};
}

memory::desc vector_of(int elements) { return {{elements}, memory::data_type::f32, memory::format_tag::x}; }

dnnl::algorithm algorithm_of(Activation activation) {
  return activation == Activation::tanh ? dnnl::algorithm::eltwise_tanh : dnnl::algorithm::eltwise_relu;
}

dnnl::primitive_attr with_activation(std::optional<Activation> activation) {
  dnnl::primitive_attr attributes;
  if (!activation) return attributes;
  dnnl::post_ops operations;
#if DNNL_VERSION_MAJOR < 3
  operations.append_eltwise(1.0F, algorithm_of(*activation), 0, 0);
#else
  operations.append_eltwise(algorithm_of(*activation), 0, 0);
#endif
  attributes.set_post_ops(operations);
  return attributes;
}

class OnednnForward final : public PreparedVariant {
 public:
  OnednnForward(const ProblemSize& size, const ProblemTensors& tensors)
      : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_), images_(size.batch) {
    const NetworkProblem& problem = network_problem(size);
    const ActivationShape in = problem.input_image(size);
    // oneDNN takes its sources as void*, but only reads them.
    current_ = memory(nchw(images_, in.channels, in.height, in.width), engine_, const_cast<float*>(tensors.input()));
    const std::vector<NetworkStep> steps = library_steps(problem.network(), kName);
    names_ = step_names(steps);
    for (const NetworkStep& step : steps) {
      steps_.emplace_back();
      add(step, problem.constants_of(step.layer, tensors.constants));
      if (&step == &steps.back()) leave_scores(tensors.output());
      steps_.back().output = current_;
    }
  }

  std::vector<std::string> parts() const override { return names_; }
  void run_part(std::size_t step) override {
    for (const Primitive& one : steps_[step].primitives) one.primitive.execute(stream_, one.arguments);
    stream_.wait();
  }
  void run() override {
    for (const Step& step : steps_) {
      for (const Primitive& one : step.primitives) one.primitive.execute(stream_, one.arguments);
    }
    stream_.wait();
  }
  void write_part(std::size_t step, const float* nchw) override {
    memory& output = steps_[step].output;
    memory from(plain_layout(onednn_sizes(output.get_desc())), engine_, const_cast<float*>(nchw));
    reorder_now(from, output);
  }
  void read_part(std::size_t step, float* nchw) override {
    memory& output = steps_[step].output;
    memory to(plain_layout(onednn_sizes(output.get_desc())), engine_, nchw);
    reorder_now(output, to);
  }

 private:
  using Arguments = std::unordered_map<int, memory>;
  struct Primitive {
    dnnl::primitive primitive;
    Arguments arguments;
  };
  struct Step {
    std::vector<Primitive> primitives;
    memory output;
  };

  memory::dims sizes() const { return onednn_sizes(current_.get_desc()); }

  void add(const NetworkStep& step, const LayerConstants& of_layer) {
    if (step.is_fully_connected()) {
      std::optional<Activation> activation;
      if (step.kind == StepKind::fused) activation = activation_of(step.size);
      return add_inner_product(*step.source, of_layer, activation);
    }
    if (step.kind == StepKind::layer_operator) return add_operator(*step.source);
    if (step.kind == StepKind::convolution) return add_convolution(*step.source, of_layer, false, std::nullopt);
    add_convolution(*step.source, of_layer, step.source->bias, activation_of(step.size));
    if (step.output != step.source->output) add_max_pool(step.output, step.size);
  }

  void add_convolution(const Layer& of, const LayerConstants& weights, bool has_bias,
                       std::optional<Activation> activation) {
    const OnednnLayer layer = onednn_layer(of.size.with_batch(images_));
    const memory::desc source = any_layout(sizes());
    const memory::desc filters = any_layout(onednn_sizes(layer.weights));
    const memory::desc output = any_layout(onednn_sizes(layer.output));
    const memory::desc bias = has_bias ? vector_of(of.output.channels) : memory::desc();
    const auto description = onednn_description_with<dnnl::convolution_forward>(
        with_activation(activation), engine_,
        std::tuple(kInference, dnnl::algorithm::convolution_direct, source, filters, bias, output, layer.strides,
                   layer.padding, layer.padding_at_end));
    add_weighted<dnnl::convolution_forward>(description, layer.weights, weights, has_bias);
  }

  void add_inner_product(const Layer& layer, const LayerConstants& weights, std::optional<Activation> activation) {
    memory::dims filter = sizes();
    filter[0] = layer.output.channels;
    const memory::desc plain = plain_layout(filter);
    const memory::desc bias = layer.bias ? vector_of(layer.output.channels) : memory::desc();
    const auto description = onednn_description_with<dnnl::inner_product_forward>(
        with_activation(activation), engine_,
        std::tuple(kInference, any_layout(sizes()), any_layout(filter), bias,
                   any_layout({images_, layer.output.channels})));
    add_weighted<dnnl::inner_product_forward>(description, plain, weights, layer.bias);
  }

  template <typename Forward>
  void add_weighted(const typename Forward::primitive_desc& description, const memory::desc& plain,
                    const LayerConstants& weights, bool has_bias) {
    Arguments arguments{{DNNL_ARG_SRC, in_layout(current_, description.src_desc())},
                        {DNNL_ARG_WEIGHTS, constant(plain, weights.weights, description.weights_desc())}};
    if (has_bias) {
      arguments[DNNL_ARG_BIAS] = constant(description.bias_desc(), weights.bias, description.bias_desc());
    }
    current_ = arguments[DNNL_ARG_DST] = memory(description.dst_desc(), engine_);
    add(Forward(description), std::move(arguments));
  }

  /// `size` is of a max pooling, or of a fused convolution with one.
  void add_max_pool(const ActivationShape& to, const ProblemSize& size) {
    const memory::dims none{0, 0};
    const memory::dims strides(2, size.at("pool_stride"));
    const memory::dims window(2, size.at("pool_size"));
#if DNNL_VERSION_MAJOR < 3
    const std::tuple padding(none, none);
#else
    const std::tuple padding(none, none, none);  // no dilation
#endif
    const auto description = onednn_description<dnnl::pooling_forward>(
        engine_, std::tuple_cat(std::tuple(kInference, dnnl::algorithm::pooling_max, current_.get_desc(),
                                           any_layout({images_, to.channels, to.height, to.width}), strides, window),
                                padding));
    const memory output(description.dst_desc(), engine_);
    add(dnnl::pooling_forward(description), {{DNNL_ARG_SRC, current_}, {DNNL_ARG_DST, output}});
    current_ = output;
  }

  /// tanh, ReLU and softmax work in place, as the program's own steps do.
  void add_operator(const Layer& layer) {
    if (layer.type == LayerType::max_pool) return add_max_pool(layer.output, layer.size);
    const memory::desc description = current_.get_desc();
    const Arguments arguments{{DNNL_ARG_SRC, current_}, {DNNL_ARG_DST, current_}};
    if (layer.type == LayerType::softmax) {
      // Over the channels: there is one row and one column.
#if DNNL_VERSION_MAJOR < 3
      const std::tuple softmax_of(kInference, description, 1);
#else
      const std::tuple softmax_of(kInference, dnnl::algorithm::softmax_accurate, description, description, 1);
#endif
      const auto softmax = onednn_description<dnnl::softmax_forward>(engine_, softmax_of);
      return add(dnnl::softmax_forward(softmax), arguments);
    }
    const dnnl::algorithm algorithm = algorithm_of(layer.type == LayerType::tanh ? Activation::tanh : Activation::relu);
#if DNNL_VERSION_MAJOR < 3
    const std::tuple elementwise_of(kInference, algorithm, description, 0.0F, 0.0F);
#else
    const std::tuple elementwise_of(kInference, algorithm, description, description, 0.0F, 0.0F);
#endif
    const auto elementwise = onednn_description<dnnl::eltwise_forward>(engine_, elementwise_of);
    add(dnnl::eltwise_forward(elementwise), arguments);
  }

  /// The last step's output goes to the caller as [image][class].
  void leave_scores(float* to) {
    const memory scores(plain_layout(sizes()), engine_, to);
    add(dnnl::reorder(current_, scores), {{DNNL_ARG_FROM, current_}, {DNNL_ARG_TO, scores}});
    current_ = scores;
  }

  void add(const dnnl::primitive& primitive, Arguments arguments) {
    steps_.back().primitives.push_back({primitive, std::move(arguments)});
  }

  /// `from` in the layout `wanted`: itself, or the result of a reorder.
  memory in_layout(const memory& from, const memory::desc& wanted) {
    if (from.get_desc() == wanted) return from;
    const memory to(wanted, engine_);
    add(dnnl::reorder(from, to), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
    return to;
  }

  memory constant(const memory::desc& plain, std::span<const float> values, const memory::desc& wanted) {
    memory from(plain, engine_, const_cast<float*>(values.data()));
    memory to(wanted, engine_);
    reorder_now(from, to);
    return to;
  }

  void reorder_now(memory& from, memory& to) {
    dnnl::reorder(from, to).execute(stream_, from, to);
    stream_.wait();
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  int images_;
  memory current_;  ///< the output of the steps so far
  std::vector<std::string> names_;
  std::vector<Step> steps_;
};

class OnednnNetworkForward final : public Variant {
 public:
  std::string unsupported_reason(const ProblemSize& size) const override {
    for (const NetworkStep& step : library_steps(network_problem(size).network(), kName)) {
      const std::string reason = unsupported_step(step);
      if (!reason.empty()) return fmt::format("{} ({}): {}", step.name, kName, reason);
    }
    return {};
  }
  std::unique_ptr<PreparedVariant> prepare(Device& /*device*/, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    try {
      return std::make_unique<OnednnForward>(size, tensors);
    } catch (const dnnl::error& error) {
      throw DeviceError(fmt::format("oneDNN's network: {}", error.what()));
    }
  }
  std::vector<VariantPart> parts(const ProblemSize& size) const override {
    const NetworkProblem& problem = network_problem(size);
    return network_parts(problem, library_steps(problem.network(), kName));
  }

 private:
  static std::string unsupported_step(const NetworkStep& step) {
    if (step.kind == StepKind::convolution && step.source->bias) return "a convolution with a bias and no activation";
    if (step.kind != StepKind::layer_operator || step.source->type != LayerType::softmax) return {};
    const ActivationShape& of = step.input();
    return of.height * of.width == 1 ? std::string() : "a softmax over more than channels";
  }
};

const OnednnNetworkForward forward;

const VariantRegistration registration(
    kWholeNetworks,
    {.family = "cpu",
     .rung = std::nullopt,
     .name = kName,
     .title = "oneDNN, the whole network",
     .builds_on = "",
     .hypothesis = "The library at its best in a network: activations in its primitives, its own layouts in between."},
    forward);

}  // namespace
}  // namespace convladder

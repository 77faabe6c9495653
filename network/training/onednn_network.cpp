#include "network/training/onednn_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "variants/convolution/cpu/libraries/onednn_convolution.hpp"
#include "variants/onednn_description.hpp"

namespace convladder {
namespace {

using dnnl::memory;
using dnnl::prop_kind;

/// A description that leaves the layout to the primitive.
memory::desc any_layout(const memory::desc& description) {
  return {onednn_sizes(description), memory::data_type::f32, memory::format_tag::any};
}

memory::desc plain_vector(std::int64_t elements) { return {{elements}, memory::data_type::f32, memory::format_tag::x}; }

/// The program's own layout of a fully connected layer's weights: [out][in], the input with the dimensions that the
/// layer before gives it.
memory::desc plain_fully_connected(const Layer& layer, const memory::desc& source) {
  memory::dims dimensions = onednn_sizes(source);
  dimensions[0] = layer.output.channels;
  const auto tag = dimensions.size() == 2 ? memory::format_tag::ab : memory::format_tag::abcd;
  return {dimensions, memory::data_type::f32, tag};
}

/// The primitives of a layer with weights.
struct ConvolutionPrimitives {
  using Forward = dnnl::convolution_forward;
  using BackwardWeights = dnnl::convolution_backward_weights;
  using BackwardData = dnnl::convolution_backward_data;
};
struct FullyConnectedPrimitives {
  using Forward = dnnl::inner_product_forward;
  using BackwardWeights = dnnl::inner_product_backward_weights;
  using BackwardData = dnnl::inner_product_backward_data;
};

}  // namespace

OnednnNetwork::OnednnNetwork(const Network& network, int batch, const NetworkWeights& weights)
    : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
  build(network, batch, weights);
}

void OnednnNetwork::build(const Network& network, int batch, const NetworkWeights& weights) {
  input_ = new_memory(nchw(batch, network.input.channels, network.input.height, network.input.width));
  memory current = input_;
  for (const Layer& layer : network.layers) {
    if (layer.type != LayerType::softmax) current = add_layer(layer, current, weights);
  }

  const memory::desc plain_outputs{
      {batch, network.layers.back().output.channels}, memory::data_type::f32, memory::format_tag::ab};
  const memory::desc outputs = onednn_sizes(current.get_desc()).size() == 2
                                   ? plain_outputs
                                   : nchw(batch, network.layers.back().output.channels, 1, 1);
  current = in_layout(current, outputs, forward_);
  probabilities_ = new_memory(outputs);
#if DNNL_VERSION_MAJOR < 3
  const std::tuple softmax_of(prop_kind::forward_inference, outputs, 1);
#else
  const std::tuple softmax_of(prop_kind::forward_inference, dnnl::algorithm::softmax_accurate, outputs, outputs, 1);
#endif
  const auto softmax = onednn_description<dnnl::softmax_forward>(engine_, softmax_of);
  forward_.push_back({dnnl::softmax_forward(softmax), {{DNNL_ARG_SRC, current}, {DNNL_ARG_DST, probabilities_}}});

  loss_gradient_ = new_memory(outputs);
  memory gradient = loss_gradient_;
  for (auto layer = add_backward_.rbegin(); layer != add_backward_.rend(); ++layer) gradient = (*layer)(gradient);
}

memory OnednnNetwork::add_layer(const Layer& layer, const memory& source, const NetworkWeights& weights) {
  switch (layer.type) {
    case LayerType::convolution:
      return add_convolution(layer, source, weights.layers.at(layer.name));
    case LayerType::fully_connected:
      return add_fully_connected(layer, source, weights.layers.at(layer.name));
    case LayerType::max_pool:
      return add_max_pool(layer, source);
    case LayerType::tanh:
    case LayerType::relu:
    case LayerType::softmax:
      break;
  }
  return add_activation(layer, source);
}

memory OnednnNetwork::add_convolution(const Layer& layer, const memory& source, const LayerWeights& weights) {
  const auto& [plain_input, plain, plain_output, strides, padding, end] =
      onednn_layer(layer.size.with_batch(static_cast<int>(onednn_sizes(source.get_desc())[0])));
  const auto algorithm = dnnl::algorithm::convolution_direct;
  const memory::desc bias = layer.bias ? plain_vector(layer.output.channels) : memory::desc();
  const memory::desc input = any_layout(source.get_desc());
  const memory::desc filters = any_layout(plain);
  const memory::desc output = any_layout(plain_output);
  return add_weighted<ConvolutionPrimitives>(
      layer, source, weights, plain, bias,
      std::tuple(prop_kind::forward_training, algorithm, input, filters, bias, output, strides, padding, end),
      std::tuple(algorithm, input, filters, bias, output, strides, padding, end),
      std::tuple(algorithm, input, filters, output, strides, padding, end));
}

memory OnednnNetwork::add_fully_connected(const Layer& layer, const memory& source, const LayerWeights& weights) {
  const memory::desc plain = plain_fully_connected(layer, source.get_desc());
  const memory::desc bias = layer.bias ? plain_vector(layer.output.channels) : memory::desc();
  const memory::desc input = any_layout(source.get_desc());
  const memory::desc matrix = any_layout(plain);
  const memory::desc output{
      {onednn_sizes(source.get_desc())[0], layer.output.channels}, memory::data_type::f32, memory::format_tag::any};
  return add_weighted<FullyConnectedPrimitives>(
      layer, source, weights, plain, bias, std::tuple(prop_kind::forward_training, input, matrix, bias, output),
      std::tuple(input, matrix, bias, output), std::tuple(input, matrix, output));
}

template <typename Primitives, typename Forward, typename BackwardWeights, typename BackwardData>
memory OnednnNetwork::add_weighted(const Layer& layer, const memory& source, const LayerWeights& weights,
                                   const memory::desc& plain, const memory::desc& bias, const Forward& forward_of,
                                   const BackwardWeights& weights_of, const BackwardData& data_of) {
  const auto forward = onednn_description<typename Primitives::Forward>(engine_, forward_of);
  const memory input = in_layout(source, forward.src_desc(), forward_);
  const memory output = new_memory(forward.dst_desc());
  const std::size_t weight = add_parameter(layer, false, plain, forward.weights_desc(), weights.weights);
  const std::size_t bias_at = layer.bias ? add_parameter(layer, true, bias, bias, weights.bias) : weight;
  Arguments arguments{{DNNL_ARG_SRC, input}, {DNNL_ARG_WEIGHTS, parameters_[weight].value}, {DNNL_ARG_DST, output}};
  if (layer.bias) arguments[DNNL_ARG_BIAS] = parameters_[bias_at].value;
  forward_.push_back({typename Primitives::Forward(forward), arguments});

  const bool first = add_backward_.empty();
  add_backward_.emplace_back([=, this](const memory& gradient) {
    const auto of_weights = onednn_description<typename Primitives::BackwardWeights>(engine_, weights_of, forward);
    const memory raw = new_memory(of_weights.diff_weights_desc());
    Arguments weight_arguments{{DNNL_ARG_SRC, in_layout(input, of_weights.src_desc(), backward_)},
                               {DNNL_ARG_DIFF_DST, in_layout(gradient, of_weights.diff_dst_desc(), backward_)},
                               {DNNL_ARG_DIFF_WEIGHTS, raw}};
    if (layer.bias) weight_arguments[DNNL_ARG_DIFF_BIAS] = parameters_[bias_at].gradient;
    backward_.push_back({typename Primitives::BackwardWeights(of_weights), weight_arguments});
    parameters_[weight].gradient = in_layout(raw, parameters_[weight].value.get_desc(), backward_);
    if (first) return memory();  // nobody asks for the images' gradient

    const auto of_data = onednn_description<typename Primitives::BackwardData>(engine_, data_of, forward);
    const memory input_gradient = new_memory(of_data.diff_src_desc());
    const memory output_gradient = in_layout(gradient, of_data.diff_dst_desc(), backward_);
    const memory data_weights = in_layout(parameters_[weight].value, of_data.weights_desc(), backward_);
    backward_.push_back({typename Primitives::BackwardData(of_data),
                         {{DNNL_ARG_DIFF_DST, output_gradient},
                          {DNNL_ARG_WEIGHTS, data_weights},
                          {DNNL_ARG_DIFF_SRC, input_gradient}}});
    return input_gradient;
  });
  return output;
}

memory OnednnNetwork::add_activation(const Layer& layer, const memory& source) {
  const auto algorithm = layer.type == LayerType::tanh ? dnnl::algorithm::eltwise_tanh_use_dst_for_bwd
                                                       : dnnl::algorithm::eltwise_relu_use_dst_for_bwd;
  const memory::desc description = source.get_desc();
#if DNNL_VERSION_MAJOR < 3
  const std::tuple forward_of(prop_kind::forward_training, algorithm, description, 0.0F, 0.0F);
  const std::tuple backward_of(algorithm, description, description, 0.0F, 0.0F);
#else
  const std::tuple forward_of(prop_kind::forward_training, algorithm, description, description, 0.0F, 0.0F);
  const std::tuple backward_of(algorithm, description, description, description, 0.0F, 0.0F);
#endif
  const auto forward = onednn_description<dnnl::eltwise_forward>(engine_, forward_of);
  const memory output = new_memory(description);
  forward_.push_back({dnnl::eltwise_forward(forward), {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, output}}});

  add_backward_.emplace_back([=, this](const memory& gradient) {
    const auto backward = onednn_description<dnnl::eltwise_backward>(engine_, backward_of, forward);
    const memory source_gradient = new_memory(description);
    const memory output_gradient = in_layout(gradient, description, backward_);
    backward_.push_back(
        {dnnl::eltwise_backward(backward),
         {{DNNL_ARG_DST, output}, {DNNL_ARG_DIFF_DST, output_gradient}, {DNNL_ARG_DIFF_SRC, source_gradient}}});
    return source_gradient;
  });
  return output;
}

memory OnednnNetwork::add_max_pool(const Layer& layer, const memory& source) {
  const auto batch = static_cast<int>(onednn_sizes(source.get_desc())[0]);
  const int size = layer.size.at("pool_size");
  const int stride = layer.size.at("pool_stride");
  const memory::dims strides{stride, stride};
  const memory::dims kernel{size, size};
  const memory::dims no_padding{0, 0};
  const auto algorithm = dnnl::algorithm::pooling_max;
  const memory::desc any_output =
      any_layout(nchw(batch, layer.output.channels, layer.output.height, layer.output.width));
  const auto described = [&](const auto& first, const memory::desc& from, const memory::desc& to) {
#if DNNL_VERSION_MAJOR < 3
    const std::tuple window(strides, kernel, no_padding, no_padding);
#else
    const memory::dims no_dilation{0, 0};
    const std::tuple window(strides, kernel, no_dilation, no_padding, no_padding);
#endif
    return std::tuple_cat(first, std::tuple(from, to), window);
  };
  const auto forward = onednn_description<dnnl::pooling_forward>(
      engine_, described(std::tuple(prop_kind::forward_training, algorithm), source.get_desc(), any_output));
  const memory output = new_memory(forward.dst_desc());
  const memory places = new_memory(forward.workspace_desc());  // which of its inputs each output is
  forward_.push_back(
      {dnnl::pooling_forward(forward), {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, output}, {DNNL_ARG_WORKSPACE, places}}});

  const auto backward_of = described(std::tuple(algorithm), source.get_desc(), output.get_desc());
  add_backward_.emplace_back([=, this](const memory& gradient) {
    const auto backward = onednn_description<dnnl::pooling_backward>(engine_, backward_of, forward);
    const memory source_gradient = new_memory(backward.diff_src_desc());
    const memory output_gradient = in_layout(gradient, backward.diff_dst_desc(), backward_);
    backward_.push_back(
        {dnnl::pooling_backward(backward),
         {{DNNL_ARG_DIFF_DST, output_gradient}, {DNNL_ARG_WORKSPACE, places}, {DNNL_ARG_DIFF_SRC, source_gradient}}});
    return source_gradient;
  });
  return output;
}

memory OnednnNetwork::in_layout(const memory& from, const memory::desc& wanted, Steps& steps) {
  if (from.get_desc() == wanted) return from;
  const memory to = new_memory(wanted);
  const dnnl::reorder::primitive_desc description(engine_, from.get_desc(), engine_, wanted);
  steps.push_back({dnnl::reorder(description), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}});
  return to;
}

std::size_t OnednnNetwork::add_parameter(const Layer& layer, bool is_bias, const memory::desc& plain,
                                         const memory::desc& wanted, const std::vector<float>& values) {
  memory from = new_memory(plain);
  std::ranges::copy(values, floats(from).begin());
  Parameter parameter{layer.name, is_bias, plain, new_memory(wanted), new_memory(wanted), new_memory(wanted)};
  dnnl::reorder(from, parameter.value).execute(stream_, from, parameter.value);
  stream_.wait();
  parameters_.push_back(std::move(parameter));
  return parameters_.size() - 1;
}

memory OnednnNetwork::new_memory(const memory::desc& description) {
  memory fresh(description, engine_);
  std::memset(fresh.get_data_handle(), 0, description.get_size());
  return fresh;
}

std::span<float> OnednnNetwork::floats(const memory& of) {
  return {static_cast<float*>(of.get_data_handle()), of.get_desc().get_size() / sizeof(float)};
}

void OnednnNetwork::execute(const Steps& steps) {
  for (const Step& step : steps) step.primitive.execute(stream_, step.arguments);
  stream_.wait();
}

void OnednnNetwork::forward() { execute(forward_); }

double OnednnNetwork::backward(std::span<const std::uint8_t> labels) {
  const std::span<const float> probability = floats(probabilities_);
  const std::span<float> gradient = floats(loss_gradient_);
  const std::size_t classes = probability.size() / labels.size();
  const float share = 1.0F / static_cast<float>(labels.size());
  std::ranges::transform(probability, gradient.begin(), [share](float p) { return p * share; });
  double loss = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::size_t right = i * classes + labels[i];
    gradient[right] -= share;
    loss -= std::log(std::max(probability[right], std::numeric_limits<float>::min()));
  }
  execute(backward_);
  return loss / static_cast<double>(labels.size());
}

void OnednnNetwork::update(float learning_rate, float momentum) {
  for (const Parameter& parameter : parameters_) {
    float* const value = floats(parameter.value).data();
    float* const velocity = floats(parameter.velocity).data();
    const float* const gradient = floats(parameter.gradient).data();
    const std::size_t elements = floats(parameter.value).size();  // padding included: its gradient is zero
#pragma omp parallel for simd schedule(static)
    for (std::size_t i = 0; i < elements; ++i) {
      velocity[i] = momentum * velocity[i] + gradient[i];
      value[i] -= learning_rate * velocity[i];
    }
  }
}

void OnednnNetwork::change_weights(const std::string& layer, const std::function<void(std::span<float>)>& change) {
  const auto same = [&layer](const Parameter& parameter) { return parameter.layer == layer && !parameter.is_bias; };
  const auto found = std::ranges::find_if(parameters_, same);
  if (found == parameters_.end()) throw std::logic_error(fmt::format("{} has no weights", layer));
  if (found->value.get_desc() == found->plain) return change(floats(found->value));
  memory plain(found->plain, engine_);
  dnnl::reorder(found->value, plain).execute(stream_, found->value, plain);
  stream_.wait();
  change(floats(plain));
  dnnl::reorder(plain, found->value).execute(stream_, plain, found->value);
  stream_.wait();
}

NetworkWeights OnednnNetwork::plain_copy(memory Parameter::*which) {
  NetworkWeights copy;
  for (const Parameter& parameter : parameters_) {
    memory plain = new_memory(parameter.plain);
    memory from = parameter.*which;
    dnnl::reorder(from, plain).execute(stream_, from, plain);
    stream_.wait();
    LayerWeights& layer = copy.layers[parameter.layer];
    (parameter.is_bias ? layer.bias : layer.weights).assign(floats(plain).begin(), floats(plain).end());
  }
  return copy;
}

NetworkWeights OnednnNetwork::weights() { return plain_copy(&Parameter::value); }
NetworkWeights OnednnNetwork::gradients() { return plain_copy(&Parameter::gradient); }

}  // namespace convladder

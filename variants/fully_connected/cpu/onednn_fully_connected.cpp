// The fully connected layer, computed by oneDNN's inner product.
#include <fmt/format.h>

#include <oneapi/dnnl/dnnl.hpp>

#include "devices/device_error.hpp"
#include "variants/layer_shapes.hpp"
#include "variants/onednn_description.hpp"
#include "variants/variant.hpp"

namespace convladder {
namespace {

using dnnl::memory;

/// The library sums a row in one chain. Where no terms cancel, rounding errors add up to some 2^-25 * sqrt(inputs / 3)
/// of the sum: 2.4e-6 for the 20184 inputs of lenet70's, more for the unluckiest output. One lost term would be 5e-5.
constexpr double kTolerance = 5e-6;

memory::desc matrix(int rows, int columns, memory::format_tag tag) {
  return {{rows, columns}, memory::data_type::f32, tag};
}

dnnl::inner_product_forward::primitive_desc describe(const FullyConnectedLayer& layer, const dnnl::engine& engine) {
  constexpr auto inference = dnnl::prop_kind::forward_inference;
  const memory::desc input = matrix(layer.batch, layer.inputs, memory::format_tag::ab);
  const memory::desc weights = matrix(layer.outputs, layer.inputs, memory::format_tag::any);
  const memory::desc output = matrix(layer.batch, layer.outputs, memory::format_tag::ab);
  using InnerProduct = dnnl::inner_product_forward;
  if (!layer.has_bias) {
    return onednn_description<InnerProduct>(engine, std::tuple(inference, input, weights, output));
  }
  const memory::desc bias{{layer.outputs}, memory::data_type::f32, memory::format_tag::x};
  return onednn_description<InnerProduct>(engine, std::tuple(inference, input, weights, bias, output));
}

class PreparedInnerProduct final : public PreparedVariant {
 public:
  // oneDNN takes memory as void*, even if it only reads it. The constants exist only during this call: the weights are
  // reordered, and the bias is copied.
  PreparedInnerProduct(const FullyConnectedLayer& layer, const ProblemTensors& tensors)
      : engine_(dnnl::engine::kind::cpu, 0),
        stream_(engine_),
        description_(describe(layer, engine_)),
        primitive_(description_),
        arguments_{
            {DNNL_ARG_SRC, memory(description_.src_desc(), engine_, const_cast<float*>(tensors.input()))},
            {DNNL_ARG_WEIGHTS, reordered_weights(layer, tensors)},
            {DNNL_ARG_DST, memory(description_.dst_desc(), engine_, tensors.output())},
        } {
    if (!layer.has_bias) return;
    bias_.assign(bias_of(layer, tensors), bias_of(layer, tensors) + layer.outputs);
    arguments_.emplace(DNNL_ARG_BIAS, memory(description_.bias_desc(), engine_, bias_.data()));
  }
  void run() override {
    primitive_.execute(stream_, arguments_);
    stream_.wait();
  }
  std::string choice() const override {
    return fmt::format("oneDNN {}.{}.{} {}", dnnl_version()->major, dnnl_version()->minor, dnnl_version()->patch,
                       description_.impl_info_str());
  }

 private:
  memory reordered_weights(const FullyConnectedLayer& layer, const ProblemTensors& tensors) {
    memory plain(matrix(layer.outputs, layer.inputs, memory::format_tag::ab), engine_,
                 const_cast<float*>(tensors.constant()));
    memory reordered(description_.weights_desc(), engine_);
    dnnl::reorder(plain, reordered).execute(stream_, plain, reordered);
    stream_.wait();
    return reordered;
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::inner_product_forward::primitive_desc description_;
  dnnl::inner_product_forward primitive_;
  std::vector<float> bias_;
  std::unordered_map<int, memory> arguments_;
};

class OnednnFullyConnected final : public Variant {
 public:
  std::unique_ptr<PreparedVariant> prepare(Device& /*device*/, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    try {
      return std::make_unique<PreparedInnerProduct>(fully_connected_layer(size), tensors);
    } catch (const dnnl::error& error) {
      throw DeviceError(fmt::format("oneDNN's inner product of {}: {}", size_name(size), error.what()));
    }
  }
  double tolerance() const override { return kTolerance; }
};

const VariantRegistration registration{
    "fully-connected",
    {.family = "cpu",
     .rung = std::nullopt,
     .name = "onednn",
     .title = "oneDNN",
     .builds_on = "",
     .hypothesis = "The library's inner product; the weights are reordered once into the layout that it wants."},
    keep_variant(std::make_unique<OnednnFullyConnected>())};

}  // namespace
}  // namespace convladder

// The fully connected layer by oneDNN's inner product.
#include <fmt/format.h>

#include <oneapi/dnnl/dnnl.hpp>

#include "devices/device_error.hpp"
#include "variants/layer_operator.hpp"
#include "variants/onednn_description.hpp"

namespace convladder {
namespace {

using dnnl::memory;

/// The library sums a row in one chain. Where no terms cancel, what is rounded adds up to some 2^-25 * sqrt(inputs / 3)
/// of the sum: 2.4e-6 for the 20184 inputs of lenet70's, more for the unluckiest output. One lost term would be 5e-5.
constexpr double kTolerance = 5e-6;

memory::desc matrix(int rows, std::size_t columns, memory::format_tag tag) {
  return {{rows, static_cast<memory::dim>(columns)}, memory::data_type::f32, tag};
}

dnnl::inner_product_forward::primitive_desc describe(const OperatorShape& shape, const dnnl::engine& engine) {
  constexpr auto inference = dnnl::prop_kind::forward_inference;
  const memory::desc input = matrix(shape.batch, shape.input.elements(), memory::format_tag::ab);
  const memory::desc weights = matrix(shape.output.channels, shape.input.elements(), memory::format_tag::any);
  const memory::desc output = matrix(shape.batch, shape.output.elements(), memory::format_tag::ab);
  using InnerProduct = dnnl::inner_product_forward;
  if (!shape.has_bias) {
    return onednn_description<InnerProduct>(engine, std::tuple(inference, input, weights, output));
  }
  const memory::desc bias{{shape.output.channels}, memory::data_type::f32, memory::format_tag::x};
  return onednn_description<InnerProduct>(engine, std::tuple(inference, input, weights, bias, output));
}

class PreparedInnerProduct final : public PreparedOperator {
 public:
  // oneDNN also takes memory that it only reads as void*.
  PreparedInnerProduct(const OperatorShape& shape, const OperatorTensors& tensors)
      : engine_(dnnl::engine::kind::cpu, 0),
        stream_(engine_),
        description_(describe(shape, engine_)),
        primitive_(description_),
        arguments_{
            {DNNL_ARG_SRC, memory(description_.src_desc(), engine_, const_cast<float*>(tensors.input))},
            {DNNL_ARG_WEIGHTS, reordered_weights(shape, tensors)},
            {DNNL_ARG_DST, memory(description_.dst_desc(), engine_, tensors.output)},
        } {
    if (!shape.has_bias) return;
    arguments_.emplace(DNNL_ARG_BIAS, memory(description_.bias_desc(), engine_, const_cast<float*>(tensors.bias)));
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
  memory reordered_weights(const OperatorShape& shape, const OperatorTensors& tensors) {
    memory plain(matrix(shape.output.channels, shape.input.elements(), memory::format_tag::ab), engine_,
                 const_cast<float*>(tensors.weights));
    memory reordered(description_.weights_desc(), engine_);
    dnnl::reorder(plain, reordered).execute(stream_, plain, reordered);
    stream_.wait();
    return reordered;
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::inner_product_forward::primitive_desc description_;
  dnnl::inner_product_forward primitive_;
  std::unordered_map<int, memory> arguments_;
};

class OnednnFullyConnected final : public LayerOperator {
 public:
  std::unique_ptr<PreparedOperator> prepare(Device& /*device*/, const OperatorShape& shape,
                                            const OperatorTensors& tensors) const override {
    try {
      return std::make_unique<PreparedInnerProduct>(shape, tensors);
    } catch (const dnnl::error& error) {
      throw DeviceError(fmt::format("oneDNN's inner product of {}: {}", operator_shape_name(shape), error.what()));
    }
  }
  double tolerance() const override { return kTolerance; }
};

const OperatorRegistration registration{
    {.family = "cpu",
     .type = OperatorType::fully_connected,
     .name = "onednn",
     .title = "oneDNN",
     .library = true,
     .description = "The library's inner product; the weights are reordered once into the layout that it wants."},
    keep_operator(std::make_unique<OnednnFullyConnected>())};

}  // namespace
}  // namespace convladder

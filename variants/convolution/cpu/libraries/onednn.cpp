// The ceiling beside the CPU ladder: oneDNN on plain NCHW tensors, for a caller that keeps its own layout.
//
// The weights are reordered in `prepare`. It loses to oneDNN's own layout where reorders are cheap compared with the
// convolution, and to specialised code where there is only one input channel.

#include "variants/convolution/cpu/libraries/onednn_convolution.hpp"

namespace convladder {
namespace {

class PreparedOnednn final : public PreparedVariant {
 public:
  PreparedOnednn(const OnednnLayer& layer, const ProblemTensors& tensors)
      : convolution_(layer, tensors.constant(), OnednnLayout::nchw),
        // oneDNN takes its sources as void*, but only reads them.
        input_(layer.input, convolution_.engine, const_cast<float*>(tensors.input())),
        output_(layer.output, convolution_.engine, tensors.output()) {}

  void run() override {
    convolution_.primitive.execute(
        convolution_.stream,
        {{DNNL_ARG_SRC, input_}, {DNNL_ARG_WEIGHTS, convolution_.weights}, {DNNL_ARG_DST, output_}});
    convolution_.stream.wait();
  }
  std::string choice() const override { return convolution_.implementation(); }

 private:
  OnednnConvolution convolution_;
  dnnl::memory input_;
  dnnl::memory output_;
};

class Onednn final : public Variant {
 public:
  std::unique_ptr<PreparedVariant> prepare(Device& /*device*/, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    return std::make_unique<PreparedOnednn>(onednn_layer(size), tensors);
  }
};

const VariantRegistration registration{
    "convolution",
    {.family = "cpu",
     .rung = std::nullopt,
     .name = "onednn",
     .title = "oneDNN, NCHW",
     .builds_on = "",
     .hypothesis = "The library call that most programs would use, in the caller's layout."},
    keep_variant(std::make_unique<Onednn>())};

}  // namespace
}  // namespace convladder

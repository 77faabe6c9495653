// The ceiling beside the CPU ladder: oneDNN on plain NCHW tensors, for a caller that keeps its own layout.
//
// The weights are reordered in `prepare`. It loses to oneDNN's own layout where the reorders are cheap beside the
// convolution, and to specialised code where there is only one input channel.

#include "variants/convolution/cpu/libraries/onednn_convolution.hpp"
#include "variants/convolution/registry.hpp"

namespace convladder {
namespace {

class PreparedOnednn final : public PreparedConv {
 public:
  PreparedOnednn(const ConvShape& s, const float* weights, ConvTensors tensors)
      : convolution_(s, weights, OnednnLayout::nchw),
        // oneDNN takes its sources as void*, but only reads them.
        input_(nchw(s.batch, s.in_channels, s.height, s.width), convolution_.engine, const_cast<float*>(tensors.input)),
        output_(nchw(s.batch, s.out_channels, s.out_height(), s.out_width()), convolution_.engine, tensors.output) {}

  void convolve() override {
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

class Onednn final : public ConvVariant {
 public:
  std::unique_ptr<PreparedConv> prepare(Device& /*device*/, const ConvShape& shape, const float* weights,
                                        ConvTensors tensors) const override {
    return std::make_unique<PreparedOnednn>(shape, weights, tensors);
  }
};

const VariantRegistration registration{
    {.family = "cpu",
     .rung = std::nullopt,
     .name = "onednn",
     .title = "oneDNN, NCHW",
     .builds_on = "",
     .hypothesis = "The library call that most programs would use, in the caller's layout."},
    keep_variant(std::make_unique<Onednn>())};

}  // namespace
}  // namespace convladder

// The ceiling beside the CPU ladder under the best conditions: oneDNN in the layout that it prefers, channels in blocks
// of a vector.
//
// The convolution alone is its op time; the reorders from and to NCHW are timed separately and are part of its layer
// time. In a network of oneDNN layers the reorders vanish; in a single layer they are paid, and with one input channel
// or a large output they decide.

#include "variants/convolution/cpu/libraries/onednn_convolution.hpp"

namespace convladder {
namespace {

class PreparedOnednnBlocked final : public PreparedVariant {
 public:
  PreparedOnednnBlocked(const OnednnLayer& layer, const ProblemTensors& tensors)
      : convolution_(layer, tensors.constant(), OnednnLayout::library),
        // oneDNN takes its sources as void*, but only reads them.
        input_(layer.input, convolution_.engine, const_cast<float*>(tensors.input())),
        output_(layer.output, convolution_.engine, tensors.output()),
        own_input_(convolution_.description.src_desc(), convolution_.engine),
        own_output_(convolution_.description.dst_desc(), convolution_.engine),
        to_own_(input_, own_input_),
        from_own_(own_output_, output_) {}

  bool has_own_layout() const override { return true; }
  void load_input() override {
    to_own_.execute(convolution_.stream, input_, own_input_);
    convolution_.stream.wait();
  }
  void run() override {
    convolution_.primitive.execute(
        convolution_.stream,
        {{DNNL_ARG_SRC, own_input_}, {DNNL_ARG_WEIGHTS, convolution_.weights}, {DNNL_ARG_DST, own_output_}});
    convolution_.stream.wait();
  }
  void store_output() override {
    from_own_.execute(convolution_.stream, own_output_, output_);
    convolution_.stream.wait();
  }
  std::string choice() const override { return convolution_.implementation(); }

 private:
  OnednnConvolution convolution_;
  dnnl::memory input_;
  dnnl::memory output_;
  dnnl::memory own_input_;
  dnnl::memory own_output_;
  dnnl::reorder to_own_;
  dnnl::reorder from_own_;
};

class OnednnBlocked final : public Variant {
 public:
  std::unique_ptr<PreparedVariant> prepare(Device& /*device*/, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    return std::make_unique<PreparedOnednnBlocked>(onednn_layer(size), tensors);
  }
};

const VariantRegistration registration{
    "convolution",
    {.family = "cpu",
     .rung = std::nullopt,
     .name = "onednn-blocked",
     .title = "oneDNN, own layout",
     .builds_on = "",
     .hypothesis = "The library at its best: the time of the convolution alone in the layout that suits it."},
    keep_variant(std::make_unique<OnednnBlocked>())};

}  // namespace
}  // namespace convladder

// A competitor beside the CPU ladder: ONNX Runtime, which runs whole models, with a model of this one layer.
//
// Input and output are NCHW. In between it is free: for layers with enough channels it converts the layout to blocks of
// channels and back within the call. The model is written in memory, with the weights in it, and the runtime prepares
// them in `prepare`. It works with as many threads of its own as OpenMP would have.
#include <fmt/format.h>
#include <omp.h>

#include "devices/cpu/other_threads.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/cpu/libraries/onnx_model.hpp"
#include "variants/convolution/cpu/libraries/onnxruntime_library.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

std::vector<std::int64_t> input_sizes(const ConvShape& s) { return {s.batch, s.in_channels, s.height, s.width}; }
std::vector<std::int64_t> output_sizes(const ConvShape& s) {
  return {s.batch, s.out_channels, s.out_height(), s.out_width()};
}

std::string model_of(const ConvShape& s, const float* weights) {
  OnnxModel model;
  model.add_input("input", input_sizes(s));
  model.add_constant("weights", {s.out_channels, s.channels_per_group(), s.kernel, s.kernel},
                     {weights, static_cast<std::size_t>(s.weight_elements())});
  model.add_node("Conv", {"input", "weights"}, "output",
                 {{"kernel_shape", {s.kernel, s.kernel}},
                  {"strides", {s.stride, s.stride}},
                  {"pads", {s.padding, s.padding, s.padding, s.padding}}},
                 {{"group", s.groups}});
  model.add_output("output", output_sizes(s));
  return model.bytes();
}

class PreparedOnnxRuntime final : public PreparedVariant {
 public:
  PreparedOnnxRuntime(const ConvShape& shape, const ProblemTensors& tensors)
      : threads_(omp_get_max_threads()),
        // The library takes its input as void*, but only reads it.
        session_(model_of(shape, tensors.constant()), threads_,
                 {"input", input_sizes(shape), const_cast<float*>(tensors.input())},
                 {"output", output_sizes(shape), tensors.output()}) {}

  void run() override { session_.run(); }
  std::string choice() const override {
    return fmt::format("ONNX Runtime {}, {} thread{}", onnxruntime_library().version, threads_,
                       threads_ == 1 ? "" : "s");
  }

 private:
  int threads_;
  OnnxRuntimeSession session_;
  OtherThreads others_;  // told to spin no longer than OpenMP's threads
};

class OnnxRuntime final : public Variant {
 public:
  std::string unsupported_reason(const ProblemSize& size) const override {
    const ConvShape shape = conv_shape(size);
    if (shape.weight_elements() * std::int64_t{sizeof(float)} > kMostOnnxWeightBytes) {
      return "an ONNX model holds 2 GB at most, and these weights have more";
    }
    return onnxruntime_library().missing;
  }
  std::unique_ptr<PreparedVariant> prepare(Device& /*device*/, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    return std::make_unique<PreparedOnnxRuntime>(conv_shape(size), tensors);
  }
};

const VariantRegistration registration{
    "convolution",
    {.family = "cpu",
     .rung = std::nullopt,
     .name = "onnxruntime",
     .title = "ONNX Runtime",
     .builds_on = "",
     .hypothesis = "What a program gets that leaves a layer to a runtime for whole models."},
    keep_variant(std::make_unique<OnnxRuntime>())};

}  // namespace
}  // namespace convladder

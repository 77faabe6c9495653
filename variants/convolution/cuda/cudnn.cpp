// cuDNN: NVIDIA's library, the ceiling beside the ladder, as fast as it can be made to run.
//
// `prepare` runs every way that cuDNN has for the shape in the variant's layout and arithmetic: the algorithms of
// cudnnConvolutionForward under the math types that are allowed, and the plans that the heuristics of its graph
// interface name. This file checks the accuracy of each way and times them in turns, and takes the fastest. cuDNN's own
// search times each once, and reports math types other than those that ran. A way that was not timed never runs.
//
//   cudnn, cudnn-nhwc            plain float32 (FMA math), sums of products: compared with the fp32 stages
//   cudnn-tf32, cudnn-tf32-nhwc  tensor cores may round to tf32: as accurate as the stages that do
//   cudnn-any                    plain float32, Winograd and FFT too: a class of its own, since they are less accurate,
//                                and not exact on small integers
//
// NHWC is the layout that cuDNN's kernels on tensor cores work in. It is a layout of its own: the op time is cuDNN's
// alone, the layer time, NCHW to NCHW, has the transposes in it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "devices/device_error.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/cuda/channels_last.hpp"
#include "variants/convolution/cuda/cudnn_accuracy.hpp"
#include "variants/convolution/cuda/cudnn_library.hpp"
#include "variants/convolution/cuda/cudnn_way.hpp"
#include "variants/convolution/problem.hpp"
#include "variants/timed_choice.hpp"

namespace convladder {
namespace {

constexpr CudnnArithmetic fp32{"fp32", false, false, kFloat32Tolerance};
constexpr CudnnArithmetic tf32{"tf32 allowed", true, false, 1e-3};
/// Winograd with tiles of 6x6 for 3x3 filters, the coarsest that cuDNN has in float32, loses some four bits.
constexpr CudnnArithmetic any_fp32{"fp32, transforms allowed", false, true, 1e-4};

ChannelPlanes input_planes(const ConvShape& shape) {
  return {shape.batch, shape.in_channels, shape.height * shape.width};
}
ChannelPlanes output_planes(const ConvShape& shape) {
  return {shape.batch, shape.out_channels, shape.out_height() * shape.out_width()};
}

/// OIHW to OHWI.
std::vector<float> weights_channels_last(const ConvShape& shape, const float* weights) {
  const auto channels = static_cast<std::size_t>(shape.channels_per_group());
  const auto taps = static_cast<std::size_t>(shape.kernel) * static_cast<std::size_t>(shape.kernel);
  std::vector<float> packed(static_cast<std::size_t>(shape.weight_elements()));
  for (std::size_t map = 0; map < static_cast<std::size_t>(shape.out_channels); ++map) {
    for (std::size_t channel = 0; channel < channels; ++channel) {
      for (std::size_t tap = 0; tap < taps; ++tap) {
        packed[(map * taps + tap) * channels + channel] = weights[(map * channels + channel) * taps + tap];
      }
    }
  }
  return packed;
}

class PreparedCudnnConv final : public PreparedVariant {
 public:
  PreparedCudnnConv(const CudnnArithmetic& arithmetic, bool channels_last, Device& device, const ConvShape& shape,
                    const ProblemTensors& tensors)
      : arithmetic_(arithmetic), device_(device) {
    const float* const weights = tensors.constant();
    const std::vector<float> packed = channels_last ? weights_channels_last(shape, weights) : std::vector<float>();
    weights_ = device.allocate(static_cast<std::size_t>(shape.weight_elements()) * sizeof(float), "weights");
    device.copy_to_device(weights_.address(), channels_last ? packed.data() : weights, weights_.bytes());
    CudnnProblem problem{shape, channels_last, tensors.input(), weights_.floats(), tensors.output()};
    if (channels_last) problem = with_own_tensors(problem);
    load_input();
    choose(problem, tensors.input(), weights);
  }

  /// Whether both sides are transposed. If only one is, `run` does it: a step that does nothing has no time.
  bool has_own_layout() const override { return own_input_.bytes() > 0 && own_output_.bytes() > 0; }
  void load_input() override {
    if (own_input_.bytes() > 0) device_.launch(to_own_);
  }
  void run() override {
    if (!has_own_layout()) load_input();
    follow_stream();
    way_->run(workspace_.address());
    if (!has_own_layout()) store_output();
  }
  void store_output() override {
    if (own_output_.bytes() > 0) device_.launch(from_own_);
  }
  std::string choice() const override { return choice_; }

 private:
  struct Timed {
    CudnnWay* way;
    double ns;
  };

  /// Sets the handle's stream: calls that are recorded are enqueued on another stream than those that run.
  void follow_stream() {
    if (device_.native_stream() == stream_) return;
    stream_ = device_.native_stream();
    require_cudnn(cudnn_.cudnnSetStream(handle_.get(), static_cast<cudaStream_t>(stream_)), "cudnnSetStream");
  }

  /// The problem with tensors in the variant's own layout, where that differs, and the transposes between them.
  CudnnProblem with_own_tensors(CudnnProblem problem) {
    const ConvShape& shape = problem.shape;
    if (const ChannelPlanes planes = input_planes(shape); !planes.is_same_in_both()) {
      own_input_ = device_.allocate(static_cast<std::size_t>(shape.input_elements()) * sizeof(float), "input in NHWC");
      to_own_ = to_channels_last(planes, problem.input, own_input_.floats());
      problem.input = own_input_.floats();
    }
    if (const ChannelPlanes planes = output_planes(shape); !planes.is_same_in_both()) {
      own_output_ =
          device_.allocate(static_cast<std::size_t>(shape.output_elements()) * sizeof(float), "output in NHWC");
      from_own_ = from_channels_last(planes, own_output_.floats(), problem.output);
      problem.output = own_output_.floats();
    }
    return problem;
  }

  void choose(const CudnnProblem& problem, const float* input, const float* weights) {
    CudnnWays found = cudnn_algorithms(handle_.get(), problem, arithmetic_);
    CudnnWays plans = cudnn_plans(handle_.get(), problem, arithmetic_);
    std::ranges::move(plans.ways, std::back_inserter(found.ways));
    std::ranges::move(plans.passed_over, std::back_inserter(found.passed_over));
    leave_out_large(found);
    std::size_t bytes = 0;
    for (const auto& way : found.ways) bytes = std::max(bytes, way->workspace_bytes());
    const DeviceBuffer trial = allocate_workspace(bytes);
    SampledOutputs outputs(device_, problem.shape, input, weights, problem.output, problem.channels_last);
    leave_out_failing(found, trial, outputs, granted_tolerance(arithmetic_.tolerance, problem.shape));
    if (found.ways.empty()) nothing_runs(problem, found);
    std::vector<double> times =
        times_of_ways(device_, found.ways.size(), [&](std::size_t way) { found.ways[way]->run(trial.address()); });
    const auto quickest = static_cast<std::size_t>(std::ranges::min_element(times) - times.begin());
    choice_ = text(problem, found, times, quickest);
    way_ = std::move(found.ways[quickest]);
    workspace_ = allocate_workspace(way_->workspace_bytes());
  }

  /// Leaves out ways whose workspace takes more than half of the free memory, which is kept for others.
  void leave_out_large(CudnnWays& found) const {
    const std::size_t most = device_.free_bytes() / 2;
    std::erase_if(found.ways, [&](const std::unique_ptr<CudnnWay>& way) {
      if (way->workspace_bytes() <= most) return false;
      found.passed_over.push_back(
          {way->name(), fmt::format("needs {} bytes of workspace, {} may be used", way->workspace_bytes(), most),
           false});
      return true;
    });
  }

  /// Leaves out ways that do not run, or are less accurate than `tolerance`.
  void leave_out_failing(CudnnWays& found, const DeviceBuffer& trial, SampledOutputs& outputs, double tolerance) {
    std::erase_if(found.ways, [&](const std::unique_ptr<CudnnWay>& way) {
      outputs.clear();
      try {
        way->run(trial.address());
      } catch (const NothingForSize& error) {
        found.passed_over.push_back({way->name(), error.what(), true});
        return true;
      } catch (const DeviceError& error) {
        found.passed_over.push_back({way->name(), error.what(), false});
        return true;
      }
      device_.wait();  // an error on the device itself leaves it useless
      const double worst = outputs.worst();
      if (worst <= tolerance) return false;
      found.passed_over.push_back({way->name(), fmt::format("off by {:.1e}", worst), false});
      return true;
    });
  }

  /// Throws because cuDNN has nothing for the shape, or because all its ways failed.
  [[noreturn]] void nothing_runs(const CudnnProblem& problem, const CudnnWays& found) const {
    const auto failed = std::ranges::find(found.passed_over, false, &CudnnWays::PassedOver::unsupported);
    if (failed != found.passed_over.end()) throw DeviceError(fmt::format("{}, {}", failed->why, failed->name));
    throw NothingForSize(fmt::format("cuDNN {} has nothing for this shape in {}, {}", cudnn_.version(),
                                     layout_name(problem), arithmetic_.text));
  }

  std::string text(const CudnnProblem& problem, const CudnnWays& found, const std::vector<double>& times,
                   std::size_t quickest) const {
    const CudnnWay& way = *found.ways[quickest];
    std::string all = fmt::format("{}, {}, {} bytes of workspace, cuDNN {}, {}; ", way.name(), layout_name(problem),
                                  way.workspace_bytes(), cudnn_.version(), arithmetic_.text);
    std::vector<std::pair<double, std::string>> others;
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (i != quickest) others.emplace_back(times[i] / times[quickest], found.ways[i]->name());
    }
    std::ranges::sort(others);
    std::vector<std::string> parts;
    for (const auto& [ratio, name] : others) parts.push_back(fmt::format("{} {:.2f}", name, ratio));
    all += parts.empty() ? "no other was timed" : fmt::format("times of its time: {}", fmt::join(parts, ", "));
    parts.clear();
    std::vector<std::string> unsupported;
    for (const CudnnWays::PassedOver& one : found.passed_over) {
      if (one.unsupported) {
        unsupported.push_back(one.name);
      } else {
        parts.push_back(fmt::format("{} ({})", one.name, one.why));
      }
    }
    if (!parts.empty()) all += fmt::format("; passed over: {}", fmt::join(parts, ", "));
    if (!unsupported.empty()) all += fmt::format("; not supported: {}", fmt::join(unsupported, ", "));
    return all;
  }

  static const char* layout_name(const CudnnProblem& problem) { return problem.channels_last ? "NHWC" : "NCHW"; }

  DeviceBuffer allocate_workspace(std::size_t bytes) const {
    return bytes == 0 ? DeviceBuffer() : device_.allocate(bytes, "cuDNN workspace");
  }

  const CudnnLibrary& cudnn_ = cudnn_library();
  const CudnnArithmetic& arithmetic_;
  Device& device_;
  DeviceBuffer weights_;
  DeviceBuffer own_input_;
  DeviceBuffer own_output_;
  KernelLaunch to_own_;
  KernelLaunch from_own_;
  DeviceBuffer workspace_;
  std::string choice_;
  // A new handle works on the default stream, which is the CUDA device's.
  OwnedCudnn<cudnnHandle_t> handle_{cudnn_.cudnnCreate, cudnn_.cudnnDestroy, "cudnnCreate"};
  void* stream_ = nullptr;  ///< the handle's stream
  std::unique_ptr<CudnnWay> way_;
};

class CudnnVariant final : public Variant {
 public:
  CudnnVariant(const CudnnArithmetic& arithmetic, bool channels_last)
      : arithmetic_(arithmetic), channels_last_(channels_last) {}

  std::string unsupported_reason(const ProblemSize& size) const override {
    const ConvShape shape = conv_shape(size);
    constexpr std::int64_t limit = std::numeric_limits<std::int32_t>::max();
    if (shape.input_elements() > limit || shape.output_elements() > limit) {
      return fmt::format("cuDNN takes tensors of up to {} elements, this needs {}", limit,
                         std::max(shape.input_elements(), shape.output_elements()));
    }
    return cudnn_library().missing;
  }

  /// Tries all ways on the given tensors: the output holds results afterwards.
  std::unique_ptr<PreparedVariant> prepare(Device& device, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    if (!cudnn_library().missing.empty()) throw DeviceError(cudnn_library().missing);
    return std::make_unique<PreparedCudnnConv>(arithmetic_, channels_last_, device, conv_shape(size), tensors);
  }

  double tolerance() const override { return arithmetic_.tolerance; }

 private:
  const CudnnArithmetic& arithmetic_;
  bool channels_last_;
};

VariantInfo info(std::string_view name, std::string_view title, std::string_view hypothesis) {
  return {
      .family = "cuda", .rung = std::nullopt, .name = name, .title = title, .builds_on = "", .hypothesis = hypothesis};
}

const VariantRegistration registration{
    "convolution",
    info("cudnn", "cuDNN",
         "NVIDIA's library with the algorithm or plan that was timed as the quickest in plain float32: the ladder is "
         "compared with it."),
    keep_variant(std::make_unique<CudnnVariant>(fp32, false))};

const VariantRegistration registration_nhwc{
    "convolution",
    info("cudnn-nhwc", "cuDNN, NHWC",
         "Channels last, as cuDNN's newer kernels want them: the op may gain more than the transposes cost."),
    keep_variant(std::make_unique<CudnnVariant>(fp32, true))};

const VariantRegistration registration_any{
    "convolution",
    info("cudnn-any", "cuDNN, any algorithm",
         "Fewer multiplications where Winograd or FFT suits the shape, at the cost of accuracy: a class of its own."),
    keep_variant(std::make_unique<CudnnVariant>(any_fp32, false))};

const VariantRegistration registration_tf32{
    "convolution",
    info("cudnn-tf32", "cuDNN, tf32", "Tensor cores may round to tf32: the tf32 stages are compared with this."),
    keep_variant(std::make_unique<CudnnVariant>(tf32, false))};

const VariantRegistration registration_tf32_nhwc{
    "convolution",
    info("cudnn-tf32-nhwc", "cuDNN, tf32, NHWC",
         "The layout that tensor cores' kernels work in: no hidden transposes in the op."),
    keep_variant(std::make_unique<CudnnVariant>(tf32, true))};

}  // namespace
}  // namespace convladder

// cuDNN: NVIDIA's library, the ceiling beside the ladder, in plain float32 and with tf32.
//
// NCHW in and out, one call of cudnnConvolutionForward with the algorithm that cuDNN itself measured to be the fastest
// for this shape in `prepare`. `cudnn` takes those that compute in plain float32: CUDNN_FMA_MATH keeps the tensor
// cores' tf32 out. (The search tries CUDNN_DEFAULT_MATH as well, which allows it, so its results are filtered.)
// `cudnn-tf32` takes tf32 where that is faster, from compute capability 8.0 on, in the class of accuracy of the stages
// that use it. Winograd and FFT transform before they multiply and do not give the exact result on small integers that
// every case is checked for. They are passed over; where one was faster, the recorded choice says by how much.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string>

#include "devices/device_error.hpp"
#include "variants/convolution/cuda/cudnn_library.hpp"
#include "variants/convolution/registry.hpp"

namespace convladder {
namespace {

/// A cuDNN object, destroyed with its owner.
template <typename Handle>
class Owned {
 public:
  Owned(cudnnStatus_t (*create)(Handle*), cudnnStatus_t (*destroy)(Handle), const char* call) : destroy_(destroy) {
    require_cudnn(create(&handle_), call);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { destroy_(handle_); }
  Handle get() const { return handle_; }

 private:
  Handle handle_ = nullptr;
  cudnnStatus_t (*destroy_)(Handle);
};

struct NamedAlgorithm {
  cudnnConvolutionFwdAlgo_t algorithm;
  const char* name;
};

constexpr std::array<NamedAlgorithm, 8> algorithms = {{
    {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, "IMPLICIT_GEMM"},
    {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, "IMPLICIT_PRECOMP_GEMM"},
    {CUDNN_CONVOLUTION_FWD_ALGO_GEMM, "GEMM"},
    {CUDNN_CONVOLUTION_FWD_ALGO_DIRECT, "DIRECT"},
    {CUDNN_CONVOLUTION_FWD_ALGO_FFT, "FFT"},
    {CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING, "FFT_TILING"},
    {CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD, "WINOGRAD"},
    {CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED, "WINOGRAD_NONFUSED"},
}};

/// Whether it sums products, in some order: exact on small integers, and within the tolerance of a sum.
bool sums_products(cudnnConvolutionFwdAlgo_t algorithm) {
  return algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM ||
         algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM ||
         algorithm == CUDNN_CONVOLUTION_FWD_ALGO_GEMM || algorithm == CUDNN_CONVOLUTION_FWD_ALGO_DIRECT;
}

const char* algorithm_name(cudnnConvolutionFwdAlgo_t algorithm) {
  const auto* found = std::ranges::find(algorithms, algorithm, &NamedAlgorithm::algorithm);
  return found == algorithms.end() ? "unknown algorithm" : found->name;
}

/// The arithmetic that a variant allows.
struct Arithmetic {
  const char* text;  ///< for the record
  cudnnMathType_t math;
  bool (*allows)(cudnnMathType_t math);  ///< of a result of the search
  double tolerance;
};

constexpr Arithmetic fp32{"fp32 FMA math", CUDNN_FMA_MATH, [](cudnnMathType_t math) { return math == CUDNN_FMA_MATH; },
                          1e-6};
/// All but the conversion to half precision.
constexpr Arithmetic tf32{"tf32 allowed", CUDNN_DEFAULT_MATH,
                          [](cudnnMathType_t math) { return math != CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION; }, 1e-3};

const char* math_name(cudnnMathType_t math) {
  if (math == CUDNN_FMA_MATH) return "FMA math";
  return math == CUDNN_TENSOR_OP_MATH ? "tensor op math" : "default math";
}

class PreparedCudnnConv final : public PreparedConv {
 public:
  PreparedCudnnConv(const Arithmetic& arithmetic, Device& device, const ConvShape& shape, const float* weights,
                    ConvTensors tensors)
      : arithmetic_(arithmetic),
        tensors_(tensors),
        weights_(device.allocate(static_cast<std::size_t>(shape.weight_elements()) * sizeof(float), "weights")) {
    device.copy_to_device(weights_.address(), weights, weights_.bytes());
    describe(shape);
    choose_algorithm(device);
  }

  void convolve() override {
    const float one = 1.0F;
    const float zero = 0.0F;
    require_cudnn(
        cudnn_.cudnnConvolutionForward(handle_.get(), &one, input_.get(), tensors_.input, filter_.get(),
                                       weights_.floats(), convolution_.get(), algorithm_, workspace_.address(),
                                       workspace_.bytes(), &zero, output_.get(), tensors_.output),
        "cudnnConvolutionForward");
  }

  std::string choice() const override {
    const std::size_t version = cudnn_.cudnnGetVersion();
    return fmt::format("{}, {} bytes of workspace, cuDNN {}.{}.{}, {}{}", algorithm_name(algorithm_),
                       workspace_.bytes(), version / 10000, version / 100 % 100, version % 100, arithmetic_.text,
                       remark_);
  }

 private:
  void describe(const ConvShape& shape) {
    require_cudnn(cudnn_.cudnnSetTensor4dDescriptor(input_.get(), CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, shape.batch,
                                                    shape.in_channels, shape.height, shape.width),
                  "cudnnSetTensor4dDescriptor of the input");
    require_cudnn(cudnn_.cudnnSetTensor4dDescriptor(output_.get(), CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, shape.batch,
                                                    shape.out_channels, shape.out_height(), shape.out_width()),
                  "cudnnSetTensor4dDescriptor of the output");
    require_cudnn(
        cudnn_.cudnnSetFilter4dDescriptor(filter_.get(), CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, shape.out_channels,
                                          shape.channels_per_group(), shape.kernel, shape.kernel),
        "cudnnSetFilter4dDescriptor");
    // Cross-correlation is what this program and the networks call convolution: the filter is not turned around.
    require_cudnn(cudnn_.cudnnSetConvolution2dDescriptor(convolution_.get(), shape.padding, shape.padding, shape.stride,
                                                         shape.stride, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
                  "cudnnSetConvolution2dDescriptor");
    require_cudnn(cudnn_.cudnnSetConvolutionGroupCount(convolution_.get(), shape.groups),
                  "cudnnSetConvolutionGroupCount");
    set_math(arithmetic_.math);
  }

  void set_math(cudnnMathType_t math) {
    require_cudnn(cudnn_.cudnnSetConvolutionMathType(convolution_.get(), math), "cudnnSetConvolutionMathType");
  }

  /// The largest workspace that any algorithm asks for and that leaves half of the free memory alone.
  std::size_t trial_workspace_bytes(const Device& device) const {
    const std::size_t limit = device.free_bytes() / 2;
    std::size_t largest = 0;
    for (const NamedAlgorithm& candidate : algorithms) {
      std::size_t bytes = 0;
      if (cudnn_.cudnnGetConvolutionForwardWorkspaceSize(handle_.get(), input_.get(), filter_.get(), convolution_.get(),
                                                         output_.get(), candidate.algorithm,
                                                         &bytes) != CUDNN_STATUS_SUCCESS) {
        continue;
      }
      if (bytes <= limit) largest = std::max(largest, bytes);
    }
    return largest;
  }

  void choose_algorithm(Device& device) {
    const DeviceBuffer trial = allocate_workspace(device, trial_workspace_bytes(device));
    // Each algorithm appears once per kind of arithmetic it was tried with.
    std::array<cudnnConvolutionFwdAlgoPerf_t, 3 * algorithms.size()> results{};
    int found = 0;
    require_cudnn(cudnn_.cudnnFindConvolutionForwardAlgorithmEx(
                      handle_.get(), input_.get(), tensors_.input, filter_.get(), weights_.floats(), convolution_.get(),
                      output_.get(), tensors_.output, static_cast<int>(results.size()), &found, results.data(),
                      trial.address(), trial.bytes()),
                  "cudnnFindConvolutionForwardAlgorithmEx");
    // Sorted by time, so the first that qualifies is the fastest.
    const cudnnConvolutionFwdAlgoPerf_t* transforming = nullptr;
    for (const cudnnConvolutionFwdAlgoPerf_t& result : std::span(results).first(static_cast<std::size_t>(found))) {
      if (result.status != CUDNN_STATUS_SUCCESS || !arithmetic_.allows(result.mathType) ||
          result.memory > trial.bytes()) {
        continue;
      }
      if (!sums_products(result.algo)) {
        if (transforming == nullptr) transforming = &result;
        continue;
      }
      algorithm_ = result.algo;
      if (result.mathType != arithmetic_.math) {
        set_math(result.mathType);
        remark_ = fmt::format(", {} the fastest", math_name(result.mathType));
      }
      workspace_ = allocate_workspace(device, result.memory);
      if (transforming != nullptr) {
        remark_ += fmt::format("; {}, which transforms and is not exact, took {:.2f} of its time",
                               algorithm_name(transforming->algo), transforming->time / result.time);
      }
      return;
    }
    choose_unmeasured(device);
  }

  /// Where the search has no entry that will do: the algorithm that takes every shape. The descriptor still says what
  /// arithmetic is allowed.
  void choose_unmeasured(Device& device) {
    algorithm_ = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
    std::size_t bytes = 0;
    require_cudnn(cudnn_.cudnnGetConvolutionForwardWorkspaceSize(handle_.get(), input_.get(), filter_.get(),
                                                                 convolution_.get(), output_.get(), algorithm_, &bytes),
                  "cudnnGetConvolutionForwardWorkspaceSize");
    workspace_ = allocate_workspace(device, bytes);
    remark_ = "; not measured: the search found no algorithm in this arithmetic";
  }

  static DeviceBuffer allocate_workspace(Device& device, std::size_t bytes) {
    return bytes == 0 ? DeviceBuffer() : device.allocate(bytes, "cuDNN workspace");
  }

  const CudnnLibrary& cudnn_ = cudnn_library();
  const Arithmetic& arithmetic_;
  ConvTensors tensors_;
  DeviceBuffer weights_;
  DeviceBuffer workspace_;
  std::string remark_;  ///< on how it was chosen, for the record
  cudnnConvolutionFwdAlgo_t algorithm_ = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
  // A new handle works on the default stream, which is the CUDA device's.
  Owned<cudnnHandle_t> handle_{cudnn_.cudnnCreate, cudnn_.cudnnDestroy, "cudnnCreate"};
  Owned<cudnnTensorDescriptor_t> input_{cudnn_.cudnnCreateTensorDescriptor, cudnn_.cudnnDestroyTensorDescriptor,
                                        "cudnnCreateTensorDescriptor"};
  Owned<cudnnTensorDescriptor_t> output_{cudnn_.cudnnCreateTensorDescriptor, cudnn_.cudnnDestroyTensorDescriptor,
                                         "cudnnCreateTensorDescriptor"};
  Owned<cudnnFilterDescriptor_t> filter_{cudnn_.cudnnCreateFilterDescriptor, cudnn_.cudnnDestroyFilterDescriptor,
                                         "cudnnCreateFilterDescriptor"};
  Owned<cudnnConvolutionDescriptor_t> convolution_{cudnn_.cudnnCreateConvolutionDescriptor,
                                                   cudnn_.cudnnDestroyConvolutionDescriptor,
                                                   "cudnnCreateConvolutionDescriptor"};
};

class CudnnVariant final : public ConvVariant {
 public:
  explicit CudnnVariant(const Arithmetic& arithmetic) : arithmetic_(arithmetic) {}

  std::string unsupported_reason(const ConvShape& shape) const override {
    constexpr std::int64_t limit = std::numeric_limits<std::int32_t>::max();
    if (shape.input_elements() > limit || shape.output_elements() > limit) {
      return fmt::format("cuDNN takes tensors of up to {} elements, this needs {}", limit,
                         std::max(shape.input_elements(), shape.output_elements()));
    }
    return cudnn_library().missing;
  }

  /// Tries algorithms on the given tensors: the output holds their results afterwards.
  std::unique_ptr<PreparedConv> prepare(Device& device, const ConvShape& shape, const float* weights,
                                        ConvTensors tensors) const override {
    if (!cudnn_library().missing.empty()) throw DeviceError(cudnn_library().missing);
    return std::make_unique<PreparedCudnnConv>(arithmetic_, device, shape, weights, tensors);
  }

  double tolerance() const override { return arithmetic_.tolerance; }

 private:
  const Arithmetic& arithmetic_;
};

const VariantRegistration registration{
    {.family = "cuda",
     .rung = std::nullopt,
     .name = "cudnn",
     .title = "cuDNN",
     .builds_on = "",
     .hypothesis = "NVIDIA's library with the algorithm that it measured as fastest in plain float32: the ladder "
                   "is compared with it."},
    keep_variant(std::make_unique<CudnnVariant>(fp32))};

const VariantRegistration registration_tf32{
    {.family = "cuda",
     .rung = std::nullopt,
     .name = "cudnn-tf32",
     .title = "cuDNN, tf32",
     .builds_on = "",
     .hypothesis = "The same, but tensor cores may round to tf32: the tf32 stages are compared with this."},
    keep_variant(std::make_unique<CudnnVariant>(tf32))};

}  // namespace
}  // namespace convladder

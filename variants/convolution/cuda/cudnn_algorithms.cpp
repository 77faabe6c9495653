#include <fmt/format.h>

#include <array>
#include <span>

#include "devices/device_error.hpp"
#include "variants/convolution/cuda/cudnn_library.hpp"
#include "variants/convolution/cuda/cudnn_way.hpp"

namespace convladder {
namespace {

struct NamedAlgorithm {
  cudnnConvolutionFwdAlgo_t algorithm;
  const char* name;
  bool transforms;
};

constexpr std::array<NamedAlgorithm, 8> algorithms = {{
    {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, "IMPLICIT_GEMM", false},
    {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, "IMPLICIT_PRECOMP_GEMM", false},
    {CUDNN_CONVOLUTION_FWD_ALGO_GEMM, "GEMM", false},
    {CUDNN_CONVOLUTION_FWD_ALGO_DIRECT, "DIRECT", false},
    {CUDNN_CONVOLUTION_FWD_ALGO_FFT, "FFT", true},
    {CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING, "FFT_TILING", true},
    {CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD, "WINOGRAD", true},
    {CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED, "WINOGRAD_NONFUSED", true},
}};

struct NamedMath {
  cudnnMathType_t math;
  const char* name;
};

constexpr std::array<NamedMath, 1> fma_math = {{{CUDNN_FMA_MATH, "FMA math"}}};
/// Math types that allow tf32 but no conversion to half precision.
constexpr std::array<NamedMath, 2> tf32_math = {
    {{CUDNN_DEFAULT_MATH, "default math"}, {CUDNN_TENSOR_OP_MATH, "tensor op math"}}};

/// The problem as the older interface describes it, under one math type.
class Description {
 public:
  Description(const CudnnProblem& problem, cudnnMathType_t math) {
    const ConvShape& shape = problem.shape;
    const cudnnTensorFormat_t format = problem.channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
    require_cudnn(cudnn_.cudnnSetTensor4dDescriptor(input_.get(), format, CUDNN_DATA_FLOAT, shape.batch,
                                                    shape.in_channels, shape.height, shape.width),
                  "cudnnSetTensor4dDescriptor of the input");
    require_cudnn(cudnn_.cudnnSetTensor4dDescriptor(output_.get(), format, CUDNN_DATA_FLOAT, shape.batch,
                                                    shape.out_channels, shape.out_height(), shape.out_width()),
                  "cudnnSetTensor4dDescriptor of the output");
    require_cudnn(cudnn_.cudnnSetFilter4dDescriptor(filter_.get(), CUDNN_DATA_FLOAT, format, shape.out_channels,
                                                    shape.channels_per_group(), shape.kernel, shape.kernel),
                  "cudnnSetFilter4dDescriptor");
    // Cross-correlation is what this program and the networks call convolution: the filter is not turned around.
    require_cudnn(cudnn_.cudnnSetConvolution2dDescriptor(convolution_.get(), shape.padding, shape.padding, shape.stride,
                                                         shape.stride, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
                  "cudnnSetConvolution2dDescriptor");
    require_cudnn(cudnn_.cudnnSetConvolutionGroupCount(convolution_.get(), shape.groups),
                  "cudnnSetConvolutionGroupCount");
    require_cudnn(cudnn_.cudnnSetConvolutionMathType(convolution_.get(), math), "cudnnSetConvolutionMathType");
  }

  /// Bytes that the algorithm needs in addition to the tensors.
  std::size_t workspace_bytes(cudnnHandle_t handle, cudnnConvolutionFwdAlgo_t algorithm) const {
    std::size_t bytes = 0;
    require_cudnn(cudnn_.cudnnGetConvolutionForwardWorkspaceSize(handle, input_.get(), filter_.get(),
                                                                 convolution_.get(), output_.get(), algorithm, &bytes),
                  "cudnnGetConvolutionForwardWorkspaceSize");
    return bytes;
  }

  void convolve(cudnnHandle_t handle, cudnnConvolutionFwdAlgo_t algorithm, const CudnnProblem& problem, void* workspace,
                std::size_t bytes) const {
    const float one = 1.0F;
    const float zero = 0.0F;
    require_cudnn(cudnn_.cudnnConvolutionForward(handle, &one, input_.get(), problem.input, filter_.get(),
                                                 problem.weights, convolution_.get(), algorithm, workspace, bytes,
                                                 &zero, output_.get(), problem.output),
                  "cudnnConvolutionForward");
  }

 private:
  const CudnnLibrary& cudnn_ = cudnn_library();
  OwnedCudnn<cudnnTensorDescriptor_t> input_{cudnn_.cudnnCreateTensorDescriptor, cudnn_.cudnnDestroyTensorDescriptor,
                                             "cudnnCreateTensorDescriptor"};
  OwnedCudnn<cudnnTensorDescriptor_t> output_{cudnn_.cudnnCreateTensorDescriptor, cudnn_.cudnnDestroyTensorDescriptor,
                                              "cudnnCreateTensorDescriptor"};
  OwnedCudnn<cudnnFilterDescriptor_t> filter_{cudnn_.cudnnCreateFilterDescriptor, cudnn_.cudnnDestroyFilterDescriptor,
                                              "cudnnCreateFilterDescriptor"};
  OwnedCudnn<cudnnConvolutionDescriptor_t> convolution_{cudnn_.cudnnCreateConvolutionDescriptor,
                                                        cudnn_.cudnnDestroyConvolutionDescriptor,
                                                        "cudnnCreateConvolutionDescriptor"};
};

class Algorithm final : public CudnnWay {
 public:
  Algorithm(std::string name, cudnnHandle_t handle, std::shared_ptr<const Description> description,
            cudnnConvolutionFwdAlgo_t algorithm, const CudnnProblem& problem)
      : CudnnWay(std::move(name), description->workspace_bytes(handle, algorithm)),
        handle_(handle),
        description_(std::move(description)),
        algorithm_(algorithm),
        problem_(problem) {}

  void run(void* workspace) override {
    description_->convolve(handle_, algorithm_, problem_, workspace, workspace_bytes());
  }

 private:
  cudnnHandle_t handle_;
  std::shared_ptr<const Description> description_;
  cudnnConvolutionFwdAlgo_t algorithm_;
  CudnnProblem problem_;
};

}  // namespace

CudnnWays cudnn_algorithms(cudnnHandle_t handle, const CudnnProblem& problem, const CudnnArithmetic& arithmetic) {
  CudnnWays found;
  for (const NamedMath& math : arithmetic.tf32 ? std::span<const NamedMath>(tf32_math) : fma_math) {
    const auto description = std::make_shared<const Description>(problem, math.math);
    for (const NamedAlgorithm& one : algorithms) {
      if (one.transforms && !arithmetic.transforms) continue;
      std::string name = fmt::format("{} in {}", one.name, math.name);
      try {
        found.ways.push_back(std::make_unique<Algorithm>(name, handle, description, one.algorithm, problem));
      } catch (const NothingForSize& error) {
        found.passed_over.push_back({std::move(name), error.what(), true});
      } catch (const DeviceError& error) {
        found.passed_over.push_back({std::move(name), error.what(), false});
      }
    }
  }
  return found;
}

}  // namespace convladder

// A cuDNN for the tests: right results by a plain kernel, refusals where the real one refuses, and a search whose times
// are invented. It has what variants/convolution/cuda/cudnn_library.hpp asks for, and nothing else.
#include <cudnn.h>

#include <algorithm>
#include <cstdint>

#include "calls.hpp"

using library_of_tests::answered;
using library_of_tests::Living;

struct cudnnContext {};
struct cudnnTensorStruct {
  int sizes[4];
};
struct cudnnFilterStruct {
  int sizes[4];
};
struct cudnnConvolutionStruct {
  int padding;
  int stride;
  int groups = 1;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};

namespace {

Living<cudnnContext> handles;
Living<cudnnTensorStruct> tensors;
Living<cudnnFilterStruct> filters;
Living<cudnnConvolutionStruct> convolutions;

struct Sizes {
  int batch, in_channels, height, width, out_channels, channels_per_group, kernel, out_height, out_width, padding,
      stride;
  int groups;
};

__global__ void convolve(Sizes s, float alpha, const float* input, const float* weights, float beta, float* output) {
  const int place = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (place >= s.batch * s.out_channels * s.out_height * s.out_width) return;
  const int column = place % s.out_width;
  const int row = place / s.out_width % s.out_height;
  const int map = place / (s.out_width * s.out_height) % s.out_channels;
  const int image = place / (s.out_width * s.out_height * s.out_channels);
  const int first_channel = map / (s.out_channels / s.groups) * s.channels_per_group;
  float sum = 0.0F;
  for (int channel = 0; channel < s.channels_per_group; ++channel) {
    for (int i = 0; i < s.kernel; ++i) {
      for (int j = 0; j < s.kernel; ++j) {
        const int y = row * s.stride - s.padding + i;
        const int x = column * s.stride - s.padding + j;
        if (y < 0 || y >= s.height || x < 0 || x >= s.width) continue;
        sum += input[((image * s.in_channels + first_channel + channel) * s.height + y) * s.width + x] *
               weights[((map * s.channels_per_group + channel) * s.kernel + i) * s.kernel + j];
      }
    }
  }
  output[place] = alpha * sum + (beta == 0.0F ? 0.0F : beta * output[place]);
}

/// Whether the descriptors are alive and belong together; sets `sizes`.
bool describes(cudnnTensorDescriptor_t input, cudnnFilterDescriptor_t filter, cudnnConvolutionDescriptor_t convolution,
               cudnnTensorDescriptor_t output, Sizes& sizes) {
  if (!tensors.has(input) || !filters.has(filter) || !convolutions.has(convolution) || !tensors.has(output))
    return false;
  const int* const in = input->sizes;
  const int* const out = output->sizes;
  const int* const f = filter->sizes;
  const cudnnConvolutionStruct& c = *convolution;
  sizes = {in[0], in[1], in[2], in[3], f[0], f[1], f[2], out[2], out[3], c.padding, c.stride, c.groups};
  return c.stride > 0 && f[2] == f[3] && f[1] * c.groups == in[1] && f[0] % c.groups == 0 && out[0] == in[0] &&
         out[1] == f[0] && out[2] == (in[2] + 2 * c.padding - f[2]) / c.stride + 1 &&
         out[3] == (in[3] + 2 * c.padding - f[3]) / c.stride + 1;
}

/// The bytes that an algorithm needs, or why it does not take these sizes.
cudnnStatus_t workspace(const Sizes& s, cudnnConvolutionFwdAlgo_t algorithm, size_t& bytes) {
  switch (algorithm) {
    case CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM:
      bytes = 0;
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM:
      bytes = 256;
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_CONVOLUTION_FWD_ALGO_GEMM:
      bytes =
          sizeof(float) * static_cast<size_t>(s.channels_per_group) * s.kernel * s.kernel * s.out_height * s.out_width;
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED:
      bytes = 4096;
      return s.stride == 1 && (s.kernel == 3 || s.kernel == 5) ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED;
    default:
      return CUDNN_STATUS_NOT_SUPPORTED;
  }
}

cudnnStatus_t forward(const Sizes& s, float alpha, const void* input, const void* weights, float beta, void* output) {
  const int elements = s.batch * s.out_channels * s.out_height * s.out_width;
  constexpr int kThreads = 128;
  convolve<<<(elements + kThreads - 1) / kThreads, kThreads>>>(s, alpha, static_cast<const float*>(input),
                                                               static_cast<const float*>(weights), beta,
                                                               static_cast<float*>(output));
  return cudaGetLastError() == cudaSuccess ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED_CUDART;
}

template <typename Object>
cudnnStatus_t create(const char* call, Living<Object>& living, Object** object) {
  *object = nullptr;
  return answered<cudnnStatus_t>(call, *object, [&] {
    *object = living.make();
    return CUDNN_STATUS_SUCCESS;
  });
}

template <typename Object>
cudnnStatus_t destroy(const char* call, Living<Object>& living, Object* object) {
  return answered<cudnnStatus_t>(
      call, object, [&] { return living.destroy(object) ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM; });
}

/// Sets something in a descriptor that is alive.
template <typename Object, typename Change>
cudnnStatus_t change(const char* call, const Living<Object>& living, Object* object, const Change& apply) {
  return answered<cudnnStatus_t>(call, object, [&] {
    if (!living.has(object)) return CUDNN_STATUS_BAD_PARAM;
    apply(*object);
    return CUDNN_STATUS_SUCCESS;
  });
}

}  // namespace

extern "C" {

size_t cudnnGetVersion() { return CUDNN_VERSION; }

const char* cudnnGetErrorString(cudnnStatus_t status) {
  switch (status) {
    case CUDNN_STATUS_NOT_INITIALIZED:
      return "CUDNN_STATUS_NOT_INITIALIZED";
    case CUDNN_STATUS_BAD_PARAM:
      return "CUDNN_STATUS_BAD_PARAM";
    case CUDNN_STATUS_NOT_SUPPORTED:
      return "CUDNN_STATUS_NOT_SUPPORTED";
    case CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED:
      return "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED";
    default:
      return "CUDNN_STATUS_EXECUTION_FAILED";
  }
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) { return create("cudnnCreate", handles, handle); }
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) { return destroy("cudnnDestroy", handles, handle); }

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* tensor) {
  return create("cudnnCreateTensorDescriptor", tensors, tensor);
}
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor) {
  return destroy("cudnnDestroyTensorDescriptor", tensors, tensor);
}
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensor, cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c, int h, int w) {
  return change("cudnnSetTensor4dDescriptor", tensors, tensor, [&](cudnnTensorStruct& to) {
    const bool plain = format == CUDNN_TENSOR_NCHW && type == CUDNN_DATA_FLOAT;
    to = {{plain ? n : 0, c, h, w}};  // of no use in another layout
  });
}

cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* filter) {
  return create("cudnnCreateFilterDescriptor", filters, filter);
}
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filter) {
  return destroy("cudnnDestroyFilterDescriptor", filters, filter);
}
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filter, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int k, int c, int h, int w) {
  return change("cudnnSetFilter4dDescriptor", filters, filter, [&](cudnnFilterStruct& to) {
    const bool plain = format == CUDNN_TENSOR_NCHW && type == CUDNN_DATA_FLOAT;
    to = {{plain ? k : 0, c, h, w}};
  });
}

cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* convolution) {
  return create("cudnnCreateConvolutionDescriptor", convolutions, convolution);
}
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t convolution) {
  return destroy("cudnnDestroyConvolutionDescriptor", convolutions, convolution);
}
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t convolution, int pad_h, int pad_w, int u,
                                              int v, int dilation_h, int dilation_w, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t type) {
  return change("cudnnSetConvolution2dDescriptor", convolutions, convolution, [&](cudnnConvolutionStruct& to) {
    const bool plain = pad_h == pad_w && u == v && dilation_h == 1 && dilation_w == 1 &&
                       mode == CUDNN_CROSS_CORRELATION && type == CUDNN_DATA_FLOAT;
    to.padding = pad_h;
    to.stride = plain ? u : 0;
  });
}
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t convolution, int groups) {
  return change("cudnnSetConvolutionGroupCount", convolutions, convolution,
                [&](cudnnConvolutionStruct& to) { to.groups = groups; });
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t convolution, cudnnMathType_t math) {
  return change("cudnnSetConvolutionMathType", convolutions, convolution,
                [&](cudnnConvolutionStruct& to) { to.math = math; });
}

cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t handle, cudnnTensorDescriptor_t input,
                                                      cudnnFilterDescriptor_t filter,
                                                      cudnnConvolutionDescriptor_t convolution,
                                                      cudnnTensorDescriptor_t output,
                                                      cudnnConvolutionFwdAlgo_t algorithm, size_t* bytes) {
  return answered<cudnnStatus_t>("cudnnGetConvolutionForwardWorkspaceSize", handle, [&] {
    Sizes sizes;
    if (!handles.has(handle) || !describes(input, filter, convolution, output, sizes)) return CUDNN_STATUS_BAD_PARAM;
    return workspace(sizes, algorithm, *bytes);
  });
}

cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(cudnnHandle_t handle, cudnnTensorDescriptor_t input, const void* x,
                                                     cudnnFilterDescriptor_t filter, const void* w,
                                                     cudnnConvolutionDescriptor_t convolution,
                                                     cudnnTensorDescriptor_t output, void* y, int room, int* found,
                                                     cudnnConvolutionFwdAlgoPerf_t* results, void* space,
                                                     size_t space_bytes) {
  return answered<cudnnStatus_t>("cudnnFindConvolutionForwardAlgorithmEx", handle, [&] {
    Sizes sizes;
    if (!handles.has(handle) || !describes(input, filter, convolution, output, sizes)) return CUDNN_STATUS_BAD_PARAM;
    struct Trial {
      cudnnConvolutionFwdAlgo_t algorithm;
      cudnnMathType_t math;
      float milliseconds;
    };
    static constexpr Trial trials[] = {
        {CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED, CUDNN_FMA_MATH, 0.5F},
        {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, CUDNN_TENSOR_OP_MATH, 0.75F},
        {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, CUDNN_FMA_MATH, 1.0F},
        {CUDNN_CONVOLUTION_FWD_ALGO_GEMM, CUDNN_FMA_MATH, 1.5F},
        {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, CUDNN_FMA_MATH, 2.0F},
        {CUDNN_CONVOLUTION_FWD_ALGO_FFT, CUDNN_FMA_MATH, -1.0F},
    };
    *found = 0;
    for (const Trial& trial : trials) {
      if (*found == room) break;
      cudnnConvolutionFwdAlgoPerf_t& result = results[(*found)++];
      result = {};
      result.algo = trial.algorithm;
      result.mathType = trial.math;
      result.status = workspace(sizes, trial.algorithm, result.memory);
      if (result.status == CUDNN_STATUS_SUCCESS &&
          (result.memory > space_bytes || (result.memory > 0 && space == nullptr))) {
        result.status = CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
      }
      result.time = result.status == CUDNN_STATUS_SUCCESS ? trial.milliseconds : -1.0F;
    }
    std::stable_partition(results, results + *found,
                          [](const auto& one) { return one.status == CUDNN_STATUS_SUCCESS; });
    return forward(sizes, 1.0F, x, w, 0.0F, y);
  });
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t input,
                                      const void* x, cudnnFilterDescriptor_t filter, const void* w,
                                      cudnnConvolutionDescriptor_t convolution, cudnnConvolutionFwdAlgo_t algorithm,
                                      void* space, size_t space_bytes, const void* beta, cudnnTensorDescriptor_t output,
                                      void* y) {
  return answered<cudnnStatus_t>("cudnnConvolutionForward", handle, [&] {
    Sizes sizes;
    size_t needed = 0;
    if (!handles.has(handle) || !describes(input, filter, convolution, output, sizes)) return CUDNN_STATUS_BAD_PARAM;
    const cudnnStatus_t status = workspace(sizes, algorithm, needed);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    if (needed > space_bytes || (needed > 0 && space == nullptr)) return CUDNN_STATUS_BAD_PARAM;
    return forward(sizes, *static_cast<const float*>(alpha), x, w, *static_cast<const float*>(beta), y);
  });
}
}

// A cuDNN for the tests: right results by a plain kernel, as late and as wrong as a test wants them, and refusals where
// the real one refuses. It has what variants/convolution/cuda/cudnn_library.hpp asks for, and nothing else; its graph
// interface is in cudnn_graph.cpp.
#include <cudnn.h>

#include <cstdint>

#include "calls.hpp"
#include "cudnn_settings.hpp"

using library_of_tests::answered;
using library_of_tests::Living;
using library_of_tests::Sizes;
using library_of_tests::Way;

struct cudnnContext {};
struct cudnnTensorStruct {
  int sizes[4];
  bool channels_last;
};
struct cudnnFilterStruct {
  int sizes[4];
  bool channels_last;
};
struct cudnnConvolutionStruct {
  int padding;
  int stride;
  int groups = 1;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};

namespace {

Living<cudnnContext> handles;
cudaStream_t stream_of_handle = nullptr;  // who has several sets it before each use
Living<cudnnTensorStruct> tensors;
Living<cudnnFilterStruct> filters;
Living<cudnnConvolutionStruct> convolutions;

/// Where an element lies, of `channels` x `height` x `width` for each of `outer`.
__device__ int place_of(bool channels_last, int outer, int channel, int row, int column, int channels, int height,
                        int width) {
  return channels_last ? ((outer * height + row) * width + column) * channels + channel
                       : ((outer * channels + channel) * height + row) * width + column;
}

__global__ void convolve(Sizes s, float error, float alpha, const float* input, const float* weights, float beta,
                         float* output) {
  const int number = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (number >= s.batch * s.out_channels * s.out_height * s.out_width) return;
  const int column = number % s.out_width;
  const int row = number / s.out_width % s.out_height;
  const int map = number / (s.out_width * s.out_height) % s.out_channels;
  const int image = number / (s.out_width * s.out_height * s.out_channels);
  const int first_channel = map / (s.out_channels / s.groups) * s.channels_per_group;
  float sum = 0.0F;
  float magnitude = 0.0F;
  for (int channel = 0; channel < s.channels_per_group; ++channel) {
    for (int i = 0; i < s.kernel; ++i) {
      for (int j = 0; j < s.kernel; ++j) {
        const int y = row * s.stride - s.padding + i;
        const int x = column * s.stride - s.padding + j;
        if (y < 0 || y >= s.height || x < 0 || x >= s.width) continue;
        const float product =
            input[place_of(s.channels_last, image, first_channel + channel, y, x, s.in_channels, s.height, s.width)] *
            weights[place_of(s.channels_last, map, channel, i, j, s.channels_per_group, s.kernel, s.kernel)];
        sum += product;
        magnitude += product < 0.0F ? -product : product;
      }
    }
  }
  const int place = place_of(s.channels_last, image, map, row, column, s.out_channels, s.out_height, s.out_width);
  output[place] = alpha * (sum + error * magnitude) + (beta == 0.0F ? 0.0F : beta * output[place]);
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
  sizes = {in[0],
           in[1],
           in[2],
           in[3],
           f[0],
           f[1],
           f[2],
           out[2],
           out[3],
           c.padding,
           c.stride,
           c.groups,
           input->channels_last};
  return c.stride > 0 && filter->channels_last == input->channels_last &&
         output->channels_last == input->channels_last && f[2] == f[3] && f[1] * c.groups == in[1] &&
         f[0] % c.groups == 0 && out[0] == in[0] && out[1] == f[0] &&
         out[2] == (in[2] + 2 * c.padding - f[2]) / c.stride + 1 &&
         out[3] == (in[3] + 2 * c.padding - f[3]) / c.stride + 1;
}

/// What is built in of an algorithm: tensor cores are quick and round, Winograd is quick and less accurate.
Way built_in(const Sizes& s, cudnnConvolutionFwdAlgo_t algorithm, cudnnMathType_t math) {
  const bool rounds = math != CUDNN_FMA_MATH;
  switch (algorithm) {
    case CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM:
      return {.passes = 6};
    case CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM:
      return {.passes = rounds ? 2 : 3, .error = rounds ? 1e-4 : 0, .workspace = rounds ? 512U : 256U};
    case CUDNN_CONVOLUTION_FWD_ALGO_GEMM:
      return {.passes = 4,
              .workspace = sizeof(float) * static_cast<size_t>(s.channels_per_group) * s.kernel * s.kernel *
                           s.out_height * s.out_width};
    case CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED: {
      const bool takes = s.stride == 1 && (s.kernel == 3 || s.kernel == 5) && !s.channels_last;
      return {.passes = 1,
              .error = 1e-5,
              .workspace = 4096,
              .size_status = takes ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED};
    }
    default:
      return {.size_status = CUDNN_STATUS_NOT_SUPPORTED};
  }
}

Way way_of(const Sizes& sizes, cudnnConvolutionFwdAlgo_t algorithm, cudnnConvolutionDescriptor_t convolution) {
  return library_of_tests::algorithm(algorithm, convolution->math, built_in(sizes, algorithm, convolution->math));
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

/// Takes as long as launching it.
__global__ void wait_a_launch() {}

}  // namespace

namespace library_of_tests {

cudnnStatus_t forward(const Sizes& s, const Way& way, float alpha, const void* input, const void* weights, float beta,
                      void* output) {
  const int elements = s.batch * s.out_channels * s.out_height * s.out_width;
  constexpr int kThreads = 128;
  if (way.passes > 0) {
    convolve<<<(elements + kThreads - 1) / kThreads, kThreads, 0, stream_of_handle>>>(
        s, static_cast<float>(way.error), alpha, static_cast<const float*>(input), static_cast<const float*>(weights),
        beta, static_cast<float*>(output));
  }
  for (int pass = 1; pass < way.passes; ++pass) wait_a_launch<<<1, 1, 0, stream_of_handle>>>();
  return cudaGetLastError() == cudaSuccess ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED_CUDART;
}

bool is_handle(cudnnHandle_t handle) { return handles.has(handle); }

}  // namespace library_of_tests

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
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  return answered<cudnnStatus_t>("cudnnSetStream", handle, [&] {
    if (!handles.has(handle)) return CUDNN_STATUS_BAD_PARAM;
    stream_of_handle = stream;
    return CUDNN_STATUS_SUCCESS;
  });
}

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* tensor) {
  return create("cudnnCreateTensorDescriptor", tensors, tensor);
}
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor) {
  return destroy("cudnnDestroyTensorDescriptor", tensors, tensor);
}
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensor, cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c, int h, int w) {
  return change("cudnnSetTensor4dDescriptor", tensors, tensor, [&](cudnnTensorStruct& to) {
    const bool plain = (format == CUDNN_TENSOR_NCHW || format == CUDNN_TENSOR_NHWC) && type == CUDNN_DATA_FLOAT;
    to = {{plain ? n : 0, c, h, w}, format == CUDNN_TENSOR_NHWC};  // of no use in another layout
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
    const bool plain = (format == CUDNN_TENSOR_NCHW || format == CUDNN_TENSOR_NHWC) && type == CUDNN_DATA_FLOAT;
    to = {{plain ? k : 0, c, h, w}, format == CUDNN_TENSOR_NHWC};
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
    const Way way = way_of(sizes, algorithm, convolution);
    *bytes = way.workspace;
    return way.size_status;
  });
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t input,
                                      const void* x, cudnnFilterDescriptor_t filter, const void* w,
                                      cudnnConvolutionDescriptor_t convolution, cudnnConvolutionFwdAlgo_t algorithm,
                                      void* space, size_t space_bytes, const void* beta, cudnnTensorDescriptor_t output,
                                      void* y) {
  return answered<cudnnStatus_t>("cudnnConvolutionForward", handle, [&] {
    Sizes sizes;
    if (!handles.has(handle) || !describes(input, filter, convolution, output, sizes)) return CUDNN_STATUS_BAD_PARAM;
    const Way way = way_of(sizes, algorithm, convolution);
    if (way.size_status != CUDNN_STATUS_SUCCESS) return way.size_status;
    if (way.workspace > space_bytes || (way.workspace > 0 && space == nullptr)) return CUDNN_STATUS_BAD_PARAM;
    if (way.status != CUDNN_STATUS_SUCCESS) return way.status;
    return library_of_tests::forward(sizes, way, *static_cast<const float*>(alpha), x, w,
                                     *static_cast<const float*>(beta), y);
  });
}
}

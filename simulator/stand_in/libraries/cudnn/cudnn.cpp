// cuDNN's functions of version 7 and later for inference: descriptors, and the layers forwards. The graph API is
// missing.
#include <cudnn.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "simulator/stand_in/libraries/cudnn/layers.hpp"
#include "simulator/stand_in/libraries/living_objects.hpp"

struct cudnnContext {
  cudaStream_t stream = nullptr;
};
struct cudnnConvolutionStruct {
  convladder::stand_in::cudnn::Window window;
  cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  cudnnDataType_t computed = CUDNN_DATA_FLOAT;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
  cudnnReorderType_t reorder = CUDNN_DEFAULT_REORDER;
  int groups = 1;
};
struct cudnnPoolingStruct {
  cudnnPoolingMode_t mode = CUDNN_POOLING_MAX;
  cudnnNanPropagation_t nan = CUDNN_PROPAGATE_NAN;
  convladder::stand_in::cudnn::Sizes sizes;
  convladder::stand_in::cudnn::Window window;
};
struct cudnnActivationStruct {
  cudnnActivationMode_t mode = CUDNN_ACTIVATION_RELU;
  cudnnNanPropagation_t nan = CUDNN_PROPAGATE_NAN;
  double coefficient = 0;
};

namespace convladder::stand_in {

const LibraryInfo kCudnn = {
    .name = "cuDNN",
    .status_name = [](int status) { return cudnnGetErrorString(static_cast<cudnnStatus_t>(status)); },
    .not_supported = CUDNN_STATUS_NOT_SUPPORTED,
    .failed = CUDNN_STATUS_EXECUTION_FAILED};

int refuse_cudnn_call(const char* function) noexcept { return library_machine().refuse(kCudnn, function); }

namespace cudnn {
namespace {

/// A descriptor or a handle that lives.
template <typename T>
T& living(T* handle) {
  require(living_objects().has(handle), "a handle or a descriptor is none that lives");
  return *handle;
}

template <typename Work>
cudnnStatus_t answer(const char* name, const Work& work) noexcept {
  return answer_call<cudnnStatus_t>(kCudnn, name, work);
}

template <typename T>
cudnnStatus_t create(const char* name, T** handle) {
  return answer(name, [&](LibraryCall&) {
    require(handle != nullptr, "the place for the handle is null");
    *handle = living_objects().add(new T);
  });
}
template <typename T>
cudnnStatus_t destroy(const char* name, T* handle) {
  return answer(name, [&](LibraryCall&) {
    if (handle == nullptr) return;
    require(living_objects().remove(handle), "a handle or a descriptor is none that lives");
    delete handle;
  });
}
template <typename T, typename Value>
void give(T* place, const Value& value) {
  if (place != nullptr) *place = static_cast<T>(value);
}

Sizes sizes_from(int count, const int* numbers) {
  require(count >= 1 && count <= CUDNN_DIM_MAX && numbers != nullptr, "the number of dimensions");
  return {numbers, numbers + count};
}
void require_sizes(const Sizes& sizes) {
  require(std::ranges::all_of(sizes, [](std::int64_t size) { return size >= 1; }), "a size is less than 1");
}
void require_format(cudnnTensorFormat_t format) {
  if (format != CUDNN_TENSOR_NCHW && format != CUDNN_TENSOR_NHWC) refuse("a tensor with vectors of channels");
}

void set(cudnnTensorStruct* tensor, cudnnDataType_t type, Sizes sizes, Sizes strides) {
  cudnnTensorStruct& its = living(tensor);
  static_cast<void>(bytes_of(type));
  require_sizes(sizes);
  its = {type, std::move(sizes), std::move(strides)};
}

/// The factors of a blend: double for tensors of double, else float.
double factor(const void* place, cudnnDataType_t type) {
  require(place != nullptr, "a factor is null");
  return type == CUDNN_DATA_DOUBLE ? *static_cast<const double*>(place) : *static_cast<const float*>(place);
}

/// The result of a call, and how it blends with what is there.
struct Result {
  void* memory;
  cudnnTensorStruct tensor;
  double alpha;
  double beta;
};
Result result_of(const cudnnTensorStruct* tensor, void* memory, const void* alpha, const void* beta) {
  const cudnnTensorStruct& its = living(tensor);
  require(memory != nullptr, "an address is null");
  return {memory, its, factor(alpha, its.type), factor(beta, its.type)};
}

/// A tensor that is read.
struct Operand {
  const char* name;
  const void* memory;
  cudnnTensorStruct tensor;
};

/// Enqueues `make`, which makes the result's numbers of those of the operands.
template <typename Make>
void enqueue_layer(LibraryCall& call, cudnnHandle_t handle, const std::vector<Operand>& operands, const Result& result,
                   double operations, const Make& make) {
  LibraryWork work;
  for (const Operand& operand : operands) {
    require(operand.memory != nullptr, "an address is null");
    for (const MemoryUse& use : uses_of(operand.name, operand.memory, operand.tensor, true, false))
      work.uses.push_back(use);
    work.amount.bytes +=
        static_cast<double>(count_of(operand.tensor.sizes)) * static_cast<double>(bytes_of(operand.tensor.type));
  }
  for (const MemoryUse& use : uses_of("y", result.memory, result.tensor, result.beta != 0, true))
    work.uses.push_back(use);
  work.amount.bytes +=
      static_cast<double>(count_of(result.tensor.sizes)) * static_cast<double>(bytes_of(result.tensor.type));
  switch (result.tensor.type) {
    case CUDNN_DATA_DOUBLE:
      work.amount.fp64 = operations;
      break;
    case CUDNN_DATA_HALF:
    case CUDNN_DATA_BFLOAT16:
      work.amount.tensor_half = operations;
      break;
    default:
      work.amount.fp32 = operations;
      break;
  }
  work.compute = [=](LibraryTurn& turn) {
    std::vector<std::vector<double>> numbers;
    for (const Operand& operand : operands) numbers.push_back(numbers_of(turn.host(operand.memory), operand.tensor));
    store(make(numbers), result.alpha, result.beta, turn.host(result.memory), result.tensor);
  };
  enqueue(kCudnn, call, std::move(work), living(handle).stream);
}

/// The sizes of a convolution's result.
Sizes convolution_sizes(const cudnnConvolutionStruct& convolution, const Sizes& images, const Sizes& filters) {
  require(images.size() >= 3 && images.size() == filters.size(), "the numbers of dimensions differ");
  require(convolution.window.stride.size() == images.size() - 2, "the convolution has another number of dimensions");
  require(images[1] == filters[1] * convolution.groups && filters[0] % convolution.groups == 0,
          "the channels of images and filters do not fit");
  Sizes sizes = {images[0], filters[0]};
  for (std::size_t i = 0; i + 2 < images.size(); ++i) {
    sizes.push_back(result_size(images[i + 2], filters[i + 2], convolution.window.padding[i],
                                convolution.window.stride[i], convolution.window.dilation[i]));
    require(sizes.back() >= 1, "the window is larger than the image");
  }
  return sizes;
}

Sizes pooling_sizes(const cudnnPoolingStruct& pooling, const Sizes& images) {
  require(images.size() == pooling.sizes.size() + 2, "the window has another number of dimensions");
  Sizes sizes = {images[0], images[1]};
  for (std::size_t i = 0; i < pooling.sizes.size(); ++i) {
    sizes.push_back(
        result_size(images[i + 2], pooling.sizes[i], pooling.window.padding[i], pooling.window.stride[i], 1));
    require(sizes.back() >= 1, "the window is larger than the image");
  }
  return sizes;
}

/// The position in a smaller tensor that is repeated along dimensions of size 1, for each number of a larger one.
std::vector<std::size_t> repeated(const Sizes& small, const Sizes& large) {
  require(small.size() == large.size(), "the numbers of dimensions differ");
  for (std::size_t i = 0; i < small.size(); ++i) require(small[i] == 1 || small[i] == large[i], "the sizes do not fit");
  std::vector<std::size_t> positions;
  positions.reserve(static_cast<std::size_t>(count_of(large)));
  for (std::int64_t number = 0; number < count_of(large); ++number) {
    std::int64_t rest = number;
    std::int64_t at = 0;
    std::int64_t distance = 1;
    for (std::size_t i = large.size(); i-- > 0;) {
      if (small[i] != 1) at += rest % large[i] * distance;
      distance *= small[i];
      rest /= large[i];
    }
    positions.push_back(static_cast<std::size_t>(at));
  }
  return positions;
}

void convolve(LibraryCall& call, cudnnHandle_t handle, const cudnnTensorStruct* x_tensor, const void* x,
              const cudnnFilterStruct* w_filter, const void* w, const cudnnConvolutionStruct* descriptor,
              const Result& result, const Operand* bias, const cudnnActivationStruct* activation, const Operand* addend,
              double addend_factor) {
  const cudnnTensorStruct images = living(x_tensor);
  const cudnnFilterStruct filters = living(w_filter);
  const cudnnConvolutionStruct convolution = living(descriptor);
  const Sizes sizes = convolution_sizes(convolution, images.sizes, filters.sizes);
  require(sizes == result.tensor.sizes, "the result's sizes are not those of the convolution");
  std::vector<Operand> operands = {{"x", x, images}, {"w", w, as_tensor(filters)}};
  std::vector<std::size_t> bias_at;
  if (bias != nullptr) {
    operands.push_back(*bias);
    bias_at = repeated(bias->tensor.sizes, sizes);
  }
  const bool adds = addend != nullptr && addend_factor != 0;
  if (adds) operands.push_back(*addend);
  const cudnnActivationStruct function =
      activation == nullptr ? cudnnActivationStruct{CUDNN_ACTIVATION_IDENTITY} : *activation;
  const double operations =
      2.0 * static_cast<double>(count_of(sizes)) * static_cast<double>(count_of(filters.sizes) / filters.sizes[0]);
  const double alpha = result.alpha;
  Result plain = result;
  if (bias != nullptr) plain.alpha = 1;
  enqueue_layer(call, handle, operands, plain, operations, [=](const std::vector<std::vector<double>>& numbers) {
    std::vector<double> made = convolved(numbers[0], images.sizes, numbers[1], filters.sizes, convolution.window,
                                         convolution.groups, convolution.mode == CUDNN_CONVOLUTION, sizes);
    if (bias_at.empty()) return made;
    for (std::size_t i = 0; i < made.size(); ++i) {
      const double sum = alpha * made[i] + (adds ? addend_factor * numbers[3][i] : 0) + numbers[2][bias_at[i]];
      made[i] = activated(sum, function.mode, function.coefficient);
    }
    return made;
  });
}

/// The one algorithm there is.
void give_algorithm(int asked, int* returned, cudnnConvolutionFwdAlgoPerf_t* results) {
  require(asked >= 1 && returned != nullptr && results != nullptr, "no place for an algorithm");
  *returned = 1;
  *results = {};
  results->algo = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
  results->status = CUDNN_STATUS_SUCCESS;
  results->determinism = CUDNN_DETERMINISTIC;
  results->mathType = CUDNN_DEFAULT_MATH;
}

}  // namespace
}  // namespace cudnn
}  // namespace convladder::stand_in

using namespace convladder::stand_in;
using namespace convladder::stand_in::cudnn;

extern "C" {

size_t cudnnGetVersion() { return CUDNN_VERSION; }
size_t cudnnGetCudartVersion() { return CUDART_VERSION; }
const char* cudnnGetErrorString(cudnnStatus_t status) {
  switch (static_cast<int>(status)) {
    case CUDNN_STATUS_SUCCESS:
      return "CUDNN_STATUS_SUCCESS";
    case CUDNN_STATUS_BAD_PARAM:
      return "CUDNN_STATUS_BAD_PARAM";
    case CUDNN_STATUS_NOT_SUPPORTED:
      return "CUDNN_STATUS_NOT_SUPPORTED";
    case CUDNN_STATUS_EXECUTION_FAILED:
      return "CUDNN_STATUS_EXECUTION_FAILED";
    case CUDNN_STATUS_NOT_INITIALIZED:
      return "CUDNN_STATUS_NOT_INITIALIZED";
    case CUDNN_STATUS_INTERNAL_ERROR:
      return "CUDNN_STATUS_INTERNAL_ERROR";
    default:
      return "CUDNN_UNKNOWN_STATUS";
  }
}
void cudnnGetLastErrorString(char* message, size_t bytes) {
  if (message != nullptr && bytes > 0) *message = '\0';
}
cudnnStatus_t cudnnGetProperty(libraryPropertyType type, int* value) {
  return answer("cudnnGetProperty", [&](LibraryCall&) {
    constexpr int kVersion[] = {CUDNN_MAJOR, CUDNN_MINOR, CUDNN_PATCHLEVEL};
    require(value != nullptr && type >= MAJOR_VERSION && type <= PATCH_LEVEL, "there is no such property");
    *value = kVersion[type];
  });
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) { return create("cudnnCreate", handle); }
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) { return destroy("cudnnDestroy", handle); }
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  return answer("cudnnSetStream", [&](LibraryCall&) { living(handle).stream = stream; });
}
cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t* stream) {
  return answer("cudnnGetStream", [&](LibraryCall&) { give(stream, living(handle).stream); });
}

// Tensors and filters.
cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* tensor) {
  return create("cudnnCreateTensorDescriptor", tensor);
}
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor) {
  return destroy("cudnnDestroyTensorDescriptor", tensor);
}
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensor, cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c, int h, int w) {
  return answer("cudnnSetTensor4dDescriptor", [&](LibraryCall&) {
    require_format(format);
    const Sizes sizes = {n, c, h, w};
    set(tensor, type, sizes, packed(sizes, format));
  });
}
cudnnStatus_t cudnnSetTensor4dDescriptorEx(cudnnTensorDescriptor_t tensor, cudnnDataType_t type, int n, int c, int h,
                                           int w, int n_stride, int c_stride, int h_stride, int w_stride) {
  return answer("cudnnSetTensor4dDescriptorEx", [&](LibraryCall&) {
    set(tensor, type, {n, c, h, w}, {n_stride, c_stride, h_stride, w_stride});
  });
}
cudnnStatus_t cudnnGetTensor4dDescriptor(const cudnnTensorDescriptor_t tensor, cudnnDataType_t* type, int* n, int* c,
                                         int* h, int* w, int* n_stride, int* c_stride, int* h_stride, int* w_stride) {
  return answer("cudnnGetTensor4dDescriptor", [&](LibraryCall&) {
    const cudnnTensorStruct& its = living(tensor);
    require(its.sizes.size() == 4, "the tensor does not have four dimensions");
    give(type, its.type);
    int* const sizes[] = {n, c, h, w};
    int* const strides[] = {n_stride, c_stride, h_stride, w_stride};
    for (std::size_t i = 0; i < 4; ++i) {
      give(sizes[i], its.sizes[i]);
      give(strides[i], its.strides[i]);
    }
  });
}
cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensor, cudnnDataType_t type, int count,
                                         const int* sizes, const int* strides) {
  return answer("cudnnSetTensorNdDescriptor",
                [&](LibraryCall&) { set(tensor, type, sizes_from(count, sizes), sizes_from(count, strides)); });
}
cudnnStatus_t cudnnSetTensorNdDescriptorEx(cudnnTensorDescriptor_t tensor, cudnnTensorFormat_t format,
                                           cudnnDataType_t type, int count, const int* sizes) {
  return answer("cudnnSetTensorNdDescriptorEx", [&](LibraryCall&) {
    require_format(format);
    const Sizes its = sizes_from(count, sizes);
    set(tensor, type, its, packed(its, format));
  });
}
cudnnStatus_t cudnnGetTensorSizeInBytes(const cudnnTensorDescriptor_t tensor, size_t* bytes) {
  return answer("cudnnGetTensorSizeInBytes", [&](LibraryCall&) { give(bytes, span_bytes(living(tensor))); });
}
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* filter) {
  return create("cudnnCreateFilterDescriptor", filter);
}
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filter) {
  return destroy("cudnnDestroyFilterDescriptor", filter);
}
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filter, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int k, int c, int h, int w) {
  return answer("cudnnSetFilter4dDescriptor", [&](LibraryCall&) {
    require_format(format);
    const Sizes sizes = {k, c, h, w};
    require_sizes(sizes);
    static_cast<void>(bytes_of(type));
    living(filter) = {type, format, sizes};
  });
}
cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t filter, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int count, const int* sizes) {
  return answer("cudnnSetFilterNdDescriptor", [&](LibraryCall&) {
    require_format(format);
    const Sizes its = sizes_from(count, sizes);
    require_sizes(its);
    static_cast<void>(bytes_of(type));
    living(filter) = {type, format, its};
  });
}

// Convolutions.
cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* convolution) {
  return create("cudnnCreateConvolutionDescriptor", convolution);
}
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t convolution) {
  return destroy("cudnnDestroyConvolutionDescriptor", convolution);
}
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t convolution, int pad_h, int pad_w, int u,
                                              int v, int dilation_h, int dilation_w, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t computed) {
  const int padding[] = {pad_h, pad_w};
  const int stride[] = {u, v};
  const int dilation[] = {dilation_h, dilation_w};
  return cudnnSetConvolutionNdDescriptor(convolution, 2, padding, stride, dilation, mode, computed);
}
cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t convolution, int count, const int* padding,
                                              const int* stride, const int* dilation, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t computed) {
  return answer("cudnnSetConvolutionDescriptor", [&](LibraryCall&) {
    cudnnConvolutionStruct& its = living(convolution);
    const Window window = {sizes_from(count, padding), sizes_from(count, stride), sizes_from(count, dilation)};
    require_sizes(window.stride);
    require_sizes(window.dilation);
    require(std::ranges::all_of(window.padding, [](std::int64_t one) { return one >= 0; }), "a padding is negative");
    its.window = window;
    its.mode = mode;
    its.computed = computed;
  });
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t convolution, cudnnMathType_t math) {
  return answer("cudnnSetConvolutionMathType", [&](LibraryCall&) { living(convolution).math = math; });
}
cudnnStatus_t cudnnGetConvolutionMathType(cudnnConvolutionDescriptor_t convolution, cudnnMathType_t* math) {
  return answer("cudnnGetConvolutionMathType", [&](LibraryCall&) { give(math, living(convolution).math); });
}
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t convolution, int groups) {
  return answer("cudnnSetConvolutionGroupCount", [&](LibraryCall&) {
    require(groups >= 1, "the number of groups is less than 1");
    living(convolution).groups = groups;
  });
}
cudnnStatus_t cudnnGetConvolutionGroupCount(cudnnConvolutionDescriptor_t convolution, int* groups) {
  return answer("cudnnGetConvolutionGroupCount", [&](LibraryCall&) { give(groups, living(convolution).groups); });
}
cudnnStatus_t cudnnGetConvolution2dForwardOutputDim(const cudnnConvolutionDescriptor_t convolution,
                                                    const cudnnTensorDescriptor_t images,
                                                    const cudnnFilterDescriptor_t filters, int* n, int* c, int* h,
                                                    int* w) {
  return answer("cudnnGetConvolution2dForwardOutputDim", [&](LibraryCall&) {
    const Sizes sizes = convolution_sizes(living(convolution), living(images).sizes, living(filters).sizes);
    require(sizes.size() == 4, "the tensor does not have four dimensions");
    int* const places[] = {n, c, h, w};
    for (std::size_t i = 0; i < 4; ++i) give(places[i], sizes[i]);
  });
}
cudnnStatus_t cudnnGetConvolutionNdForwardOutputDim(const cudnnConvolutionDescriptor_t convolution,
                                                    const cudnnTensorDescriptor_t images,
                                                    const cudnnFilterDescriptor_t filters, int count, int* places) {
  return answer("cudnnGetConvolutionNdForwardOutputDim", [&](LibraryCall&) {
    const Sizes sizes = convolution_sizes(living(convolution), living(images).sizes, living(filters).sizes);
    require(places != nullptr && count == static_cast<int>(sizes.size()), "the number of dimensions");
    std::ranges::transform(sizes, places, [](std::int64_t size) { return static_cast<int>(size); });
  });
}
cudnnStatus_t cudnnGetConvolutionForwardAlgorithmMaxCount(cudnnHandle_t handle, int* count) {
  return answer("cudnnGetConvolutionForwardAlgorithmMaxCount", [&](LibraryCall&) {
    static_cast<void>(living(handle));
    give(count, 1);
  });
}
cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t handle, const cudnnTensorDescriptor_t /*x*/,
                                                     const cudnnFilterDescriptor_t /*w*/,
                                                     const cudnnConvolutionDescriptor_t /*convolution*/,
                                                     const cudnnTensorDescriptor_t /*y*/, const int asked,
                                                     int* returned, cudnnConvolutionFwdAlgoPerf_t* results) {
  return answer("cudnnGetConvolutionForwardAlgorithm", [&](LibraryCall&) {
    static_cast<void>(living(handle));
    give_algorithm(asked, returned, results);
  });
}
cudnnStatus_t cudnnFindConvolutionForwardAlgorithm(cudnnHandle_t handle, const cudnnTensorDescriptor_t /*x*/,
                                                   const cudnnFilterDescriptor_t /*w*/,
                                                   const cudnnConvolutionDescriptor_t /*convolution*/,
                                                   const cudnnTensorDescriptor_t /*y*/, const int asked, int* returned,
                                                   cudnnConvolutionFwdAlgoPerf_t* results) {
  return answer("cudnnFindConvolutionForwardAlgorithm", [&](LibraryCall&) {
    static_cast<void>(living(handle));
    give_algorithm(asked, returned, results);
  });
}
cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t handle, const cudnnTensorDescriptor_t x,
                                                      const cudnnFilterDescriptor_t w,
                                                      const cudnnConvolutionDescriptor_t convolution,
                                                      const cudnnTensorDescriptor_t y,
                                                      cudnnConvolutionFwdAlgo_t /*algorithm*/, size_t* bytes) {
  return answer("cudnnGetConvolutionForwardWorkspaceSize", [&](LibraryCall&) {
    static_cast<void>(living(handle));
    const Sizes sizes = convolution_sizes(living(convolution), living(x).sizes, living(w).sizes);
    require(sizes == living(y).sizes, "the result's sizes are not those of the convolution");
    give(bytes, 0);
  });
}
cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void* alpha, const cudnnTensorDescriptor_t x_tensor,
                                      const void* x, const cudnnFilterDescriptor_t w_filter, const void* w,
                                      const cudnnConvolutionDescriptor_t convolution,
                                      cudnnConvolutionFwdAlgo_t /*algorithm*/, void* /*workspace*/, size_t /*bytes*/,
                                      const void* beta, const cudnnTensorDescriptor_t y_tensor, void* y) {
  return answer("cudnnConvolutionForward", [&](LibraryCall& call) {
    convolve(call, handle, x_tensor, x, w_filter, w, convolution, result_of(y_tensor, y, alpha, beta), nullptr, nullptr,
             nullptr, 0);
  });
}
cudnnStatus_t cudnnConvolutionBiasActivationForward(
    cudnnHandle_t handle, const void* alpha, const cudnnTensorDescriptor_t x_tensor, const void* x,
    const cudnnFilterDescriptor_t w_filter, const void* w, const cudnnConvolutionDescriptor_t convolution,
    cudnnConvolutionFwdAlgo_t /*algorithm*/, void* /*workspace*/, size_t /*bytes*/, const void* alpha2,
    const cudnnTensorDescriptor_t z_tensor, const void* z, const cudnnTensorDescriptor_t bias_tensor, const void* bias,
    const cudnnActivationDescriptor_t activation, const cudnnTensorDescriptor_t y_tensor, void* y) {
  return answer("cudnnConvolutionBiasActivationForward", [&](LibraryCall& call) {
    Result result = result_of(y_tensor, y, alpha, alpha2);
    const double addend_factor = result.beta;
    result.beta = 0;
    const Operand of_bias = {"bias", bias, living(bias_tensor)};
    const Operand addend = {"z", z, living(z_tensor)};
    convolve(call, handle, x_tensor, x, w_filter, w, convolution, result, &of_bias, &living(activation), &addend,
             addend_factor);
  });
}

// Activations, pooling, softmax.
cudnnStatus_t cudnnCreateActivationDescriptor(cudnnActivationDescriptor_t* activation) {
  return create("cudnnCreateActivationDescriptor", activation);
}
cudnnStatus_t cudnnDestroyActivationDescriptor(cudnnActivationDescriptor_t activation) {
  return destroy("cudnnDestroyActivationDescriptor", activation);
}
cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t activation, cudnnActivationMode_t mode,
                                           cudnnNanPropagation_t nan, double coefficient) {
  return answer("cudnnSetActivationDescriptor", [&](LibraryCall&) {
    static_cast<void>(activated(0, mode, coefficient));
    cudnnActivationStruct& its = living(activation);
    its = {mode, nan, coefficient};
    if (mode == CUDNN_ACTIVATION_SWISH && coefficient == 0) its.coefficient = 1;
  });
}
cudnnStatus_t cudnnActivationForward(cudnnHandle_t handle, cudnnActivationDescriptor_t activation, const void* alpha,
                                     const cudnnTensorDescriptor_t x_tensor, const void* x, const void* beta,
                                     const cudnnTensorDescriptor_t y_tensor, void* y) {
  return answer("cudnnActivationForward", [&](LibraryCall& call) {
    const Result result = result_of(y_tensor, y, alpha, beta);
    const Operand operand = {"x", x, living(x_tensor)};
    require(operand.tensor.sizes == result.tensor.sizes, "the sizes of x and y differ");
    const cudnnActivationStruct function = living(activation);
    enqueue_layer(call, handle, {operand}, result, 4.0 * static_cast<double>(count_of(result.tensor.sizes)),
                  [function](const std::vector<std::vector<double>>& numbers) {
                    std::vector<double> made = numbers[0];
                    for (double& number : made) number = activated(number, function.mode, function.coefficient);
                    return made;
                  });
  });
}
cudnnStatus_t cudnnCreatePoolingDescriptor(cudnnPoolingDescriptor_t* pooling) {
  return create("cudnnCreatePoolingDescriptor", pooling);
}
cudnnStatus_t cudnnDestroyPoolingDescriptor(cudnnPoolingDescriptor_t pooling) {
  return destroy("cudnnDestroyPoolingDescriptor", pooling);
}
cudnnStatus_t cudnnSetPoolingNdDescriptor(cudnnPoolingDescriptor_t pooling, const cudnnPoolingMode_t mode,
                                          const cudnnNanPropagation_t nan, int count, const int* sizes,
                                          const int* padding, const int* stride) {
  return answer("cudnnSetPoolingDescriptor", [&](LibraryCall&) {
    cudnnPoolingStruct& its = living(pooling);
    const Sizes window = sizes_from(count, sizes);
    require_sizes(window);
    const Sizes steps = sizes_from(count, stride);
    require_sizes(steps);
    const Sizes pads = sizes_from(count, padding);
    for (std::size_t i = 0; i < pads.size(); ++i) {
      require(pads[i] >= 0 && pads[i] < window[i], "a padding is negative, or not less than the window");
    }
    its = {mode, nan, window, {pads, steps, Sizes(window.size(), 1)}};
  });
}
cudnnStatus_t cudnnSetPooling2dDescriptor(cudnnPoolingDescriptor_t pooling, cudnnPoolingMode_t mode,
                                          cudnnNanPropagation_t nan, int height, int width, int pad_h, int pad_w,
                                          int stride_h, int stride_w) {
  const int sizes[] = {height, width};
  const int padding[] = {pad_h, pad_w};
  const int stride[] = {stride_h, stride_w};
  return cudnnSetPoolingNdDescriptor(pooling, mode, nan, 2, sizes, padding, stride);
}
cudnnStatus_t cudnnGetPooling2dForwardOutputDim(const cudnnPoolingDescriptor_t pooling,
                                                const cudnnTensorDescriptor_t images, int* n, int* c, int* h, int* w) {
  return answer("cudnnGetPooling2dForwardOutputDim", [&](LibraryCall&) {
    const Sizes sizes = pooling_sizes(living(pooling), living(images).sizes);
    require(sizes.size() == 4, "the tensor does not have four dimensions");
    int* const places[] = {n, c, h, w};
    for (std::size_t i = 0; i < 4; ++i) give(places[i], sizes[i]);
  });
}
cudnnStatus_t cudnnPoolingForward(cudnnHandle_t handle, const cudnnPoolingDescriptor_t pooling, const void* alpha,
                                  const cudnnTensorDescriptor_t x_tensor, const void* x, const void* beta,
                                  const cudnnTensorDescriptor_t y_tensor, void* y) {
  return answer("cudnnPoolingForward", [&](LibraryCall& call) {
    const Result result = result_of(y_tensor, y, alpha, beta);
    const Operand operand = {"x", x, living(x_tensor)};
    const cudnnPoolingStruct its = living(pooling);
    const Sizes sizes = pooling_sizes(its, operand.tensor.sizes);
    require(sizes == result.tensor.sizes, "the result's sizes are not those of the pooling");
    const Sizes image_sizes = operand.tensor.sizes;
    const double operations = static_cast<double>(count_of(sizes)) * static_cast<double>(count_of(its.sizes));
    enqueue_layer(call, handle, {operand}, result, operations, [=](const std::vector<std::vector<double>>& numbers) {
      return pooled(numbers[0], image_sizes, its.mode, its.sizes, its.window, sizes);
    });
  });
}
cudnnStatus_t cudnnSoftmaxForward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algorithm, cudnnSoftmaxMode_t mode,
                                  const void* alpha, const cudnnTensorDescriptor_t x_tensor, const void* x,
                                  const void* beta, const cudnnTensorDescriptor_t y_tensor, void* y) {
  return answer("cudnnSoftmaxForward", [&](LibraryCall& call) {
    const Result result = result_of(y_tensor, y, alpha, beta);
    const Operand operand = {"x", x, living(x_tensor)};
    require(operand.tensor.sizes == result.tensor.sizes && result.tensor.sizes.size() >= 2,
            "the sizes of x and y differ");
    const Sizes sizes = result.tensor.sizes;
    enqueue_layer(call, handle, {operand}, result, 8.0 * static_cast<double>(count_of(sizes)),
                  [=](const std::vector<std::vector<double>>& numbers) {
                    std::vector<double> made = numbers[0];
                    softmax(made, sizes, mode == CUDNN_SOFTMAX_MODE_CHANNEL, algorithm == CUDNN_SOFTMAX_LOG);
                    return made;
                  });
  });
}

// A bias, and normalization for inference.
cudnnStatus_t cudnnAddTensor(cudnnHandle_t handle, const void* alpha, const cudnnTensorDescriptor_t a_tensor,
                             const void* a, const void* beta, const cudnnTensorDescriptor_t c_tensor, void* c) {
  return answer("cudnnAddTensor", [&](LibraryCall& call) {
    const Result result = result_of(c_tensor, c, alpha, beta);
    const Operand operand = {"A", a, living(a_tensor)};
    const std::vector<std::size_t> at = repeated(operand.tensor.sizes, result.tensor.sizes);
    enqueue_layer(call, handle, {operand}, result, 2.0 * static_cast<double>(at.size()),
                  [at](const std::vector<std::vector<double>>& numbers) {
                    std::vector<double> made;
                    made.reserve(at.size());
                    for (const std::size_t position : at) made.push_back(numbers[0][position]);
                    return made;
                  });
  });
}
cudnnStatus_t cudnnBatchNormalizationForwardInference(cudnnHandle_t handle, cudnnBatchNormMode_t /*mode*/,
                                                      const void* alpha, const void* beta,
                                                      const cudnnTensorDescriptor_t x_tensor, const void* x,
                                                      const cudnnTensorDescriptor_t y_tensor, void* y,
                                                      const cudnnTensorDescriptor_t parameters, const void* scale,
                                                      const void* bias, const void* mean, const void* variance,
                                                      double epsilon) {
  return answer("cudnnBatchNormalizationForwardInference", [&](LibraryCall& call) {
    const Result result = result_of(y_tensor, y, alpha, beta);
    const cudnnTensorStruct of_parameters = living(parameters);
    const std::vector<std::size_t> at = repeated(of_parameters.sizes, result.tensor.sizes);
    require(living(x_tensor).sizes == result.tensor.sizes, "the sizes of x and y differ");
    const std::vector<Operand> operands = {{"x", x, living(x_tensor)},
                                           {"bnScale", scale, of_parameters},
                                           {"bnBias", bias, of_parameters},
                                           {"estimatedMean", mean, of_parameters},
                                           {"estimatedVariance", variance, of_parameters}};
    enqueue_layer(call, handle, operands, result, 4.0 * static_cast<double>(at.size()),
                  [=](const std::vector<std::vector<double>>& numbers) {
                    std::vector<double> made = numbers[0];
                    for (std::size_t i = 0; i < made.size(); ++i) {
                      const std::size_t k = at[i];
                      made[i] = numbers[1][k] * (made[i] - numbers[3][k]) / std::sqrt(epsilon + numbers[4][k]) +
                                numbers[2][k];
                    }
                    return made;
                  });
  });
}

}  // extern "C"

/* cuDNN on the stand-in: each layer against sums written out in double precision. */
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cudnn.h>

#include <cmath>
#include <cstdlib>
#include <type_traits>
#include <vector>

#include "../expect.h"

static cudnnHandle_t handle;

static double random_number() { return 2.0 * std::rand() / RAND_MAX - 1; }

template <typename T>
constexpr cudnnDataType_t type_of() {
  if (std::is_same_v<T, double>) return CUDNN_DATA_DOUBLE;
  return std::is_same_v<T, float> ? CUDNN_DATA_FLOAT : CUDNN_DATA_HALF;
}
template <typename T>
constexpr double tolerance() {
  if (std::is_same_v<T, double>) return 1e-13;
  return std::is_same_v<T, float> ? 1e-6 : 2e-3;
}
static double wide(double number) { return number; }
static double wide(float number) { return number; }
static double wide(__half number) { return __half2float(number); }

/* Images on the device: N, C, H, W, in either format. */
template <typename T>
struct Images {
  int n, c, h, w;
  cudnnTensorFormat_t format;
  std::vector<T> numbers;
  T* memory = nullptr;
  cudnnTensorDescriptor_t tensor = nullptr;

  Images(int n_, int c_, int h_, int w_, cudnnTensorFormat_t format_ = CUDNN_TENSOR_NCHW)
      : n(n_), c(c_), h(h_), w(w_), format(format_) {
    for (int i = 0; i < n * c * h * w; ++i) numbers.push_back(static_cast<T>(static_cast<float>(random_number())));
    EXPECT_OK(cudaMalloc(&memory, numbers.size() * sizeof(T)));
    EXPECT_OK(cudaMemcpy(memory, numbers.data(), numbers.size() * sizeof(T), cudaMemcpyHostToDevice));
    EXPECT_OK(cudnnCreateTensorDescriptor(&tensor));
    EXPECT_OK(cudnnSetTensor4dDescriptor(tensor, format, type_of<T>(), n, c, h, w));
  }
  std::size_t at(int in, int ic, int ih, int iw) const {
    return static_cast<std::size_t>(format == CUDNN_TENSOR_NCHW ? ((in * c + ic) * h + ih) * w + iw
                                                                : ((in * h + ih) * w + iw) * c + ic);
  }
  double operator()(int in, int ic, int ih, int iw) const {
    if (ih < 0 || ih >= h || iw < 0 || iw >= w) return 0;
    return wide(numbers[at(in, ic, ih, iw)]);
  }
  std::vector<T> now() const {
    std::vector<T> result(numbers.size());
    EXPECT_OK(cudaMemcpy(result.data(), memory, numbers.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return result;
  }
  /* Whether each number is what `wanted(n, c, h, w)` says. */
  template <typename Wanted>
  bool is(const Wanted& wanted) const {
    const std::vector<T> result = now();
    for (int in = 0; in < n; ++in) {
      for (int ic = 0; ic < c; ++ic) {
        for (int ih = 0; ih < h; ++ih) {
          for (int iw = 0; iw < w; ++iw) {
            const double right = wanted(in, ic, ih, iw);
            if (!(std::abs(wide(result[at(in, ic, ih, iw)]) - right) <= tolerance<T>() * (1 + std::abs(right))))
              return false;
          }
        }
      }
    }
    return true;
  }
};

template <typename T>
using Factor = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <typename T>
void convolutions(cudnnTensorFormat_t format, int groups, int padding, int stride, int dilation,
                  cudnnConvolutionMode_t mode) {
  const Images<T> x(2, 4, 9, 8, format);
  const Images<T> w(6, 4 / groups, 3, 2, format);
  cudnnFilterDescriptor_t filters = nullptr;
  cudnnConvolutionDescriptor_t convolution = nullptr;
  EXPECT_OK(cudnnCreateFilterDescriptor(&filters));
  EXPECT_OK(cudnnSetFilter4dDescriptor(filters, type_of<T>(), format, 6, 4 / groups, 3, 2));
  EXPECT_OK(cudnnCreateConvolutionDescriptor(&convolution));
  EXPECT_OK(cudnnSetConvolution2dDescriptor(convolution, padding, padding, stride, stride, dilation, dilation, mode,
                                            std::is_same_v<T, double> ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT));
  EXPECT_OK(cudnnSetConvolutionGroupCount(convolution, groups));
  int n = 0, c = 0, height = 0, width = 0;
  EXPECT_OK(cudnnGetConvolution2dForwardOutputDim(convolution, x.tensor, filters, &n, &c, &height, &width));
  EXPECT(n == 2 && c == 6 && height == (9 + 2 * padding - 2 * dilation - 1) / stride + 1 &&
         width == (8 + 2 * padding - dilation - 1) / stride + 1);
  const Images<T> y(n, c, height, width, format);
  int count = 0;
  cudnnConvolutionFwdAlgoPerf_t found;
  EXPECT_OK(
      cudnnGetConvolutionForwardAlgorithm_v7(handle, x.tensor, filters, convolution, y.tensor, 1, &count, &found));
  size_t bytes = 1;
  EXPECT_OK(
      cudnnGetConvolutionForwardWorkspaceSize(handle, x.tensor, filters, convolution, y.tensor, found.algo, &bytes));
  EXPECT(count == 1 && bytes == 0);
  const auto sum = [&](int in, int k, int oh, int ow) {
    double result = 0;
    for (int ic = 0; ic < 4 / groups; ++ic) {
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 2; ++j) {
          const double weight = mode == CUDNN_CONVOLUTION ? w(k, ic, 2 - i, 1 - j) : w(k, ic, i, j);
          result += weight * x(in, k / (6 / groups) * (4 / groups) + ic, oh * stride - padding + i * dilation,
                               ow * stride - padding + j * dilation);
        }
      }
    }
    return result;
  };
  const Factor<T> alpha = 0.5, beta = 2;
  EXPECT_OK(cudnnConvolutionForward(handle, &alpha, x.tensor, x.memory, filters, w.memory, convolution, found.algo,
                                    nullptr, 0, &beta, y.tensor, y.memory));
  EXPECT(y.is([&](int in, int k, int oh, int ow) { return 0.5 * sum(in, k, oh, ow) + 2 * y(in, k, oh, ow); }));
  /* With a bias, another tensor, and ReLU. */
  const Images<T> bias(1, 6, 1, 1), z(n, c, height, width, format), relued(n, c, height, width, format);
  cudnnActivationDescriptor_t relu = nullptr;
  EXPECT_OK(cudnnCreateActivationDescriptor(&relu));
  EXPECT_OK(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0));
  EXPECT_OK(cudnnConvolutionBiasActivationForward(handle, &alpha, x.tensor, x.memory, filters, w.memory, convolution,
                                                  found.algo, nullptr, 0, &beta, z.tensor, z.memory, bias.tensor,
                                                  bias.memory, relu, relued.tensor, relued.memory));
  EXPECT(relued.is([&](int in, int k, int oh, int ow) {
    return std::max(0.0, 0.5 * sum(in, k, oh, ow) + 2 * z(in, k, oh, ow) + bias(0, k, 0, 0));
  }));
  const Images<T> wrong(n, c, height + 1, width);
  EXPECT_STATUS(CUDNN_STATUS_BAD_PARAM,
                cudnnConvolutionForward(handle, &alpha, x.tensor, x.memory, filters, w.memory, convolution, found.algo,
                                        nullptr, 0, &beta, wrong.tensor, wrong.memory));
}

template <typename T>
void other_layers(cudnnTensorFormat_t format) {
  const Factor<T> one = 1, zero = 0;
  const Images<T> x(2, 3, 7, 6, format);
  /* Pooling: 3 x 2, with a padding of 1, every second row and column. */
  for (const cudnnPoolingMode_t mode : {CUDNN_POOLING_MAX, CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING,
                                        CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING, CUDNN_POOLING_MAX_DETERMINISTIC}) {
    cudnnPoolingDescriptor_t pooling = nullptr;
    EXPECT_OK(cudnnCreatePoolingDescriptor(&pooling));
    EXPECT_OK(cudnnSetPooling2dDescriptor(pooling, mode, CUDNN_PROPAGATE_NAN, 3, 2, 1, 1, 2, 2));
    int n = 0, c = 0, height = 0, width = 0;
    EXPECT_OK(cudnnGetPooling2dForwardOutputDim(pooling, x.tensor, &n, &c, &height, &width));
    EXPECT(n == 2 && c == 3 && height == 4 && width == 4);
    const Images<T> y(n, c, height, width, format);
    EXPECT_OK(cudnnPoolingForward(handle, pooling, &one, x.tensor, x.memory, &zero, y.tensor, y.memory));
    EXPECT(y.is([&](int in, int ic, int oh, int ow) {
      double most = -1e30, sum = 0;
      int count = 0;
      for (int i = 2 * oh - 1; i < 2 * oh + 2; ++i) {
        for (int j = 2 * ow - 1; j < 2 * ow + 1; ++j) {
          if (i < 0 || i >= 7 || j < 0 || j >= 6) continue;
          most = std::max(most, x(in, ic, i, j));
          sum += x(in, ic, i, j);
          ++count;
        }
      }
      if (mode == CUDNN_POOLING_MAX || mode == CUDNN_POOLING_MAX_DETERMINISTIC) return most;
      return sum / (mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING ? 6 : count);
    }));
    EXPECT_OK(cudnnDestroyPoolingDescriptor(pooling));
  }
  const Images<T> y(2, 3, 7, 6, format);
  cudnnActivationDescriptor_t activation = nullptr;
  EXPECT_OK(cudnnCreateActivationDescriptor(&activation));
  for (int mode = CUDNN_ACTIVATION_SIGMOID; mode <= CUDNN_ACTIVATION_ELU; ++mode) {
    EXPECT_OK(
        cudnnSetActivationDescriptor(activation, static_cast<cudnnActivationMode_t>(mode), CUDNN_PROPAGATE_NAN, 0.25));
    EXPECT_OK(cudnnActivationForward(handle, activation, &one, x.tensor, x.memory, &zero, y.tensor, y.memory));
    EXPECT(y.is([&](int in, int ic, int ih, int iw) {
      const double number = x(in, ic, ih, iw);
      const double all[] = {1 / (1 + std::exp(-number)), std::max(0.0, number), std::tanh(number),
                            std::min(0.25, std::max(0.0, number)), number > 0 ? number : 0.25 * (std::exp(number) - 1)};
      return all[mode];
    }));
  }
  for (const cudnnSoftmaxMode_t mode : {CUDNN_SOFTMAX_MODE_INSTANCE, CUDNN_SOFTMAX_MODE_CHANNEL}) {
    for (const cudnnSoftmaxAlgorithm_t algorithm : {CUDNN_SOFTMAX_FAST, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_LOG}) {
      EXPECT_OK(cudnnSoftmaxForward(handle, algorithm, mode, &one, x.tensor, x.memory, &zero, y.tensor, y.memory));
      EXPECT(y.is([&](int in, int ic, int ih, int iw) {
        double sum = 0;
        for (int k = 0; k < 3; ++k) {
          for (int i = 0; i < 7; ++i) {
            for (int j = 0; j < 6; ++j) {
              const bool is_same = i == ih && j == iw;
              if (mode == CUDNN_SOFTMAX_MODE_INSTANCE || is_same) sum += std::exp(x(in, k, i, j));
            }
          }
        }
        const double share = std::exp(x(in, ic, ih, iw)) / sum;
        return algorithm == CUDNN_SOFTMAX_LOG ? std::log(share) : share;
      }));
    }
  }
  /* A bias for each channel, and normalization. */
  const Images<T> bias(1, 3, 1, 1), sum(2, 3, 7, 6, format);
  EXPECT_OK(cudnnAddTensor(handle, &one, bias.tensor, bias.memory, &one, sum.tensor, sum.memory));
  EXPECT(sum.is([&](int in, int ic, int ih, int iw) { return sum(in, ic, ih, iw) + bias(0, ic, 0, 0); }));
  const Images<Factor<T>> scale(1, 3, 1, 1), offset(1, 3, 1, 1), mean(1, 3, 1, 1), root(1, 3, 1, 1);
  Images<Factor<T>> variance(1, 3, 1, 1);
  for (Factor<T>& number : variance.numbers) number = number * number + 1;
  EXPECT_OK(cudaMemcpy(variance.memory, variance.numbers.data(), 3 * sizeof(Factor<T>), cudaMemcpyHostToDevice));
  EXPECT_OK(cudnnBatchNormalizationForwardInference(handle, CUDNN_BATCHNORM_SPATIAL, &one, &zero, x.tensor, x.memory,
                                                    y.tensor, y.memory, scale.tensor, scale.memory, offset.memory,
                                                    mean.memory, variance.memory, 1e-5));
  EXPECT(y.is([&](int in, int ic, int ih, int iw) {
    return scale(0, ic, 0, 0) * (x(in, ic, ih, iw) - mean(0, ic, 0, 0)) / std::sqrt(variance(0, ic, 0, 0) + 1e-5) +
           offset(0, ic, 0, 0);
  }));
}

int main() {
  EXPECT(cudnnGetVersion() == CUDNN_VERSION);
  EXPECT_OK(cudnnCreate(&handle));
  for (const cudnnTensorFormat_t format : {CUDNN_TENSOR_NCHW, CUDNN_TENSOR_NHWC}) {
    convolutions<float>(format, 1, 0, 1, 1, CUDNN_CROSS_CORRELATION);
    convolutions<float>(format, 2, 2, 2, 1, CUDNN_CROSS_CORRELATION);
    convolutions<double>(format, 1, 1, 1, 2, CUDNN_CONVOLUTION);
    convolutions<__half>(format, 2, 1, 3, 1, CUDNN_CROSS_CORRELATION);
    other_layers<float>(format);
    other_layers<double>(format);
    other_layers<__half>(format);
  }
  cudnnTensorDescriptor_t tensor = nullptr;
  EXPECT_OK(cudnnCreateTensorDescriptor(&tensor));
  EXPECT_STATUS(CUDNN_STATUS_BAD_PARAM,
                cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 0, 1, 1));
  EXPECT_STATUS(CUDNN_STATUS_NOT_SUPPORTED,
                cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_INT8, 1, 1, 1, 1));
  EXPECT_OK(cudnnDestroyTensorDescriptor(tensor));
  EXPECT_STATUS(CUDNN_STATUS_BAD_PARAM, cudnnDestroyTensorDescriptor(tensor));
  EXPECT_OK(cudnnDestroy(handle));
  return outcome();
}

// The ways in which cuDNN can do a convolution: algorithms of its older interface, plans of its graph interface.
#pragma once

#include <cudnn.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "variants/convolution/conv_shape.hpp"

namespace convladder {

/// The arithmetic that ways may use to be compared with each other.
struct CudnnArithmetic {
  const char* text;  ///< for the record
  bool tf32;         ///< inputs may be rounded to tf32, for tensor cores
  bool transforms;   ///< Winograd and FFT are allowed, which transform before they multiply and are less accurate
  double tolerance;
};

/// The convolution that is asked for, in float32 on the device.
struct CudnnProblem {
  ConvShape shape;
  bool channels_last;    ///< NHWC, and weights OHWI; otherwise NCHW and OIHW
  const float* input;    ///< in the layout that `channels_last` says
  const float* weights;  ///< in the layout that `channels_last` says
  float* output;         ///< in the layout that `channels_last` says
};

/// One way to compute the convolution: an algorithm under a math type, or an engine with its settings.
class CudnnWay {
 public:
  CudnnWay(std::string name, std::size_t workspace_bytes) : name_(std::move(name)), workspace_bytes_(workspace_bytes) {}
  CudnnWay(const CudnnWay&) = delete;
  CudnnWay& operator=(const CudnnWay&) = delete;
  virtual ~CudnnWay() = default;

  const std::string& name() const { return name_; }
  std::size_t workspace_bytes() const { return workspace_bytes_; }

  /// Enqueues the convolution; `workspace` has at least `workspace_bytes` bytes. Throws DeviceError, NothingForSize.
  virtual void run(void* workspace) = 0;

 private:
  std::string name_;
  std::size_t workspace_bytes_;
};

/// The available ways, and why others are not available.
struct CudnnWays {
  struct PassedOver {
    std::string name;
    std::string why;
    bool unsupported;  ///< cuDNN has nothing for it, which does not count as a failure
  };
  std::vector<std::unique_ptr<CudnnWay>> ways;
  std::vector<PassedOver> passed_over;
};

/// The algorithms of cudnnConvolutionForward under each math type that the arithmetic allows. For plain float32 the
/// math type is CUDNN_FMA_MATH, which does not use the tensor cores.
CudnnWays cudnn_algorithms(cudnnHandle_t handle, const CudnnProblem& problem, const CudnnArithmetic& arithmetic);

/// The plans that cuDNN's heuristics name for the convolution (CUDNN_HEUR_MODE_A, _B and _FALLBACK), each once, if the
/// numerical notes of its engine agree with the arithmetic.
CudnnWays cudnn_plans(cudnnHandle_t handle, const CudnnProblem& problem, const CudnnArithmetic& arithmetic);

}  // namespace convladder

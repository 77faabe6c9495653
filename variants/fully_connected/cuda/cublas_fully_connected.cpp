// cuBLAS: the fully connected layer as a matrix product of NVIDIA's library, the ceiling beside our own kernels.
//
// Its matrices are column-major, so that ours are their transposes: output^T [outputs x batch] = weights [outputs x
// inputs] * input^T [inputs x batch]. The bias is a product too, bias [outputs x 1] * ones [1 x batch], to which the
// large product is added. All is plain float32: the pedantic mode rules out the tensor cores' tf32.
#include <fmt/format.h>

#include "devices/device_error.hpp"
#include "variants/fully_connected/cuda/cublas_library.hpp"
#include "variants/layer_shapes.hpp"
#include "variants/variant.hpp"

namespace convladder {
namespace {

/// The library does not say how it sums a long row, so it gets the same tolerance as oneDNN.
constexpr double kTolerance = 5e-6;

class PreparedCublas final : public PreparedVariant {
 public:
  PreparedCublas(Device& device, const FullyConnectedLayer& layer, const ProblemTensors& tensors)
      : layer_(layer),
        constants_(device, tensors),
        weights_(constants_.tensors().constant()),
        bias_(bias_of(layer, constants_.tensors())),
        input_(tensors.input()),
        output_(tensors.output()) {
    if (layer.has_bias) {
      const std::vector<float> ones(static_cast<std::size_t>(layer.batch), 1.0F);
      ones_ = device.allocate(ones.size() * sizeof(float), "ones for the bias");
      device.copy_to_device(ones_.address(), ones.data(), ones_.bytes());
    }
    require_cublas(cublas_.create(&handle_), "cublasCreate");  // works on the default stream, the CUDA device's
    const cublasStatus_t status = cublas_.set_math_mode(handle_, CUBLAS_PEDANTIC_MATH);
    if (status != CUBLAS_STATUS_SUCCESS) cublas_.destroy(handle_);
    require_cublas(status, "cublasSetMathMode");
  }
  ~PreparedCublas() override { cublas_.destroy(handle_); }

  void run() override {
    const auto [batch, inputs, outputs, has_bias] = layer_;
    const float one = 1.0F;
    const float zero = 0.0F;
    if (has_bias) {
      require_cublas(cublas_.sgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, outputs, batch, 1, &one, bias_, outputs,
                                   ones_.floats(), 1, &zero, output_, outputs),
                     "cublasSgemm of the bias");
    }
    require_cublas(cublas_.sgemm(handle_, CUBLAS_OP_T, CUBLAS_OP_N, outputs, batch, inputs, &one, weights_, inputs,
                                 input_, inputs, has_bias ? &one : &zero, output_, outputs),
                   "cublasSgemm");
  }
  std::string choice() const override { return fmt::format("cublasSgemm of cuBLAS {}, fp32", cublas_.version()); }

 private:
  const CublasLibrary& cublas_ = cublas_library();
  FullyConnectedLayer layer_;
  DeviceConstants constants_;
  const float* weights_;
  const float* bias_;
  const float* input_;
  float* output_;
  DeviceBuffer ones_;
  cublasHandle_t handle_ = nullptr;
};

class CublasFullyConnected final : public Variant {
 public:
  std::string unsupported_reason(const ProblemSize& /*size*/) const override { return cublas_library().missing; }

  std::unique_ptr<PreparedVariant> prepare(Device& device, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    if (!cublas_library().missing.empty()) throw DeviceError(cublas_library().missing);
    return std::make_unique<PreparedCublas>(device, fully_connected_layer(size), tensors);
  }
  double tolerance() const override { return kTolerance; }
};

const VariantRegistration registration{
    "fully-connected",
    {.family = "cuda",
     .rung = std::nullopt,
     .name = "cublas",
     .title = "cuBLAS",
     .builds_on = "",
     .hypothesis = "NVIDIA's matrix product in plain float32, and a second product for the bias."},
    keep_variant(std::make_unique<CublasFullyConnected>())};

}  // namespace
}  // namespace convladder

// cuBLAS: the fully connected layer as a matrix product of NVIDIA's library, the ceiling beside ours.
//
// Its matrices are column-major, so that ours are their transposes: output^T [outputs x batch] = weights [outputs x
// inputs] * input^T [inputs x batch]. The bias is a product too, bias [outputs x 1] * ones [1 x batch], that the large
// one adds to. Plain float32: the pedantic mode keeps the tensor cores' tf32 out.
#include <fmt/format.h>

#include "devices/device_error.hpp"
#include "variants/fully_connected/cuda/cublas_library.hpp"
#include "variants/layer_operator.hpp"

namespace convladder {
namespace {

/// How a long row is summed is the library's secret: as for oneDNN.
constexpr double kTolerance = 5e-6;

class PreparedCublas final : public PreparedOperator {
 public:
  PreparedCublas(Device& device, const OperatorShape& shape, const OperatorTensors& tensors)
      : shape_(shape), tensors_(tensors) {
    if (shape.has_bias) {
      const std::vector<float> ones(static_cast<std::size_t>(shape.batch), 1.0F);
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
    const int outputs = shape_.output.channels;
    const auto inputs = static_cast<int>(shape_.input.elements());
    const float one = 1.0F;
    const float zero = 0.0F;
    if (shape_.has_bias) {
      require_cublas(cublas_.sgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, outputs, shape_.batch, 1, &one, tensors_.bias,
                                   outputs, ones_.floats(), 1, &zero, tensors_.output, outputs),
                     "cublasSgemm of the bias");
    }
    require_cublas(
        cublas_.sgemm(handle_, CUBLAS_OP_T, CUBLAS_OP_N, outputs, shape_.batch, inputs, &one, tensors_.weights, inputs,
                      tensors_.input, inputs, shape_.has_bias ? &one : &zero, tensors_.output, outputs),
        "cublasSgemm");
  }
  std::string choice() const override { return fmt::format("cublasSgemm of cuBLAS {}, fp32", cublas_.version()); }

 private:
  const CublasLibrary& cublas_ = cublas_library();
  OperatorShape shape_;
  OperatorTensors tensors_;
  DeviceBuffer ones_;
  cublasHandle_t handle_ = nullptr;
};

class CublasFullyConnected final : public LayerOperator {
 public:
  std::string unsupported_reason(const OperatorShape& /*shape*/) const override { return cublas_library().missing; }

  std::unique_ptr<PreparedOperator> prepare(Device& device, const OperatorShape& shape,
                                            const OperatorTensors& tensors) const override {
    if (!cublas_library().missing.empty()) throw DeviceError(cublas_library().missing);
    return std::make_unique<PreparedCublas>(device, shape, tensors);
  }
  double tolerance() const override { return kTolerance; }
};

const OperatorRegistration registration{
    {.family = "cuda",
     .type = OperatorType::fully_connected,
     .name = "cublas",
     .title = "cuBLAS",
     .library = true,
     .description = "NVIDIA's matrix product in plain float32, and a second product for the bias."},
    keep_operator(std::make_unique<CublasFullyConnected>())};

}  // namespace
}  // namespace convladder

#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

class PreparedCpuConv final : public PreparedConv {
 public:
  PreparedCpuConv(CpuConvolution convolution, Device& device, const ConvShape& shape, const float* weights,
                  ConvTensors tensors)
      : convolution_(convolution),
        shape_(shape),
        weights_(device.allocate(static_cast<std::size_t>(shape.weight_elements()) * sizeof(float), "weights")),
        tensors_(tensors) {
    device.copy_to_device(weights_.address(), weights, weights_.bytes());
  }
  void convolve() override { convolution_(shape_, tensors_.input, weights_.floats(), tensors_.output); }

 private:
  CpuConvolution convolution_;
  ConvShape shape_;
  DeviceBuffer weights_;
  ConvTensors tensors_;
};

class CpuVariant final : public ConvVariant {
 public:
  CpuVariant(CpuConvolution convolution, UnsupportedReason unsupported)
      : convolution_(convolution), unsupported_(unsupported) {}

  std::string unsupported_reason(const ConvShape& shape) const override {
    return unsupported_ == nullptr ? std::string() : unsupported_(shape);
  }
  std::unique_ptr<PreparedConv> prepare(Device& device, const ConvShape& shape, const float* weights,
                                        ConvTensors tensors) const override {
    return std::make_unique<PreparedCpuConv>(convolution_, device, shape, weights, tensors);
  }

 private:
  CpuConvolution convolution_;
  UnsupportedReason unsupported_;
};

}  // namespace

const ConvVariant& cpu_variant(CpuConvolution convolution, UnsupportedReason unsupported) {
  return keep_variant(std::make_unique<CpuVariant>(convolution, unsupported));
}

}  // namespace convladder

#include "harness/measure/ladders/outside_convolution.hpp"

#include <utility>

#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

class PreparedOutside final : public PreparedConv {
 public:
  PreparedOutside(DeviceBuffer weights, std::unique_ptr<PreparedVariant> call)
      : weights_(std::move(weights)), call_(std::move(call)) {}

  void convolve() override { call_->run(); }
  std::string choice() const override { return call_->choice(); }

 private:
  DeviceBuffer weights_;
  std::unique_ptr<PreparedVariant> call_;
};

}  // namespace

std::unique_ptr<PreparedConv> OutsideConv::prepare(Device& device, const ConvShape& shape, const float* weights,
                                                   ConvTensors tensors) const {
  const ProblemSize size = shape;
  const Problem& problem = *size.problem;
  const ProblemTensor constant = problem.constants(size).front();
  DeviceBuffer on_device = device.allocate(constant.bytes(), "weights");
  device.copy_to_device(on_device.address(), weights, constant.bytes());
  ProblemTensors placed;
  placed.inputs = {{problem.inputs(size).front(), const_cast<float*>(tensors.input)}};
  placed.outputs = {{problem.outputs(size).front(), tensors.output}};
  std::unique_ptr<PreparedVariant> call =
      stage_.prepare_with(device, size, std::move(placed), {constant, on_device.address()});
  return std::make_unique<PreparedOutside>(std::move(on_device), std::move(call));
}

RegisteredVariant as_convolution(const ProblemVariant& outside) {
  const auto& stage = dynamic_cast<const OutsideStage&>(*outside.variant);
  return {outside.info, &keep_variant(std::make_unique<OutsideConv>(stage))};
}

const FolderVariant* folder_variant(const ConvVariant& variant) {
  const auto* const outside = dynamic_cast<const OutsideConv*>(&variant);
  return outside == nullptr ? nullptr : &outside->stage();
}

}  // namespace convladder

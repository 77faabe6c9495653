// A stage from outside as networks know convolutions.
#pragma once

#include <memory>
#include <string>

#include "harness/measure/ladders/outside_stage.hpp"
#include "variants/convolution/registry.hpp"

namespace convladder {

class OutsideConv final : public ConvVariant {
 public:
  /// The stage must outlive it.
  explicit OutsideConv(const OutsideStage& stage) : stage_(stage) {}

  const FolderVariant& stage() const { return stage_.stage(); }

  std::string unsupported_reason(const ConvShape& shape) const override { return stage_.unsupported_reason(shape); }
  bool launches_by_itself() const override { return stage_.launches_by_itself(); }
  /// With a copy of the weights on the device.
  std::unique_ptr<PreparedConv> prepare(Device& device, const ConvShape& shape, const float* weights,
                                        ConvTensors tensors) const override;
  double tolerance() const override { return stage_.tolerance(); }

 private:
  const OutsideStage& stage_;
};

/// One of `outside_stages`; kept as long as the program.
RegisteredVariant as_convolution(const ProblemVariant& outside);

/// The stage that it is; nullptr for what is built in.
const FolderVariant* folder_variant(const ConvVariant& variant);

}  // namespace convladder

#include "variants/fused/separate.hpp"

#include <fmt/format.h>

#include "devices/cpu/other_threads.hpp"
#include "variants/fused/problem.hpp"

namespace convladder {
namespace {

/// The operators behind the convolution, in order.
std::vector<OperatorShape> operators_of(const FusedShape& shape) {
  const ConvShape& convolution = shape.convolution;
  const ActivationShape sums{convolution.out_channels, convolution.out_height(), convolution.out_width()};
  std::vector<OperatorShape> operators;
  const auto add = [&](OperatorType type, const ActivationShape& output) {
    operators.push_back({.type = type,
                         .batch = convolution.batch,
                         .input = sums,
                         .output = output,
                         .pool_size = shape.pool_size,
                         .pool_stride = shape.pool_stride});
  };
  if (shape.has_bias) add(OperatorType::bias, sums);
  add(shape.activation, sums);
  add(OperatorType::max_pool, shape.output());
  return operators;
}

/// Prepared and bound as the network runner binds them: all but the pooling work in place.
class PreparedSeparate final : public PreparedVariant {
 public:
  PreparedSeparate(Device& device, const RegisteredVariant& stage, const FusedShape& shape,
                   const ProblemTensors& tensors) {
    sums_ = device.allocate(static_cast<std::size_t>(shape.convolution.output_elements()) * sizeof(float), "sums");
    if (shape.has_bias) {
      bias_ = device.allocate(static_cast<std::size_t>(shape.convolution.out_channels) * sizeof(float), "bias");
      device.copy_to_device(bias_.address(), tensors.constant(1), bias_.bytes());
    }
    convolution_ =
        stage.variant->prepare(device, shape.convolution, tensors.constant(), {tensors.input(), sums_.floats()});
    for (const OperatorShape& one : operators_of(shape)) {
      float* const output = one.type == OperatorType::max_pool ? tensors.output() : sums_.floats();
      names_.emplace_back(operator_type_name(one.type));
      operators_.push_back(
          default_operator(stage.info.family, one.type)
              .implementation->prepare(device, one, {sums_.floats(), nullptr, bias_.floats(), output}));
    }
  }

  std::vector<std::string> parts() const override { return names_; }
  void run_part(std::size_t part) override {
    if (part > 0) return operators_[part - 1]->run();
    convolution_->load_input();
    convolution_->convolve();
    convolution_->store_output();
    OtherThreads::rest();  // what follows is OpenMP's
  }
  void run() override {
    for (std::size_t part = 0; part < names_.size(); ++part) run_part(part);
  }
  std::string choice() const override { return convolution_->choice(); }

 private:
  DeviceBuffer sums_;
  DeviceBuffer bias_;
  std::vector<std::string> names_{"convolution"};
  std::unique_ptr<PreparedConv> convolution_;
  std::vector<std::unique_ptr<PreparedOperator>> operators_;
};

class SeparateOperators final : public Variant {
 public:
  explicit SeparateOperators(const RegisteredVariant& stage) : stage_(stage) {}

  std::string unsupported_reason(const ProblemSize& size) const override {
    const std::string reason = stage_.variant->unsupported_reason(fused_shape(size).convolution);
    return reason.empty() ? reason : fmt::format("{}: {}", stage_.info.name, reason);
  }
  std::unique_ptr<PreparedVariant> prepare(Device& device, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    return std::make_unique<PreparedSeparate>(device, stage_, fused_shape(size), tensors);
  }
  std::vector<KernelLaunch> launch_plan(const ProblemSize& size) const override {
    const FusedShape shape = fused_shape(size);
    if (!unsupported_reason(size).empty()) return {};
    std::vector<KernelLaunch> plan = stage_.variant->launch_plan(shape.convolution);
    if (plan.empty()) return {};
    for (const OperatorShape& one : operators_of(shape)) {
      const auto more = default_operator(stage_.info.family, one.type).implementation->launch_plan(one);
      plan.insert(plan.end(), more.begin(), more.end());
    }
    return plan;
  }
  double tolerance() const override { return stage_.variant->tolerance(); }
  double saved_operations(const ProblemSize& size) const override {
    return stage_.variant->saved_multiplications(fused_shape(size).convolution);
  }
  double rate_over_fma() const override { return stage_.variant->rate_over_fma(); }
  std::string why_untimed() const override { return stage_.variant->why_untimed(); }

 private:
  const RegisteredVariant& stage_;
};

}  // namespace

std::unique_ptr<Variant> separate_operators(const RegisteredVariant& stage) {
  return std::make_unique<SeparateOperators>(stage);
}

}  // namespace convladder

// A convolution, a bias, an activation and a max pooling as one problem.
#include <algorithm>
#include <optional>
#include <utility>

#include "variants/convolution/problem.hpp"
#include "variants/fused/fused_variant.hpp"
#include "variants/fused/reference.hpp"

namespace convladder {
namespace {

FusedShape shape_of(const ProblemSize& size) {
  return {.convolution = {size.batch, size.at("C"), size.at("H"), size.at("W"), size.at("M"), size.at("K"),
                          size.at("S"), size.at("P"), size.at("G")},
          .has_bias = size.at("B") != 0,
          .activation = size.at("T") != 0 ? OperatorType::tanh : OperatorType::relu,
          .pool_size = size.at("Q"),
          .pool_stride = size.at("R")};
}

class PreparedFused final : public PreparedVariant {
 public:
  explicit PreparedFused(std::unique_ptr<PreparedOperator> prepared) : prepared_(std::move(prepared)) {}
  void run() override { prepared_->run(); }
  std::string choice() const override { return prepared_->choice(); }

 private:
  std::unique_ptr<PreparedOperator> prepared_;
};

class AsVariant final : public Variant {
 public:
  explicit AsVariant(const FusedVariant& variant) : variant_(variant) {}
  std::string unsupported_reason(const ProblemSize& size) const override {
    return variant_.unsupported_reason(shape_of(size));
  }
  std::unique_ptr<PreparedVariant> prepare(Device& device, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    const FusedShape shape = shape_of(size);
    return std::make_unique<PreparedFused>(variant_.prepare(
        device, shape,
        {tensors.input, tensors.constants[0], shape.has_bias ? tensors.constants[1] : nullptr, tensors.output}));
  }
  std::vector<KernelLaunch> launch_plan(const ProblemSize& size) const override {
    const FusedShape shape = shape_of(size);
    return variant_.unsupported_reason(shape).empty() ? variant_.launch_plan(shape) : std::vector<KernelLaunch>();
  }
  double tolerance() const override { return variant_.tolerance(); }

 private:
  const FusedVariant& variant_;
};

class FusedConvolution final : public Problem {
 public:
  std::string_view name() const override { return "fused-convolution"; }
  std::string_view title() const override { return "fused convolution"; }
  std::vector<Dimension> dimensions() const override {
    return {{"C", "in_channels", std::nullopt},
            {"H", "height", std::nullopt},
            {"W", "width", std::nullopt},
            {"M", "out_channels", std::nullopt},
            {"K", "kernel", std::nullopt},
            {"S", "stride", 1},
            {"P", "padding", 0, 0},
            {"G", "groups", 1},
            {"B", "bias", 0, 0, 1},
            {"T", "tanh", 0, 0, 1},
            {"Q", "pool_size", 2},
            {"R", "pool_stride", 2}};
  }
  std::string own_size_error(const ProblemSize& size) const override {
    const FusedShape shape = shape_of(size);
    if (std::string error = shape_error(shape.convolution); !error.empty()) return error;
    if (shape.pool_size <= shape.convolution.out_height() && shape.pool_size <= shape.convolution.out_width())
      return {};
    return "the pooling's windows are larger than the convolution's output";
  }
  std::vector<std::string> default_sizes() const override { return {"C1H72W72M12K7T1"}; }

  std::int64_t input_elements(const ProblemSize& size) const override {
    return shape_of(size).convolution.input_elements_per_image();
  }
  std::int64_t output_elements(const ProblemSize& size) const override {
    return static_cast<std::int64_t>(shape_of(size).output().elements());
  }
  std::vector<ProblemTensor> constants(const ProblemSize& size) const override {
    const FusedShape shape = shape_of(size);
    std::vector<ProblemTensor> tensors{{"weights", shape.convolution.weight_elements()}};
    if (shape.has_bias) tensors.push_back({"bias", shape.convolution.out_channels});
    return tensors;
  }
  double flop(const ProblemSize& size) const override { return shape_of(size).convolution.with_batch(1).flop(); }
  /// Of the convolution, whose pixels beyond the last window nobody needs, so that its rows may be fewer.
  double least_flop(const ProblemSize& size) const override {
    const FusedShape shape = shape_of(size);
    const ConvShape& s = shape.convolution;
    const int side = std::min(shape.pool_size, shape.pool_stride);
    const double pixels = 1.0 * shape.pooled_height() * shape.pooled_width() * side * side;
    const double all = 1.0 * s.out_height() * s.out_width();
    const double inside = ProblemSize(s.with_batch(1)).least_flop();
    return inside * std::min(1.0, pixels / all);
  }

  ReferenceOutput reference(const ProblemSize& size, const float* input,
                            std::span<const float* const> constants) const override {
    const FusedShape shape = shape_of(size);
    return reference_fused(shape, input, constants[0], shape.has_bias ? constants[1] : nullptr);
  }
  double granted_tolerance(double wanted, const ProblemSize& size) const override {
    return convladder::granted_tolerance(wanted, shape_of(size).convolution);
  }
  bool is_exact_on_whole_numbers(const ProblemSize& size, double tolerance) const override {
    return shape_of(size).activation == OperatorType::relu && tolerance <= kFloat32Tolerance;
  }

  const std::vector<ProblemVariant>& variants() const override {
    static std::vector<std::unique_ptr<Variant>> owned;
    static const std::vector<ProblemVariant> all = [this] {
      std::vector<ProblemVariant> list;
      for (const RegisteredFused& one : registered_fused_variants()) {
        owned.push_back(std::make_unique<AsVariant>(*one.variant));
        list.push_back({one.info, this, owned.back().get()});
        list.back().info.builds_on = {};  // a variant of another problem
      }
      return list;
    }();
    return all;
  }
};

const ProblemRegistration registration(std::make_unique<FusedConvolution>());

}  // namespace
}  // namespace convladder

// A convolution, a bias, an activation and a max pooling as one problem.
#include "variants/fused/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <stdexcept>
#include <utility>

#include "variants/convolution/problem.hpp"
#include "variants/fused/reference.hpp"
#include "variants/fused/separate.hpp"

namespace convladder {
namespace {

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
    return variant_.unsupported_reason(fused_shape(size));
  }
  std::unique_ptr<PreparedVariant> prepare(Device& device, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    const FusedShape shape = fused_shape(size);
    return std::make_unique<PreparedFused>(variant_.prepare(
        device, shape,
        {tensors.input(), tensors.constant(), shape.has_bias ? tensors.constant(1) : nullptr, tensors.output()}));
  }
  std::vector<KernelLaunch> launch_plan(const ProblemSize& size) const override {
    const FusedShape shape = fused_shape(size);
    return variant_.unsupported_reason(shape).empty() ? variant_.launch_plan(shape) : std::vector<KernelLaunch>();
  }
  double tolerance() const override { return variant_.tolerance(); }
  double saved_operations(const ProblemSize& size) const override {
    return variant_.saved_multiplications(fused_shape(size));
  }

 private:
  const FusedVariant& variant_;
};

/// A rung for each stage's separate operators, and above it the variants that fuse them.
class FusedLadders {
 public:
  explicit FusedLadders(const Problem& problem) : problem_(problem) {
    for (const RegisteredFused& fused : registered_fused_variants()) {
      if (is_new_stage(fused.info)) add_separate(*find_variant(fused.info.family, fused.info.builds_on));
    }
  }
  const std::vector<ProblemVariant>& variants() const { return variants_; }

 private:
  bool is_new_stage(const VariantInfo& info) {
    const std::pair stage(info.family, info.builds_on);
    if (std::ranges::find(stages_, stage) != stages_.end()) return false;
    stages_.push_back(stage);
    return true;
  }
  std::string_view text(std::string words) { return texts_.emplace_back(std::move(words)); }
  void add(VariantInfo info, std::unique_ptr<Variant> variant) {
    info.rung =
        1 + std::ranges::count(variants_, info.family, [](const ProblemVariant& one) { return one.info.family; });
    owned_.push_back(std::move(variant));
    variants_.push_back({info, &problem_, owned_.back().get()});
  }
  void add_separate(const RegisteredVariant& stage) {
    const std::string_view name = text(fmt::format("separate-{}", stage.info.name));
    add({.family = stage.info.family,
         .rung = {},
         .name = name,
         .title = text(fmt::format("Separate: {}", stage.info.title)),
         .builds_on = {},
         .hypothesis = "The stage and the operators of a network, one after the other: all that fusing saves is here."},
        separate_operators(stage));
    for (const RegisteredFused& fused : registered_fused_variants()) {
      if (fused.info.family != stage.info.family || fused.info.builds_on != stage.info.name) continue;
      VariantInfo info = fused.info;
      info.builds_on = name;
      add(info, std::make_unique<AsVariant>(*fused.variant));
    }
  }

  const Problem& problem_;
  std::vector<std::pair<std::string_view, std::string_view>> stages_;  ///< family and name
  std::deque<std::string> texts_;                                      ///< that the variants' infos point to
  std::vector<std::unique_ptr<Variant>> owned_;
  std::vector<ProblemVariant> variants_;
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
    const FusedShape shape = fused_shape(size);
    if (std::string error = shape_error(shape.convolution); !error.empty()) return error;
    if (shape.pool_size <= shape.convolution.out_height() && shape.pool_size <= shape.convolution.out_width())
      return {};
    return "the pooling's windows are larger than the convolution's output";
  }
  std::vector<std::string> default_sizes() const override { return {"C1H72W72M12K7T1"}; }

  std::int64_t input_elements(const ProblemSize& size) const override {
    return fused_shape(size).convolution.input_elements_per_image();
  }
  std::int64_t output_elements(const ProblemSize& size) const override {
    return static_cast<std::int64_t>(fused_shape(size).output().elements());
  }
  std::vector<ProblemTensor> constants(const ProblemSize& size) const override {
    const FusedShape shape = fused_shape(size);
    std::vector<ProblemTensor> tensors{{"weights", shape.convolution.weight_elements()}};
    if (shape.has_bias) tensors.push_back({"bias", shape.convolution.out_channels});
    return tensors;
  }
  /// The convolution's output, of variants that do not fuse.
  std::int64_t intermediate_elements(const ProblemSize& size) const override {
    return fused_shape(size).convolution.output_elements_per_image();
  }
  double flop(const ProblemSize& size) const override { return fused_shape(size).convolution.with_batch(1).flop(); }
  /// Of the convolution, whose pixels beyond the last window nobody needs, so that its rows may be fewer.
  double least_flop(const ProblemSize& size) const override {
    const FusedShape shape = fused_shape(size);
    const ConvShape& s = shape.convolution;
    const int side = std::min(shape.pool_size, shape.pool_stride);
    const double pixels = 1.0 * shape.pooled_height() * shape.pooled_width() * side * side;
    const double all = 1.0 * s.out_height() * s.out_width();
    const double inside = ProblemSize(s.with_batch(1)).least_flop();
    return inside * std::min(1.0, pixels / all);
  }

  std::vector<ReferenceOutput> reference(const ProblemSize& size, const ProblemTensors& item) const override {
    const FusedShape shape = fused_shape(size);
    return {reference_fused(shape, item.input(), item.constant(), shape.has_bias ? item.constant(1) : nullptr)};
  }
  double granted_tolerance(double wanted, const ProblemSize& size) const override {
    return convladder::granted_tolerance(wanted, fused_shape(size).convolution);
  }
  bool is_exact_on_whole_numbers(const ProblemSize& size, double tolerance) const override {
    return fused_shape(size).activation == OperatorType::relu && tolerance <= kFloat32Tolerance;
  }

  ProblemSize whole_number_size(const ProblemSize& size) const override {
    FusedShape shape = fused_shape(size);
    shape.activation = OperatorType::relu;
    return fused_size(shape);
  }

  /// Winograd or FFT, as of the convolution: at most a filter's taps.
  double most_saved_operations(const ProblemSize& size) const override {
    const double kernel = fused_shape(size).convolution.kernel;
    return kernel * kernel;
  }

  const std::vector<ProblemVariant>& variants() const override {
    static const FusedLadders ladders(*this);
    return ladders.variants();
  }
};

const ProblemRegistration registration(std::make_unique<FusedConvolution>());

}  // namespace

const Problem& fused_problem() {
  static const Problem& problem = *find_problem("fused-convolution");
  return problem;
}

bool is_fused(const ProblemSize& size) { return size.problem == &fused_problem(); }

FusedShape fused_shape(const ProblemSize& size) {
  if (!is_fused(size)) throw std::logic_error("a size of another problem than the fused convolution");
  return {.convolution = {size.batch, size.at("C"), size.at("H"), size.at("W"), size.at("M"), size.at("K"),
                          size.at("S"), size.at("P"), size.at("G")},
          .has_bias = size.at("B") != 0,
          .activation = size.at("T") != 0 ? OperatorType::tanh : OperatorType::relu,
          .pool_size = size.at("Q"),
          .pool_stride = size.at("R")};
}

ProblemSize fused_size(const FusedShape& shape) {
  const ConvShape& s = shape.convolution;
  return {&fused_problem(),
          s.batch,
          {s.in_channels, s.height, s.width, s.out_channels, s.kernel, s.stride, s.padding, s.groups,
           shape.has_bias ? 1 : 0, shape.activation == OperatorType::tanh ? 1 : 0, shape.pool_size, shape.pool_stride}};
}

}  // namespace convladder

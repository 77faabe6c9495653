#include "variants/convolution/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "variants/convolution/reference.hpp"

namespace convladder {
namespace {

class PreparedConvolution final : public PreparedVariant {
 public:
  explicit PreparedConvolution(std::unique_ptr<PreparedConv> prepared) : prepared_(std::move(prepared)) {}

  bool has_own_layout() const override { return prepared_->has_own_layout(); }
  void load_input() override { prepared_->load_input(); }
  void run() override { prepared_->convolve(); }
  void store_output() override { prepared_->store_output(); }
  std::string choice() const override { return prepared_->choice(); }

 private:
  std::unique_ptr<PreparedConv> prepared_;
};

class ConvolutionVariant final : public Variant {
 public:
  explicit ConvolutionVariant(const ConvVariant& variant) : variant_(variant) {}
  explicit ConvolutionVariant(std::unique_ptr<ConvVariant> own) : own_(std::move(own)), variant_(*own_) {}

  std::string unsupported_reason(const ProblemSize& size) const override {
    return variant_.unsupported_reason(conv_shape(size));
  }
  std::unique_ptr<PreparedVariant> prepare(Device& device, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    return std::make_unique<PreparedConvolution>(
        variant_.prepare(device, conv_shape(size), tensors.constant(), {tensors.input(), tensors.output()}));
  }
  std::vector<KernelLaunch> launch_plan(const ProblemSize& size) const override {
    return variant_.launch_plan(conv_shape(size));
  }
  double tolerance() const override { return variant_.tolerance(); }
  double saved_operations(const ProblemSize& size) const override {
    return variant_.saved_multiplications(conv_shape(size));
  }
  double rate_over_fma() const override { return variant_.rate_over_fma(); }
  std::string why_untimed() const override { return variant_.why_untimed(); }
  Configurations configurations(const ProblemSize& size, const Configuration& wanted, int most) const override {
    return variant_.configurations(conv_shape(size), wanted, most);
  }
  std::unique_ptr<Variant> configured(const ProblemSize& size, const Configuration& wanted,
                                      ChosenBy chosen_by) const override {
    return std::make_unique<ConvolutionVariant>(variant_.configured(conv_shape(size), wanted, chosen_by));
  }

 private:
  std::unique_ptr<ConvVariant> own_;
  const ConvVariant& variant_;
};

/// Pairs of an output and a tap along one side of the image, where the tap is on the image.
double taps_inside(int size, int outputs, const ConvShape& shape) {
  double sum = 0;
  for (int i = 0; i < outputs; ++i) {
    const int first = i * shape.stride - shape.padding;
    sum += std::min(first + shape.kernel, size) - std::max(first, 0);
  }
  return sum;
}

class Convolution final : public Problem {
 public:
  std::string_view name() const override { return "convolution"; }
  std::string_view title() const override { return "convolution"; }
  /// Global memory, local accumulation, shared memory, block remap, loop unrolling, compile-time constants, and what
  /// corresponds to them on a CPU.
  int story_rungs() const override { return 6; }
  std::vector<Dimension> dimensions() const override {  // what each may be, `shape_error` says
    constexpr int most = std::numeric_limits<int>::max();
    return {{"C", "in_channels", std::nullopt, 0, most},
            {"H", "height", std::nullopt, 0, most},
            {"W", "width", std::nullopt, 0, most},
            {"M", "out_channels", std::nullopt, 0, most},
            {"K", "kernel", std::nullopt, 0, most},
            {"S", "stride", 1, 0, most},
            {"P", "padding", 0, -most, most},
            {"G", "groups", 1, 0, most}};
  }
  std::string own_size_error(const ProblemSize& size) const override { return shape_error(conv_shape(size)); }
  std::vector<std::string> default_sizes() const override { return {"C1H72W72M12K7"}; }

  std::int64_t input_elements(const ProblemSize& size) const override {
    return conv_shape(size).input_elements_per_image();
  }
  std::int64_t output_elements(const ProblemSize& size) const override {
    return conv_shape(size).output_elements_per_image();
  }
  std::vector<ProblemTensor> constants(const ProblemSize& size) const override {
    return {{"weights", conv_shape(size).weight_elements()}};
  }
  double flop(const ProblemSize& size) const override { return conv_shape(size).with_batch(1).flop(); }
  /// Taps that fall on padding are left out.
  double least_flop(const ProblemSize& size) const override {
    const ConvShape shape = conv_shape(size);
    return 2.0 * shape.out_channels * shape.channels_per_group() *
           taps_inside(shape.height, shape.out_height(), shape) * taps_inside(shape.width, shape.out_width(), shape);
  }

  /// Winograd or FFT: at most a filter's taps.
  double most_saved_operations(const ProblemSize& size) const override {
    const double kernel = conv_shape(size).kernel;
    return kernel * kernel;
  }

  std::vector<ReferenceOutput> reference(const ProblemSize& size, const ProblemTensors& item) const override {
    return {reference_convolution(conv_shape(size), item.input(), item.constant())};
  }
  std::string reference_name() const override { return "float64 direct convolution"; }
  double granted_tolerance(double wanted, const ProblemSize& size) const override {
    return convladder::granted_tolerance(wanted, conv_shape(size));
  }
  /// Sums of small integers are exact in float32, whatever their order; coarser arithmetic keeps its own tolerance.
  bool is_exact_on_whole_numbers(const ProblemSize& /*size*/, double tolerance) const override {
    return tolerance <= kFloat32Tolerance;
  }
  std::string size_text(const ProblemSize& size) const override { return shape_name(conv_shape(size)); }

  const std::vector<ProblemVariant>& variants() const override {
    static const std::vector<ProblemVariant> all = [] {
      std::vector<ProblemVariant> list;
      for (const RegisteredVariant& one : registered_variants()) list.push_back(as_variant(one));
      return list;
    }();
    return all;
  }
};

const ProblemRegistration registration(std::make_unique<Convolution>());

}  // namespace

ConvShape::operator ProblemSize() const {
  return {&convolution_problem(), batch, {in_channels, height, width, out_channels, kernel, stride, padding, groups}};
}

const Problem& convolution_problem() {
  static const Problem& problem = *find_problem("convolution");
  return problem;
}

bool is_convolution(const ProblemSize& size) { return size.problem == &convolution_problem(); }

ConvShape conv_shape(const ProblemSize& size) {
  if (!is_convolution(size)) {
    throw std::logic_error(fmt::format("a size of {} is no shape of a convolution", size.problem->name()));
  }
  const std::vector<int>& v = size.values;
  return {size.batch, v.at(0), v.at(1), v.at(2), v.at(3), v.at(4), v.at(5), v.at(6), v.at(7)};
}

std::unique_ptr<Variant> as_variant(const ConvVariant& variant) {
  return std::make_unique<ConvolutionVariant>(variant);
}

ProblemVariant as_variant(const RegisteredVariant& registered) {
  static std::map<const ConvVariant*, std::unique_ptr<Variant>> known;
  static std::mutex lock;
  const std::scoped_lock locked(lock);
  std::unique_ptr<Variant>& variant = known[registered.variant];
  if (variant == nullptr) variant = as_variant(*registered.variant);
  return {registered.info, &convolution_problem(), variant.get()};
}

}  // namespace convladder

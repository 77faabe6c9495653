// A convolution, a bias, an activation and a max pooling as one problem.
#include "variants/convolution/fused/problem.hpp"

#include <algorithm>
#include <stdexcept>

#include "variants/convolution/fused/fused_shape.hpp"
#include "variants/convolution/fused/reference.hpp"

namespace convladder {
namespace {

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
  /// Elements of the convolution's output, which variants that do not fuse hold in memory.
  std::int64_t intermediate_elements(const ProblemSize& size) const override {
    return fused_shape(size).convolution.output_elements_per_image();
  }
  ActivationShape input_image(const ProblemSize& size) const override {
    const ConvShape s = fused_shape(size).convolution;
    return {s.in_channels, s.height, s.width};
  }
  ActivationShape output_image(const ProblemSize& size) const override { return fused_shape(size).output(); }
  double flop(const ProblemSize& size) const override { return fused_shape(size).convolution.with_batch(1).flop(); }
  /// Operations of the convolution without the pixels beyond the last window, which nobody needs.
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
    return fused_shape(size).activation == Activation::relu && tolerance <= kFloat32Tolerance;
  }

  ProblemSize whole_number_size(const ProblemSize& size) const override {
    FusedShape shape = fused_shape(size);
    shape.activation = Activation::relu;
    return shape;
  }

  /// Winograd or FFT save at most a factor of a filter's taps, as for the convolution.
  double most_saved_operations(const ProblemSize& size) const override {
    const double kernel = fused_shape(size).convolution.kernel;
    return kernel * kernel;
  }
};

const ProblemRegistration registration(std::make_unique<FusedConvolution>());

}  // namespace

const Problem& fused_problem() {
  static const Problem& problem = built_in_problem("fused-convolution");
  return problem;
}

FusedShape fused_shape(const ProblemSize& size) {
  if (size.problem != &fused_problem()) throw std::logic_error("a size of another problem than the fused convolution");
  const std::vector<int>& v = size.values;
  return {.convolution = {size.batch, v.at(0), v.at(1), v.at(2), v.at(3), v.at(4), v.at(5), v.at(6), v.at(7)},
          .has_bias = v.at(8) != 0,
          .activation = v.at(9) != 0 ? Activation::tanh : Activation::relu,
          .pool_size = v.at(10),
          .pool_stride = v.at(11)};
}

FusedShape::operator ProblemSize() const {
  return fused_size(convolution, has_bias, activation, pool_size, pool_stride);
}

ProblemSize fused_size(const ProblemSize& convolution, bool has_bias, Activation activation, int pool_size,
                       int pool_stride) {
  ProblemSize size{&fused_problem(), convolution.batch, convolution.values};
  const int is_tanh = activation == Activation::tanh ? 1 : 0;
  size.values.insert(size.values.end(), {has_bias ? 1 : 0, is_tanh, pool_size, pool_stride});
  return size;
}

Activation activation_of(const ProblemSize& size) { return size.at("tanh") != 0 ? Activation::tanh : Activation::relu; }

}  // namespace convladder

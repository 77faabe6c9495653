#include "variants/convolution/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/reference.hpp"

namespace convladder {
namespace {

/// Pairs of an output and a tap along one side of the image, with the tap inside the image.
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
  /// Stages 1 to 6: global memory, local accumulation, shared memory, block remap, loop unrolling, compile-time
  /// constants, and their counterparts on a CPU.
  int introduction_rungs() const override { return 6; }
  std::vector<Dimension> dimensions() const override {  // `shape_error` says which values are possible
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
  ActivationShape input_image(const ProblemSize& size) const override {
    const ConvShape shape = conv_shape(size);
    return {shape.in_channels, shape.height, shape.width};
  }
  ActivationShape output_image(const ProblemSize& size) const override {
    const ConvShape shape = conv_shape(size);
    return {shape.out_channels, shape.out_height(), shape.out_width()};
  }
  int input_window(const ProblemSize& size) const override { return conv_shape(size).kernel; }
  bool is_linear() const override { return true; }
  std::unique_ptr<LinearReference> linear_reference(const ProblemSize& size, const float* weights) const override {
    return conv_reference(conv_shape(size), weights);
  }
  bool items_are_alike() const override { return true; }
  std::vector<std::pair<std::string_view, int>> derived_values(const ProblemSize& size) const override {
    const ConvShape shape = conv_shape(size);
    return {{"out_height", shape.out_height()}, {"out_width", shape.out_width()}};
  }
  double flop(const ProblemSize& size) const override { return conv_shape(size).with_batch(1).flop(); }
  /// Counts the operations of the definition without the taps that fall on padding.
  double least_flop(const ProblemSize& size) const override {
    const ConvShape shape = conv_shape(size);
    return 2.0 * shape.out_channels * shape.channels_per_group() *
           taps_inside(shape.height, shape.out_height(), shape) * taps_inside(shape.width, shape.out_width(), shape);
  }

  /// Winograd or FFT save at most a factor of a filter's taps.
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
};

const ProblemRegistration registration(std::make_unique<Convolution>());

}  // namespace

ConvShape::operator ProblemSize() const {
  return {&convolution_problem(), batch, {in_channels, height, width, out_channels, kernel, stride, padding, groups}};
}

const Problem& convolution_problem() {
  static const Problem& problem = built_in_problem("convolution");
  return problem;
}

ConvShape conv_shape(const ProblemSize& size) {
  if (size.problem != &convolution_problem()) {
    throw std::logic_error(fmt::format("a size of {} is no shape of a convolution", size.problem->name()));
  }
  const std::vector<int>& v = size.values;
  return {size.batch, v.at(0), v.at(1), v.at(2), v.at(3), v.at(4), v.at(5), v.at(6), v.at(7)};
}

ProblemTensors conv_tensors(const ProblemSize& size, const float* input, const float* weights, float* output) {
  const auto placed = [](const std::vector<ProblemTensor>& tensors, const float* address) {
    return std::vector<PlacedTensor>{{tensors.front(), const_cast<float*>(address)}};  // but for outputs, only read
  };
  const Problem& problem = *size.problem;
  return {placed(problem.inputs(size), input),
          placed(problem.constants(size), weights),
          placed(problem.outputs(size), output),
          {}};
}

}  // namespace convladder

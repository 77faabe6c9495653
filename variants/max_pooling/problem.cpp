// The largest of each K x K window, windows S apart, none cut off. It chooses and does not compute: the very value.
#include <fmt/format.h>

#include <cmath>

#include "variants/operator_problem.hpp"

namespace convladder {
namespace {

std::string sizes(const ActivationShape& shape) {
  return fmt::format("C{}H{}W{}", shape.channels, shape.height, shape.width);
}

class MaxPooling final : public OperatorProblem {
 public:
  MaxPooling() : OperatorProblem(OperatorType::max_pool) {}
  std::string_view name() const override { return "max-pooling"; }
  std::string_view title() const override { return "max pooling"; }
  std::vector<std::string> default_sizes() const override { return {"C12H66W66K2S2", "C96H55W55K3S2"}; }
  std::vector<Dimension> dimensions() const override {
    std::vector<Dimension> all = image_dimensions();
    all.push_back({"K", "pool_size", std::nullopt});
    all.push_back({"S", "pool_stride", std::nullopt});
    return all;
  }
  OperatorShape operator_shape(const ProblemSize& size) const override {
    const ActivationShape input = image_of(size);
    const int pool_size = size.at("K");
    const int stride = size.at("S");
    return {.type = type(),
            .batch = size.batch,
            .input = input,
            .output = {input.channels, (input.height - pool_size) / stride + 1, (input.width - pool_size) / stride + 1},
            .pool_size = pool_size,
            .pool_stride = stride};
  }
  std::vector<int> other_values(const OperatorShape& shape) const override {
    return {shape.pool_size, shape.pool_stride};
  }
  std::string own_shape_error(const OperatorShape& shape) const override {
    if (shape.pool_size < 1 || shape.pool_stride < 1) return "a max_pool needs a size and a stride of at least 1";
    if (shape.pool_size > shape.input.height || shape.pool_size > shape.input.width) {
      return fmt::format("pools of {} are larger than the input {}", shape.pool_size, sizes(shape.input));
    }
    const ActivationShape pooled{shape.input.channels, (shape.input.height - shape.pool_size) / shape.pool_stride + 1,
                                 (shape.input.width - shape.pool_size) / shape.pool_stride + 1};
    if (shape.output == pooled) return {};
    return fmt::format("pooling {} by {}/{} gives {}, not {}", sizes(shape.input), shape.pool_size, shape.pool_stride,
                       sizes(pooled), sizes(shape.output));
  }
  double flop(const ProblemSize& size) const override {
    return static_cast<double>(output_elements(size)) * size.at("K") * size.at("K");
  }
  /// Windows that overlap share what they compare.
  double least_flop(const ProblemSize& size) const override { return static_cast<double>(output_elements(size)); }

  ReferenceOutput own_reference(const OperatorShape& shape, const float* input, const float* /*weights*/,
                                const float* /*bias*/) const override {
    ReferenceOutput result = {};
    const int size = shape.pool_size;
    for (int channel = 0; channel < shape.output.channels; ++channel) {
      for (int row = 0; row < shape.output.height; ++row) {
        for (int column = 0; column < shape.output.width; ++column) {
          const float* const corner =
              input +
              (static_cast<std::int64_t>(channel) * shape.input.height + row * shape.pool_stride) * shape.input.width +
              column * shape.pool_stride;
          float largest = corner[0];
          for (int p = 0; p < size; ++p) {
            for (int q = 0; q < size; ++q) {
              const float value = corner[static_cast<std::int64_t>(p) * shape.input.width + q];
              if (value > largest || std::isnan(value)) largest = value;
            }
          }
          result.value.push_back(largest);
          result.magnitude.push_back(0);
        }
      }
    }
    return result;
  }
};

const ProblemRegistration registration(std::make_unique<MaxPooling>());

}  // namespace
}  // namespace convladder

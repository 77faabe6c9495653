// The largest of each K x K window, with windows S apart and none cut off. It is one of the inputs, so nothing is
// rounded.
#include <fmt/format.h>

#include <cmath>

#include "variants/layer_problem.hpp"
#include "variants/layer_shapes.hpp"

namespace convladder {
namespace {

class MaxPooling final : public LayerProblem {
 public:
  std::string_view name() const override { return "max-pooling"; }
  std::string_view title() const override { return "max pooling"; }
  std::vector<std::string> default_sizes() const override { return {"C12H66W66K2S2", "C96H55W55K3S2"}; }
  std::vector<Dimension> dimensions() const override {
    std::vector<Dimension> all = image_dimensions();
    all.push_back({"K", "pool_size", std::nullopt});
    all.push_back({"S", "pool_stride", std::nullopt});
    return all;
  }
  ActivationShape output_image(const ProblemSize& size) const override { return pooling_of(size).output; }
  std::string own_size_error(const ProblemSize& size) const override {
    const Pooling layer = pooling_of(size);
    if (layer.size <= layer.input.height && layer.size <= layer.input.width) return LayerProblem::own_size_error(size);
    return fmt::format("pools of {} are larger than the input C{}H{}W{}", layer.size, layer.input.channels,
                       layer.input.height, layer.input.width);
  }
  double flop(const ProblemSize& size) const override {
    return static_cast<double>(output_elements(size)) * size.at("K") * size.at("K");
  }
  /// Windows that overlap can share comparisons, so one operation for each output is the least.
  double least_flop(const ProblemSize& size) const override { return static_cast<double>(output_elements(size)); }

  std::vector<ReferenceOutput> reference(const ProblemSize& size, const ProblemTensors& item) const override {
    ReferenceOutput result = {};
    const Pooling layer = pooling_of(size);
    for (int channel = 0; channel < layer.output.channels; ++channel) {
      for (int row = 0; row < layer.output.height; ++row) {
        for (int column = 0; column < layer.output.width; ++column) {
          const float* const corner =
              item.input() +
              (static_cast<std::int64_t>(channel) * layer.input.height + row * layer.stride) * layer.input.width +
              column * layer.stride;
          float largest = corner[0];
          for (int p = 0; p < layer.size; ++p) {
            for (int q = 0; q < layer.size; ++q) {
              const float value = corner[static_cast<std::int64_t>(p) * layer.input.width + q];
              if (value > largest || std::isnan(value)) largest = value;
            }
          }
          result.value.push_back(largest);
          result.magnitude.push_back(0);
        }
      }
    }
    return {result};
  }
};

const ProblemRegistration registration(std::make_unique<MaxPooling>());

}  // namespace
}  // namespace convladder

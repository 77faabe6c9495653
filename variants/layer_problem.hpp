// The common part of the layers around the convolution as problems.
#pragma once

#include <string>
#include <vector>

#include "variants/layer_shapes.hpp"
#include "variants/problem.hpp"

namespace convladder {

/// Channels, rows and columns; rows and columns are 1 unless given.
std::vector<Dimension> image_dimensions();
/// The shape of one image of the layer's input.
ActivationShape image_of(const ProblemSize& size);

/// A layer over images, with one output for each; its dimensions begin with `image_dimensions`. A NaN is never hidden:
/// an output is NaN if it depends on any NaN of the input.
class LayerProblem : public Problem {
 public:
  /// Whether each output has a weight for each input.
  virtual bool has_weights() const { return false; }

  std::vector<Dimension> dimensions() const override { return image_dimensions(); }
  ActivationShape input_image(const ProblemSize& size) const override { return image_of(size); }
  ActivationShape output_image(const ProblemSize& size) const override = 0;
  /// One image, and the weights, have fewer than 2^31 elements: variants index inside them with 32 bits, and over the
  /// batch with 64.
  std::string own_size_error(const ProblemSize& size) const override;
  std::int64_t input_elements(const ProblemSize& size) const override {
    return static_cast<std::int64_t>(image_of(size).elements());
  }
  std::int64_t output_elements(const ProblemSize& size) const override {
    return static_cast<std::int64_t>(output_image(size).elements());
  }
  double flop(const ProblemSize& size) const override { return static_cast<double>(output_elements(size)); }
};

/// A layer that changes elements in place.
class ElementProblem : public LayerProblem {
 public:
  ActivationShape output_image(const ProblemSize& size) const override { return image_of(size); }
  bool works_in_place() const override { return true; }
};

}  // namespace convladder

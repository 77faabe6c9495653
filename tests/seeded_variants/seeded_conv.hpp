// Shared by the variants here that are sometimes wrong: the tensors, an honest convolution to be wrong with, and
// ways to tell whether anybody looks.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/seeded_variants/plain_convolution.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {

/// Where a call reads and writes.
struct ConvTensors {
  const float* input = nullptr;
  float* output = nullptr;
};

class SeededConv : public PreparedVariant {
 public:
  SeededConv(const ConvShape& shape, const float* weights, ConvTensors tensors)
      : shape_(shape), weights_(weights, weights + shape.weight_elements()), tensors_(tensors) {}

 protected:
  const ConvShape& shape() const { return shape_; }
  const float* weights() const { return weights_.data(); }
  const float* input() const { return tensors_.input; }
  float* output() const { return tensors_.output; }
  const float* input_of(int image) const { return input() + image * shape_.input_elements_per_image(); }
  float* output_of(int image) const { return output() + image * shape_.output_elements_per_image(); }
  float& last_output() const { return output()[shape_.output_elements() - 1]; }
  std::vector<float> whole_input() const { return {input(), input() + shape_.input_elements()}; }
  std::vector<float> whole_output() const { return {output(), output() + shape_.output_elements()}; }

  /// Right, the images from `first` to before `end`.
  void convolve_images(int first, int end) const {
    plain_convolution(shape_.with_batch(end - first), input_of(first), weights_.data(), output_of(first));
  }
  void convolve_all() const { convolve_images(0, shape_.batch); }

  /// Remembers what is in the output now.
  void sign() { signature_ = marks(); }
  /// Whether the output holds what was there when it was signed: nobody has filled it with anything since.
  bool is_own() const { return signature_ == marks(); }

 private:
  /// A few of its elements, and one that says that there are any.
  std::array<std::uint32_t, 4> marks() const {
    const auto bits = [this](std::int64_t at) { return std::bit_cast<std::uint32_t>(output()[at]); };
    const std::int64_t elements = shape_.output_elements();
    return {bits(0), bits(elements / 2), bits(elements - 1), 1};
  }

  ConvShape shape_;
  std::vector<float> weights_;
  ConvTensors tensors_;
  std::array<std::uint32_t, 4> signature_{};
};

/// Prepares a `Conv(shape, weights, tensors)`. No network takes it unless it is named.
template <typename Conv>
class SeededVariant : public Variant {
 public:
  bool suits(const ProblemSize& /*size*/) const override { return false; }
  std::unique_ptr<PreparedVariant> prepare(Device& /*device*/, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    return std::make_unique<Conv>(conv_shape(size), tensors.constant(), ConvTensors{tensors.input(), tensors.output()});
  }
};

template <typename Conv>
const Variant& seeded_variant() {
  return keep_variant(std::make_unique<SeededVariant<Conv>>());
}

/// Kept for as long as the process lives, for each shape, batch and set of weights: it outlives what is prepared.
template <typename Kept>
Kept& kept_for(const ConvShape& shape, const float* weights) {
  static std::map<std::pair<std::string, std::vector<float>>, Kept> kept;
  return kept[{shape_name(shape) + "/" + std::to_string(shape.batch),
               {weights[0], weights[shape.weight_elements() / 2], weights[shape.weight_elements() - 1]}}];
}

}  // namespace convladder

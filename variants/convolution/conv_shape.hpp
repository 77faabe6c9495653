// The shape of one convolution layer, as its variants know it. Data is NCHW, weights OIHW, everything float32.
#pragma once

#include <cstdint>
#include <string>

#include "variants/problem_size.hpp"

namespace convladder {

/// y[b, m, oh, ow] = sum over c, p, q of x[b, c, oh*stride + p - padding, ow*stride + q - padding] * w[m, c, p, q],
/// where x outside the image is zero and c runs over the channels of m's group.
struct ConvShape {
  int batch = 1;
  int in_channels = 1;
  int height = 1;  ///< input height in pixels
  int width = 1;
  int out_channels = 1;
  int kernel = 1;  ///< filters have kernel x kernel taps
  int stride = 1;
  int padding = 0;  ///< zeros on each side
  int groups = 1;   ///< divides in_channels and out_channels

  bool operator==(const ConvShape&) const = default;

  int out_height() const { return (height + 2 * padding - kernel) / stride + 1; }
  int out_width() const { return (width + 2 * padding - kernel) / stride + 1; }
  int channels_per_group() const { return in_channels / groups; }
  int maps_per_group() const { return out_channels / groups; }

  std::int64_t input_elements_per_image() const { return std::int64_t{in_channels} * height * width; }
  std::int64_t output_elements_per_image() const { return std::int64_t{out_channels} * out_height() * out_width(); }
  std::int64_t input_elements() const { return batch * input_elements_per_image(); }
  std::int64_t weight_elements() const { return std::int64_t{out_channels} * channels_per_group() * kernel * kernel; }
  std::int64_t output_elements() const { return batch * output_elements_per_image(); }

  /// Floating-point operations of the direct convolution, a multiply and an add per tap, padding counted as work.
  double flop() const { return 2.0 * static_cast<double>(output_elements()) * channels_per_group() * kernel * kernel; }
  /// The fewest bytes that it must move: input and weights read once, output written once.
  double minimum_bytes() const {
    return 4.0 * static_cast<double>(input_elements() + weight_elements() + output_elements());
  }

  /// The shape as the harness knows it: a size of the problem `convolution`.
  operator ProblemSize() const;  // NOLINT(google-explicit-constructor): it is one

  ConvShape with_batch(int new_batch) const {
    ConvShape shape = *this;
    shape.batch = new_batch;
    return shape;
  }
};

/// The shape of a size. Throws std::logic_error for a size of another problem.
ConvShape conv_shape(const ProblemSize& size);

/// Empty if the shape describes a convolution, otherwise what is wrong with it, in one line.
std::string shape_error(const ConvShape& shape);

/// The layer without its batch, short and unique: "C12H33W33M24K7", with "S2", "P1", "G2" appended where they matter.
std::string shape_name(const ConvShape& shape);

/// The tolerance granted for a shape. Errors of sums of n products, each rounded to float32 in whatever order, grow
/// with sqrt(n) * 2^-24 (Higham and Mary, A new approach to probabilistic rounding error analysis, 2019). Three times
/// that is granted: a correct stage was seen at 0.9 times this value for 588 products. For few products 1e-6 is more,
/// and holds.
double granted_tolerance(double wanted, const ConvShape& shape);

}  // namespace convladder

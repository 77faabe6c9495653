#include "variants/convolution/conv_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "variants/accuracy.hpp"

namespace convladder {

std::string shape_error(const ConvShape& shape) {
  const auto require_positive = [](const char* name, int value) {
    return value >= 1 ? std::string() : fmt::format("{} is {}, it must be at least 1", name, value);
  };
  for (const auto& [name, value] : {std::pair{"batch", shape.batch},
                                    {"in_channels", shape.in_channels},
                                    {"height", shape.height},
                                    {"width", shape.width},
                                    {"out_channels", shape.out_channels},
                                    {"kernel", shape.kernel},
                                    {"stride", shape.stride},
                                    {"groups", shape.groups}}) {
    if (std::string error = require_positive(name, value); !error.empty()) return error;
  }
  if (shape.padding < 0) return fmt::format("padding is {}, it must be at least 0", shape.padding);
  if (shape.padding >= shape.kernel) {
    return fmt::format("padding {} is not smaller than the kernel {}: some outputs would see only padding",
                       shape.padding, shape.kernel);
  }
  const std::int64_t padding_of_both_sides = 2 * std::int64_t{shape.padding};
  const std::int64_t padded_height = shape.height + padding_of_both_sides;
  const std::int64_t padded_width = shape.width + padding_of_both_sides;
  if (std::max(padded_height, padded_width) > std::numeric_limits<int>::max()) {
    return fmt::format("the padded image {}x{} has a side of 2^31 pixels or more", padded_height, padded_width);
  }
  if (shape.kernel > padded_height || shape.kernel > padded_width) {
    return fmt::format("the kernel {0}x{0} is larger than the padded image {1}x{2}", shape.kernel, padded_height,
                       padded_width);
  }
  if (shape.in_channels % shape.groups != 0 || shape.out_channels % shape.groups != 0) {
    return fmt::format("groups {} does not divide in_channels {} and out_channels {}", shape.groups, shape.in_channels,
                       shape.out_channels);
  }
  // Kernels index one image with 32 bits and the whole tensor with 64. Computed in floating point, which cannot
  // overflow.
  constexpr double limit = 2147483648.0;
  const double out_pixels = static_cast<double>(shape.out_height()) * shape.out_width();
  if (1.0 * shape.in_channels * shape.height * shape.width >= limit || shape.out_channels * out_pixels >= limit ||
      1.0 * shape.out_channels * shape.channels_per_group() * shape.kernel * shape.kernel >= limit) {
    return "one image or the weights hold 2^31 elements or more";
  }
  return {};
}

std::string shape_name(const ConvShape& shape) {
  std::string name =
      fmt::format("C{}H{}W{}M{}K{}", shape.in_channels, shape.height, shape.width, shape.out_channels, shape.kernel);
  if (shape.stride != 1) name += fmt::format("S{}", shape.stride);
  if (shape.padding != 0) name += fmt::format("P{}", shape.padding);
  if (shape.groups != 1) name += fmt::format("G{}", shape.groups);
  return name;
}

double granted_tolerance(double wanted, const ConvShape& shape) {
  const double products = 1.0 * shape.channels_per_group() * shape.kernel * shape.kernel;
  return std::max(std::min(wanted, kLargestTolerance), 3 * 0x1p-24 * std::sqrt(products));
}

}  // namespace convladder

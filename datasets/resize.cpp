#include "datasets/resize.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace convladder {
namespace {

/// Where one output row or column reads: between `first` and `second`, `share` of the way.
struct Sample {
  int first;
  int second;
  float share;
};

std::vector<Sample> samples(int size, int out_size) {
  const double scale = static_cast<double>(size) / out_size;
  std::vector<Sample> result(static_cast<std::size_t>(out_size));
  for (int i = 0; i < out_size; ++i) {
    const double position = std::clamp((i + 0.5) * scale - 0.5, 0.0, size - 1.0);
    const int first = static_cast<int>(std::floor(position));
    result[static_cast<std::size_t>(i)] = {first, std::min(first + 1, size - 1), static_cast<float>(position - first)};
  }
  return result;
}

float between(float first, float second, float share) { return first + (second - first) * share; }

}  // namespace

void resize_bilinear(const std::uint8_t* image, int height, int width, float* out, int out_height, int out_width) {
  const std::vector<Sample> columns = samples(width, out_width);
  for (const Sample& row : samples(height, out_height)) {
    const std::uint8_t* upper = image + static_cast<std::ptrdiff_t>(row.first) * width;
    const std::uint8_t* lower = image + static_cast<std::ptrdiff_t>(row.second) * width;
    for (const Sample& column : columns) {
      *out++ = between(between(upper[column.first], upper[column.second], column.share),
                       between(lower[column.first], lower[column.second], column.share), row.share);
    }
  }
}

}  // namespace convladder

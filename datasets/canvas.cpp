#include "datasets/canvas.hpp"

#include <algorithm>

namespace convladder {
namespace {

constexpr int pixel = 256;  // placed coordinates are in 1/256 pixel
constexpr int lines = 4;    // scan lines per row of pixels
constexpr int full = lines * pixel;

/// The x where each edge of the polygon crosses the horizontal line at y, in increasing order.
void find_crossings(const std::vector<Point>& polygon, int y, std::vector<int>& crossings) {
  crossings.clear();
  Point from = polygon.back();
  for (const Point to : polygon) {
    if ((from.y <= y) != (to.y <= y)) {
      crossings.push_back(from.x + (to.x - from.x) * (y - from.y) / (to.y - from.y));
    }
    from = to;
  }
  std::sort(crossings.begin(), crossings.end());
}

/// Adds to each pixel the length of left..right that lies in it.
void cover(int left, int right, std::array<int, Canvas::size>& coverage) {
  left = std::max(left, 0);
  right = std::min(right, Canvas::size * pixel);
  for (int column = left / pixel; column * pixel < right; ++column) {
    const int length = std::min(right, (column + 1) * pixel) - std::max(left, column * pixel);
    coverage[static_cast<std::size_t>(column)] += std::max(length, 0);
  }
}

}  // namespace

Polygon mirrored(const Polygon& polygon) {
  Polygon result = polygon;
  for (Point& point : result) point.x = -point.x;
  return result;
}

Polygon symmetric(const Polygon& right_half) {
  Polygon result = right_half;
  const Polygon left_half = mirrored(right_half);
  result.insert(result.end(), left_half.rbegin(), left_half.rend());
  return result;
}

std::vector<Point> Canvas::placed(const Polygon& polygon) const {
  // A tenth of a pixel, scaled by 1024, is 25.6 / 1024 = 1 / 40 of 1/256 pixel.
  constexpr int middle = size * pixel / 2;
  std::vector<Point> result;
  result.reserve(polygon.size());
  for (const Point& point : polygon) {
    result.push_back({middle + placement_.shift_x + (point.x * placement_.scale_x + point.y * placement_.shear) / 40,
                      middle + placement_.shift_y + point.y * placement_.scale_y / 40});
  }
  return result;
}

void Canvas::blend(int row, const Coverage& coverage, int brightness) {
  for (int column = 0; column < size; ++column) {
    int& value = pixels_[static_cast<std::size_t>(row) * size + column];
    value += (brightness - value) * coverage[static_cast<std::size_t>(column)] / full;
  }
}

void Canvas::fill(const Polygon& polygon, int brightness) {
  const std::vector<Point> outline = placed(polygon);
  const auto [top, bottom] =
      std::minmax_element(outline.begin(), outline.end(), [](const Point& a, const Point& b) { return a.y < b.y; });
  const int first_row = std::max(top->y / pixel, 0);
  const int last_row = std::min(bottom->y / pixel, size - 1);
  for (int row = first_row; row <= last_row; ++row) {
    Coverage coverage{};
    for (int line = 0; line < lines; ++line) {
      find_crossings(outline, row * pixel + pixel / lines * line + pixel / lines / 2, crossings_);
      for (std::size_t i = 0; i + 1 < crossings_.size(); i += 2) cover(crossings_[i], crossings_[i + 1], coverage);
    }
    blend(row, coverage, brightness);
  }
}

}  // namespace convladder

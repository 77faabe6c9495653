// A small grey image to draw polygons on, with soft edges and integer arithmetic only.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace convladder {

/// A point in tenths of a pixel from the centre of the image, x to the right, y down.
struct Point {
  int x;
  int y;
};

using Polygon = std::vector<Point>;

/// The polygon mirrored at the vertical axis.
Polygon mirrored(const Polygon& polygon);

/// A symmetric polygon from its right half, given from the top of the axis to its bottom.
Polygon symmetric(const Polygon& right_half);

/// Where and how large a drawing appears.
struct Placement {
  int scale_x = 1024;  ///< 1024 draws as given
  int scale_y = 1024;
  int shear = 0;    ///< x shifts by shear/1024 of y
  int shift_x = 0;  ///< in 1/256 pixel
  int shift_y = 0;
};

/// 28 x 28 pixels, black at first.
class Canvas {
 public:
  static constexpr int size = 28;

  explicit Canvas(const Placement& placement) : placement_(placement) {}

  /// Covers the polygon's inside (even-odd) with a brightness of 0..255; pixels at its edge are blended.
  void fill(const Polygon& polygon, int brightness);

  std::array<int, size * size>& pixels() { return pixels_; }

 private:
  using Coverage = std::array<int, size>;

  std::vector<Point> placed(const Polygon& polygon) const;
  void blend(int row, const Coverage& coverage, int brightness);

  Placement placement_;
  std::array<int, size * size> pixels_{};
  std::vector<int> crossings_;  ///< kept between calls, to allocate once
};

}  // namespace convladder

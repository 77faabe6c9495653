// The check of a step of a network, or of a fused variant: image by image, then of all of them.
#pragma once

#include <cstdint>
#include <string>

#include "harness/measure/verification/output_fill.hpp"
#include "variants/accuracy.hpp"

namespace convladder {

/// The result for one image.
struct ImageCheck {
  bool compared = false;
  double max_scaled_error = 0;  ///< largest |error| / magnitude; NaN where an element is not a number
  std::int64_t unwritten = 0;   ///< wrong elements that hold what was there before
  std::string failure;          ///< one line; empty if right
};

/// Compares one image's output with its reference. `fill` was there before the call; the image's first element is
/// number `first` of it.
ImageCheck check_image(const ReferenceOutput& expected, const float* output, double tolerance, const OutputFill& fill,
                       std::int64_t first);

struct StepCheck {
  std::string step;
  int compared_images = 0;
  int combined_images = 0;      ///< images compared with the reference in random combinations only
  double max_scaled_error = 0;  ///< largest |error| / magnitude of the reference; NaN stays
  std::int64_t unwritten = 0;
  std::string failure;  ///< one line; empty if right

  bool passed() const { return failure.empty(); }
  void add(int image, const ImageCheck& found);
  /// Reports how many of `elements` were never written, if any.
  void conclude(std::int64_t elements);
};

}  // namespace convladder

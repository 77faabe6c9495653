// Which batches suit the fused variants: with images in lanes they want images, and what they want depends on what else
// there is for few.
#pragma once

#include "variants/convolution/cpu/shifted_rows.hpp"

namespace convladder {

/// Whether the copies of a whole image find room in the second-level cache, as those of few channels do: with bands of
/// a few rows each tile of maps has little to go with.
inline bool shifted_copies_fit(const ConvShape& shape) {
  return ShiftedRowsDivision(shape.with_batch(1), 1, {}).rows == shape.out_height();
}

/// Strips of few rows, which a small batch is cut into, read much twice.
inline bool has_images_for_lanes(const ConvShape& s) { return 2 * s.batch >= chosen_instruction_set().lanes; }

}  // namespace convladder

// The batches that suit the fused variants. Images in lanes need enough images; how many depends on the other variants
// that suit few images.
#pragma once

#include "variants/convolution/cpu/shifted_rows.hpp"

namespace convladder {

/// Whether the copies of a whole image fit into the second-level cache, as those of few channels do: in bands of a few
/// rows a tile of maps has too little work.
inline bool shifted_copies_fit(const ConvShape& shape) {
  return ShiftedRowsDivision(shape.with_batch(1), 1, {}).rows == shape.out_height();
}

/// Whether a batch has enough images for the lanes: strips of few rows, which a smaller one is cut into, read much
/// twice.
inline bool has_images_for_lanes(const ConvShape& s) { return 2 * s.batch >= chosen_instruction_set().lanes; }

}  // namespace convladder

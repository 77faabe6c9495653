// A call's input in which every element is new: no result of an earlier call, nor any part of one, is of use for it.
#pragma once

#include <cstdint>

#include "harness/measure/verification/input_change.hpp"

namespace convladder {

/// Writes elements `first` to before `first + count` of an image as call number `call` finds them under a fresh change
/// (InputChange::fresh). `to` is the image's place; `input` is the problem's, all images of it.
///
/// A number of a floating type is the changed image's own, scaled by a factor between 1/2 and 1 for the whole image
/// and one for the element, which follow from the seed, the call and the place: zeros stay zeros, the sign stays, and
/// so do the tensor's limits (where zero lies outside of them, the distance to the nearer limit is scaled). An integer
/// is one of the image's own at a place drawn in the same way; where elements may not move, every second one is any
/// number within the tensor's limits. So all calls have inputs of one distribution, and any of them can be computed
/// again.
void write_fresh_elements(void* to, const InputChange& change, const InputLayout& layout, const void* input, int image,
                          std::int64_t call, std::int64_t first, std::int64_t count);

/// All of an image as that call finds it, whatever the change is: fresh, or with replaced elements.
void write_image_of_call(void* to, const InputChange& change, const InputLayout& layout, const void* input, int image,
                         std::int64_t call);

}  // namespace convladder

// Tensor maps as they are written on the command line.
//
//   @BUFFER[+BYTES]:TYPE:SIZES[:OPTION=…]
//
//   TYPE    u8 u16 u32 u64 i32 i64 f16 f32 f64 bf16 tf32
//   SIZES   of the tensor, the innermost first, as for cuTensorMapEncodeTiled: 64x32
//   OPTION  box=16x8             elements that a copy moves, in each dimension
//           strides=128          bytes from one element to the next, of all dimensions but the first; otherwise the
//                                elements lie side by side
//           steps=1x2            in each dimension, every how many elements of the box one is copied
//           swizzle=128          or 32, 64, 128_atom_32, 128_atom_32_flip_8, 128_atom_64
//           fill=nan             elements outside of the tensor are read as NaN
//           lower=-1x-1 upper=-1x-1 channels=64 pixels=128   instead of a box: as for cuTensorMapEncodeIm2col
#pragma once

#include <string_view>

#include "harness/measure/simulation/structure_value.hpp"

namespace convladder {

/// The 128 bytes of a tensor map of the simulated device; the tensor's address is to be filled in. Throws UserError
/// that starts with `what`.
StructureValue parse_tensor(std::string_view what, std::string_view text);

}  // namespace convladder

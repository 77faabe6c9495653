// Tensor maps (CUtensorMap): 128 bytes that describe a tensor in global memory, and the boxes in which it is copied.
//
// A GPU's layout of them is not documented, and programs may only pass them on. Here they are this struct, as it is
// in memory. They are made by the functions below, which take the parameters of cuTensorMapEncodeTiled and
// cuTensorMapEncodeIm2col (cuda.h of CUDA 13), and changed by `tensormap.replace`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace convladder::simulated {

/// Numbers as in CUtensorMapDataType; `tensormap.replace` has others (tensor_type_of_instruction).
enum class TensorType : std::uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,
  tf32,
  tf32_ftz,
  b4,         ///< 16U4_ALIGN8B: two elements in a byte, in shared memory as well
  b4_padded,  ///< 16U4_ALIGN16B
  b6_padded,  ///< 16U6_ALIGN16B
};
inline constexpr int kTensorTypes = 16;
int bits_of(TensorType type);
bool is_floating(TensorType type);
/// The type's name: "f16", "16U4_ALIGN8B".
std::string_view name_of(TensorType type);

/// OOB-NaN, in every 16 bits of an element: not documented; GPUs were found to write this value.
inline constexpr std::uint16_t kOutOfBoundsNan = 0x7ff7;

enum class TensorMode : std::uint8_t { tiled, im2col };

/// The number of bytes of a box in shared memory within which pieces change places. Numbers as in `tensormap.replace`,
/// which alone can ask for 96.
enum class TensorSwizzle : std::uint8_t { none, span32, span64, span128, span96 };
/// The size of the pieces that change places, with numbers as in `tensormap.replace`; with `bytes32_flip8` the halves
/// of 16 bytes change places in every other line.
enum class TensorAtom : std::uint8_t { bytes16, bytes32, bytes32_flip8, bytes64 };

/// Dimensions are in the API's order: the innermost first, whose elements are adjacent.
struct TensorMap {
  static constexpr std::uint64_t kMagic = 0x3150'414d'4c56'4f43;  // "COVLMAP1"
  static constexpr std::size_t kBytes = 128;
  static constexpr std::size_t kMostDimensions = 5;

  std::uint64_t address = 0;
  /// The second word: of small tensors CUTLASS and Triton clear its bit 21, around a fault of NVIDIA's driver. It is 0
  /// in the magic number.
  std::uint64_t magic = kMagic;
  std::array<std::uint64_t, 5> sizes{};           ///< in elements
  std::array<std::uint64_t, 4> strides{};         ///< in bytes, from the second dimension on
  std::array<std::uint16_t, 5> box{};             ///< in elements; im2col: channels, pixels
  std::array<std::uint8_t, 5> element_strides{};  ///< 1: every element
  std::uint8_t rank = 0;
  TensorType type = TensorType::u8;
  TensorMode mode = TensorMode::tiled;
  std::uint8_t interleave = 0;  ///< as in CUtensorMapInterleave
  TensorSwizzle swizzle = TensorSwizzle::none;
  TensorAtom atom = TensorAtom::bytes16;
  std::uint8_t l2_promotion = 0;  ///< as in CUtensorMapL2promotion; changes nothing here
  std::uint8_t fills_nan = 0;     ///< elements outside of the tensor are read as OOB-NaN, not as zero
  std::uint8_t spare = 0;
  std::array<std::int16_t, 3> lower{};  ///< im2col: corners of the box of pixels, from the second dimension on
  std::array<std::int16_t, 3> upper{};
  std::array<std::uint8_t, 4> unused{};

  /// The map that a GPU takes 128 zero bytes for, from which kernels make maps of their own with `tensormap.replace`:
  /// one dimension, nothing interleaved, swizzled or filled.
  static TensorMap of_zeroes() {
    TensorMap map;
    map.rank = 1;
    return map;
  }

  /// The number of elements of the box that are copied in one dimension.
  std::uint64_t copied(std::size_t dimension) const;
  /// The bytes that one copy moves, in shared memory.
  std::uint64_t box_bytes() const;

  /// The place in shared memory of a byte of a box that would be at `offset` without the swizzle.
  std::uint64_t swizzled(std::uint64_t offset) const;

  /// The restriction of the API that the map violates, in a line; empty if there is none.
  std::string problem() const;
};
static_assert(sizeof(TensorMap) == TensorMap::kBytes);
static_assert((TensorMap::kMagic >> 21 & 1) == 0 && offsetof(TensorMap, magic) == 8);

/// An impossible tensor map: the message is one line and says why.
struct TensorMapError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The parameters that both functions of the API take; enumerations are given as their numbers.
struct TensorDescription {
  int type = 0;  ///< CUtensorMapDataType
  std::uint64_t address = 0;
  std::vector<std::uint64_t> sizes;              ///< of each dimension, in elements
  std::vector<std::uint64_t> strides;            ///< in bytes, for each dimension but the innermost
  std::vector<std::uint32_t> element_strides{};  ///< for each dimension; none: 1 everywhere
  int interleave = 0;                            ///< CUtensorMapInterleave
  int swizzle = 0;                               ///< CUtensorMapSwizzle
  int l2_promotion = 0;                          ///< CUtensorMapL2promotion
  int fill = 0;                                  ///< CUtensorMapFloatOOBfill
};

/// Takes the parameters of cuTensorMapEncodeTiled: `box` has as many elements as the tensor has dimensions. Throws
/// TensorMapError for what the API refuses.
TensorMap encode_tiled(const TensorDescription& tensor, std::span<const std::uint32_t> box);
/// Takes the parameters of cuTensorMapEncodeIm2col: the corners have two elements fewer than the tensor has dimensions.
TensorMap encode_im2col(const TensorDescription& tensor, std::span<const int> lower, std::span<const int> upper,
                        std::uint32_t channels, std::uint32_t pixels);

/// The element type that `tensormap.replace.tile.elemtype` gives this number, 0 to 15.
TensorType tensor_type_of_instruction(std::uint32_t number);

}  // namespace convladder::simulated

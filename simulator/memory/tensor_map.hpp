// Tensor maps (CUtensorMap): 128 bytes that describe a tensor in global memory, and the boxes in which it is copied.
//
// A GPU's layout of them is not documented, and programs may only hand them on. Here they are this struct, as it lies
// in memory. They are made by the functions below, which take what cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col
// take (cuda.h of CUDA 13), and changed by `tensormap.replace`.
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
/// "f16", "16U4_ALIGN8B".
std::string_view name_of(TensorType type);

/// What OOB-NaN is, in every 16 bits of an element: not documented, and what GPUs were found to write.
inline constexpr std::uint16_t kOutOfBoundsNan = 0x7ff7;

enum class TensorMode : std::uint8_t { tiled, im2col };

/// Of a box in shared memory: within how many bytes pieces change places. Numbers as for `tensormap.replace`, which
/// alone can ask for 96.
enum class TensorSwizzle : std::uint8_t { none, span32, span64, span128, span96 };
/// How large the pieces are, likewise; with `bytes32_flip8` the halves of 16 bytes change places in every other line.
enum class TensorAtom : std::uint8_t { bytes16, bytes32, bytes32_flip8, bytes64 };

/// Dimensions are those of the API: the innermost first, whose elements lie side by side.
struct TensorMap {
  static constexpr std::uint64_t kMagic = 0x3150'414d'4c56'4f43;  // "COVLMAP1"
  static constexpr std::size_t kBytes = 128;
  static constexpr std::size_t kMostDimensions = 5;

  std::uint64_t magic = kMagic;
  std::uint64_t address = 0;
  std::array<std::uint64_t, 5> sizes{};           ///< in elements
  std::array<std::uint64_t, 4> strides{};         ///< in bytes, of the second dimension and those behind it
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

  /// Of the box in one dimension, elements that are copied.
  std::uint64_t copied(std::size_t dimension) const;
  /// Of all that one copy moves, in shared memory.
  std::uint64_t box_bytes() const;

  /// Where a byte of a box lies in shared memory that would lie at `offset` without the swizzle.
  std::uint64_t swizzled(std::uint64_t offset) const;

  /// What is wrong with it, in a line: which restriction of the API it violates. Empty: nothing.
  std::string problem() const;
};
static_assert(sizeof(TensorMap) == TensorMap::kBytes);

/// A tensor map that cannot be: the message is one line and says why.
struct TensorMapError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What both functions of the API are given; enumerations are their numbers.
struct TensorDescription {
  int type = 0;  ///< CUtensorMapDataType
  std::uint64_t address = 0;
  std::vector<std::uint64_t> sizes;              ///< of each dimension, in elements
  std::vector<std::uint64_t> strides;            ///< of each but the innermost, in bytes
  std::vector<std::uint32_t> element_strides{};  ///< of each; none: 1 everywhere
  int interleave = 0;                            ///< CUtensorMapInterleave
  int swizzle = 0;                               ///< CUtensorMapSwizzle
  int l2_promotion = 0;                          ///< CUtensorMapL2promotion
  int fill = 0;                                  ///< CUtensorMapFloatOOBfill
};

/// As cuTensorMapEncodeTiled: `box` has as many elements as the tensor dimensions. Throws TensorMapError for what the
/// API refuses.
TensorMap encode_tiled(const TensorDescription& tensor, std::span<const std::uint32_t> box);
/// As cuTensorMapEncodeIm2col: the corners have two elements fewer than the tensor dimensions.
TensorMap encode_im2col(const TensorDescription& tensor, std::span<const int> lower, std::span<const int> upper,
                        std::uint32_t channels, std::uint32_t pixels);

/// The element type that `tensormap.replace.tile.elemtype` gives this number, 0 to 15.
TensorType tensor_type_of_instruction(std::uint32_t number);

}  // namespace convladder::simulated

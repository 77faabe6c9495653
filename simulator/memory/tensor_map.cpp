#include "simulator/memory/tensor_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace convladder::simulated {
namespace {

constexpr std::uint64_t kMostElements = std::uint64_t{1} << 32;  // along a dimension
constexpr std::uint64_t kStrideEnd = std::uint64_t{1} << 40;
constexpr std::uint32_t kMostInBox = 256;  // along a dimension; channels of a pixel
constexpr std::uint32_t kMostPixels = 1024;
constexpr std::uint32_t kMostElementStride = 8;

struct TypeFacts {
  std::string_view name;
  int bits;
  bool floating;
};
constexpr std::array<TypeFacts, kTensorTypes> kTypes = {{{"u8", 8, false},
                                                         {"u16", 16, false},
                                                         {"u32", 32, false},
                                                         {"s32", 32, false},
                                                         {"u64", 64, false},
                                                         {"s64", 64, false},
                                                         {"f16", 16, true},
                                                         {"f32", 32, true},
                                                         {"f64", 64, true},
                                                         {"bf16", 16, true},
                                                         {"f32.ftz", 32, true},
                                                         {"tf32", 32, true},
                                                         {"tf32.ftz", 32, true},
                                                         {"16U4_ALIGN8B", 4, false},
                                                         {"16U4_ALIGN16B", 4, false},
                                                         {"16U6_ALIGN16B", 6, false}}};

const TypeFacts& facts(TensorType type) { return kTypes[static_cast<std::size_t>(type)]; }

bool is_padded(TensorType type) { return type == TensorType::b4_padded || type == TensorType::b6_padded; }

/// The most bytes that the innermost dimension of a box may have; 0: any number.
std::uint64_t most_inner_bytes(TensorSwizzle swizzle) {
  switch (swizzle) {
    case TensorSwizzle::none:
      return 0;
    case TensorSwizzle::span32:
      return 32;
    case TensorSwizzle::span64:
      return 64;
    case TensorSwizzle::span96:
      return 96;
    default:
      return 128;
  }
}

/// The largest number that a corner of the box of pixels can have; the smallest is one below its negative.
int most_corner(std::size_t spatial_dimensions) {
  return spatial_dimensions == 1 ? 32767 : spatial_dimensions == 2 ? 127 : 15;
}

/// Keeps the first problem.
class Problems {
 public:
  template <typename... Values>
  void expect(bool holds, fmt::format_string<Values...> text, Values&&... values) {
    if (!holds && first_.empty()) first_ = fmt::format(text, std::forward<Values>(values)...);
  }
  bool any() const { return !first_.empty(); }
  std::string take() { return std::move(first_); }

 private:
  std::string first_;
};

void check_type(const TensorMap& map, Problems& problems) {
  const bool floating = facts(map.type).floating;
  problems.expect(map.fills_nan <= 1, "the fill {} is none of 0 and 1", map.fills_nan);
  problems.expect(map.fills_nan == 0 || floating, "NaN fills elements of floating types only, not {}",
                  facts(map.type).name);
  problems.expect(map.type != TensorType::b6_padded || map.interleave == 0, "16U6_ALIGN16B cannot be interleaved");
  if (!is_padded(map.type)) return;
  const bool is_possible = map.swizzle == TensorSwizzle::none ||
                           (map.swizzle == TensorSwizzle::span128 && map.atom != TensorAtom::bytes32_flip8 &&
                            (map.atom != TensorAtom::bytes64 || map.type == TensorType::b6_padded));
  problems.expect(is_possible, "{} cannot be swizzled so", facts(map.type).name);
}

void check_tensor(const TensorMap& map, Problems& problems) {
  const std::size_t rank = map.rank;
  const std::uint64_t unit = map.interleave == 2 || is_padded(map.type) ? 32 : 16;
  problems.expect(map.address % unit == 0, "the address 0x{:x} is not a multiple of {}", map.address, unit);
  for (std::size_t i = 0; i < rank; ++i) {
    problems.expect(map.sizes[i] <= kMostElements, "dimension {} has {} elements; 2^32 are possible", i, map.sizes[i]);
  }
  const std::uint64_t inner_unit = is_padded(map.type) ? 128 : map.type == TensorType::b4 ? 2 : 1;
  problems.expect(map.sizes[0] % inner_unit == 0, "dimension 0 has {} elements, not a multiple of {}", map.sizes[0],
                  inner_unit);
  for (std::size_t i = 0; i + 1 < rank; ++i) {
    problems.expect(map.strides[i] % unit == 0, "the stride of dimension {} is {} bytes, not a multiple of {}", i + 1,
                    map.strides[i], unit);
    problems.expect(map.strides[i] < kStrideEnd, "the stride of dimension {} is {} bytes; it has to be less than 2^40",
                    i + 1, map.strides[i]);
  }
  for (std::size_t i = 0; i < rank; ++i) {
    problems.expect(map.element_strides[i] >= 1 && map.element_strides[i] <= kMostElementStride,
                    "the element stride of dimension {} is {}; 1 to 8 are possible", i, map.element_strides[i]);
  }
}

void check_inner_box(const TensorMap& map, Problems& problems) {
  const std::uint64_t bits = map.box[0] * static_cast<std::uint64_t>(facts(map.type).bits);
  problems.expect(!is_padded(map.type) || map.box[0] == 128, "a box of {} has 128 elements in dimension 0, not {}",
                  facts(map.type).name, map.box[0]);
  if (map.interleave != 0) return;
  problems.expect(bits % 128 == 0, "the box has {} bits in dimension 0, not a multiple of 16 bytes", bits);
  const std::uint64_t most = most_inner_bytes(map.swizzle);
  problems.expect(most == 0 || is_padded(map.type) || bits / 8 <= most,
                  "the box has {} bytes in dimension 0; {} are possible with this swizzle", bits / 8, most);
}

void check_tiles(const TensorMap& map, Problems& problems) {
  problems.expect(map.rank >= 1 && map.rank <= 5, "{} dimensions; 1 to 5 are possible", map.rank);
  problems.expect(map.interleave == 0 || map.rank >= 3, "{} dimensions; interleaved tensors have at least 3", map.rank);
  if (problems.any()) return;
  for (std::size_t i = 0; i < map.rank; ++i) {
    problems.expect(map.box[i] >= 1 && map.box[i] <= kMostInBox,
                    "the box has {} elements in dimension {}; 1 to 256 are possible", map.box[i], i);
  }
}

void check_pixels(const TensorMap& map, Problems& problems) {
  problems.expect(map.rank >= 3 && map.rank <= 5, "{} dimensions; 3 to 5 are possible for im2col", map.rank);
  if (problems.any()) return;
  problems.expect(map.box[0] >= 1 && map.box[0] <= kMostInBox, "{} channels of a pixel; 1 to 256 are possible",
                  map.box[0]);
  problems.expect(map.box[1] >= 1 && map.box[1] <= kMostPixels, "{} pixels of a column; 1 to 1024 are possible",
                  map.box[1]);
  const std::size_t spatial = map.rank - 2U;
  const int most = most_corner(spatial);
  for (std::size_t i = 0; i < spatial; ++i) {
    for (const int corner : {map.lower[i], map.upper[i]}) {
      problems.expect(corner >= -most - 1 && corner <= most,
                      "a corner of the box is {} in dimension {}; {} to {} are possible", corner, i + 1, -most - 1,
                      most);
    }
    const std::int64_t extent = static_cast<std::int64_t>(map.sizes[i + 1]) + map.upper[i] - map.lower[i];
    problems.expect(extent > 0 || map.sizes[i + 1] == 0, "the box of pixels is empty in dimension {}", i + 1);
  }
}

/// Converts a number of the API. Throws TensorMapError if it does not fit into a tensor map.
template <typename To>
To narrowed(std::uint64_t value, std::string_view what) {
  if (value > std::numeric_limits<To>::max()) throw TensorMapError(fmt::format("{} is {}", what, value));
  return static_cast<To>(value);
}

TensorMap map_of(const TensorDescription& tensor) {
  const auto expect = [](int number, int end, std::string_view what) {
    if (number < 0 || number >= end) throw TensorMapError(fmt::format("{} {} is none that there is", what, number));
  };
  expect(tensor.type, kTensorTypes, "the data type");
  expect(tensor.interleave, 3, "the interleave");
  expect(tensor.swizzle, 7, "the swizzle");
  expect(tensor.l2_promotion, 4, "the L2 promotion");
  expect(tensor.fill, 2, "the fill");
  const std::size_t rank = tensor.sizes.size();
  if (rank == 0 || rank > TensorMap::kMostDimensions) {
    throw TensorMapError(fmt::format("{} dimensions; 1 to 5 are possible", rank));
  }
  if (tensor.strides.size() + 1 != rank) {
    throw TensorMapError(
        fmt::format("{} strides of {} dimensions; one fewer is expected", tensor.strides.size(), rank));
  }
  if (!tensor.element_strides.empty() && tensor.element_strides.size() != rank) {
    throw TensorMapError(fmt::format("{} element strides of {} dimensions", tensor.element_strides.size(), rank));
  }
  TensorMap map;
  map.address = tensor.address;
  map.rank = static_cast<std::uint8_t>(rank);
  std::ranges::copy(tensor.sizes, map.sizes.begin());
  std::ranges::copy(tensor.strides, map.strides.begin());
  for (std::size_t i = 0; i < rank; ++i) {
    const std::uint32_t stride = tensor.element_strides.empty() ? 1 : tensor.element_strides[i];
    map.element_strides[i] = narrowed<std::uint8_t>(stride, fmt::format("the element stride of dimension {}", i));
    if (map.sizes[i] == 0) throw TensorMapError(fmt::format("dimension {} has no elements", i));
  }
  map.type = static_cast<TensorType>(tensor.type);
  map.interleave = static_cast<std::uint8_t>(tensor.interleave);
  constexpr int kSpan128 = 3;  // higher numbers are for its atoms
  map.swizzle = static_cast<TensorSwizzle>(std::min(tensor.swizzle, kSpan128));
  map.atom = static_cast<TensorAtom>(std::max(tensor.swizzle - kSpan128, 0));
  map.l2_promotion = static_cast<std::uint8_t>(tensor.l2_promotion);
  map.fills_nan = static_cast<std::uint8_t>(tensor.fill);
  return map;
}

TensorMap checked(const TensorMap& map) {
  if (std::string problem = map.problem(); !problem.empty()) throw TensorMapError(problem);
  return map;
}

}  // namespace

int bits_of(TensorType type) { return facts(type).bits; }
bool is_floating(TensorType type) { return facts(type).floating; }
std::string_view name_of(TensorType type) { return facts(type).name; }

std::uint64_t TensorMap::copied(std::size_t dimension) const {
  if (mode == TensorMode::im2col || dimension == 0) return box[dimension];
  return (std::uint64_t{box[dimension]} + element_strides[dimension] - 1) / element_strides[dimension];
}

std::uint64_t TensorMap::box_bytes() const {
  std::uint64_t elements = copied(0);
  const std::size_t dimensions = mode == TensorMode::im2col ? 2 : rank;
  for (std::size_t i = 1; i < dimensions; ++i) elements *= copied(i);
  return elements * static_cast<std::uint64_t>(bits_of(type)) / 8;
}

std::uint64_t TensorMap::swizzled(std::uint64_t offset) const {
  const std::uint64_t line = offset >> 7;  // number of the 128 bytes
  switch (swizzle) {
    case TensorSwizzle::none:
      return offset;
    case TensorSwizzle::span32:
    case TensorSwizzle::span96:
      return offset ^ ((line & 1) << 4);
    case TensorSwizzle::span64:
      return offset ^ ((line & 3) << 4);
    default:
      break;
  }
  switch (atom) {
    case TensorAtom::bytes16:
      return offset ^ ((line & 7) << 4);
    case TensorAtom::bytes32:
      return offset ^ ((line & 3) << 5);
    case TensorAtom::bytes32_flip8:
      return offset ^ ((line & 3) << 5) ^ ((line & 1) << 3);
    default:
      return offset ^ ((line & 1) << 6);
  }
}

std::string TensorMap::problem() const {
  if (magic != kMagic) return "these 128 bytes are no tensor map";
  Problems problems;
  problems.expect(static_cast<int>(type) < kTensorTypes, "the data type {} is none that there is",
                  static_cast<int>(type));
  problems.expect(interleave <= 2, "the interleave {} is none that there is", interleave);
  problems.expect(swizzle <= TensorSwizzle::span96 && atom <= TensorAtom::bytes64,
                  "the swizzle {} with atoms {} is none that there is", static_cast<int>(swizzle),
                  static_cast<int>(atom));
  problems.expect(mode <= TensorMode::im2col, "the mode {} is none that there is", static_cast<int>(mode));
  if (problems.any()) return problems.take();
  mode == TensorMode::tiled ? check_tiles(*this, problems) : check_pixels(*this, problems);
  if (problems.any()) return problems.take();
  check_tensor(*this, problems);
  check_inner_box(*this, problems);
  check_type(*this, problems);
  problems.expect(interleave != 2 || swizzle == TensorSwizzle::span32,
                  "what is interleaved in slices of 32 bytes has to be swizzled in spans of 32");
  problems.expect(swizzle != TensorSwizzle::span96 || interleave == 0, "spans of 96 bytes cannot be interleaved");
  problems.expect(swizzle == TensorSwizzle::none || swizzle == TensorSwizzle::span128 || atom == TensorAtom::bytes16,
                  "atoms of more than 16 bytes are for spans of 128");
  return problems.take();
}

TensorMap encode_tiled(const TensorDescription& tensor, std::span<const std::uint32_t> box) {
  TensorMap map = map_of(tensor);
  if (box.size() != map.rank) {
    throw TensorMapError(fmt::format("a box of {} dimensions of a tensor of {}", box.size(), map.rank));
  }
  for (std::size_t i = 0; i < box.size(); ++i) {
    map.box[i] = narrowed<std::uint16_t>(box[i], fmt::format("the box in dimension {}", i));
  }
  return checked(map);
}

TensorMap encode_im2col(const TensorDescription& tensor, std::span<const int> lower, std::span<const int> upper,
                        std::uint32_t channels, std::uint32_t pixels) {
  TensorMap map = map_of(tensor);
  map.mode = TensorMode::im2col;
  if (map.rank < 3) throw TensorMapError(fmt::format("{} dimensions; 3 to 5 are possible for im2col", map.rank));
  if (lower.size() + 2 != map.rank || upper.size() != lower.size()) {
    throw TensorMapError(fmt::format("corners of {} and {} dimensions; a tensor of {} has corners of {}", lower.size(),
                                     upper.size(), map.rank, map.rank - 2));
  }
  for (std::size_t i = 0; i < lower.size(); ++i) {
    for (const int corner : {lower[i], upper[i]}) {
      if (corner < std::numeric_limits<std::int16_t>::min() || corner > std::numeric_limits<std::int16_t>::max()) {
        throw TensorMapError(fmt::format("a corner of the box is {} in dimension {}", corner, i + 1));
      }
    }
    map.lower[i] = static_cast<std::int16_t>(lower[i]);
    map.upper[i] = static_cast<std::int16_t>(upper[i]);
  }
  map.box[0] = narrowed<std::uint16_t>(channels, "the number of channels of a pixel");
  map.box[1] = narrowed<std::uint16_t>(pixels, "the number of pixels of a column");
  return checked(map);
}

TensorType tensor_type_of_instruction(std::uint32_t number) {
  using enum TensorType;
  constexpr std::array<TensorType, kTensorTypes> types = {
      u8, u16, u32, s32, u64, s64, f16, f32, f32_ftz, f64, bf16, tf32, tf32_ftz, b4, b4_padded, b6_padded};
  return types.at(number);
}

}  // namespace convladder::simulated

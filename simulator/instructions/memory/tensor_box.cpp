#include "simulator/instructions/memory/tensor_box.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace convladder::simulated {
namespace {

constexpr std::size_t kRows = 4;  // of .tile::gather4

std::uint64_t inner_bytes(const TensorMap& map) {
  return map.copied(0) * static_cast<std::uint64_t>(bits_of(map.type)) / 8;
}

/// Adds the part of the box's row at these coordinates that is inside the tensor. Addresses are sums modulo 2^64:
/// tensor maps of ragged tensors have strides that go back so (Triton's tools/ragged_tma.py).
void add_row(const TensorMap& map, const std::array<std::int64_t, 5>& coordinates, std::size_t first_byte,
             std::vector<BoxRow>& rows) {
  std::uint64_t address = map.address;
  for (std::size_t i = 1; i < map.rank; ++i) {
    if (coordinates[i] < 0 || static_cast<std::uint64_t>(coordinates[i]) >= map.sizes[i]) return;
    address += static_cast<std::uint64_t>(coordinates[i]) * map.strides[i - 1];
  }
  const auto size = static_cast<std::int64_t>(map.sizes[0]);
  const std::int64_t begin = std::max<std::int64_t>(coordinates[0], 0);
  const std::int64_t end = std::min(coordinates[0] + static_cast<std::int64_t>(map.copied(0)), size);
  if (begin >= end) return;
  const int bits = bits_of(map.type);
  const auto bytes = [bits](std::int64_t elements) { return static_cast<std::uint64_t>(elements * bits / 8); };
  rows.push_back({address + bytes(begin), first_byte + bytes(begin - coordinates[0]), bytes(end - begin)});
}

std::vector<BoxRow> tile_rows(const TensorMap& map, const BoxPlace& place) {
  std::vector<BoxRow> rows;
  std::array<std::uint64_t, 5> at{};  // in the box, from the second dimension on
  for (std::size_t first_byte = 0;; first_byte += inner_bytes(map)) {
    std::array<std::int64_t, 5> coordinates{};
    for (std::size_t i = 0; i < map.rank; ++i) {
      coordinates[i] = place.first[i] + static_cast<std::int64_t>(at[i] * map.element_strides[i]);
    }
    add_row(map, coordinates, first_byte, rows);
    std::size_t i = 1;
    while (i < map.rank && ++at[i] == map.copied(i)) at[i++] = 0;
    if (i >= map.rank) return rows;
  }
}

std::vector<BoxRow> four_rows(const TensorMap& map, const BoxPlace& place) {
  std::vector<BoxRow> rows;
  for (std::size_t i = 0; i < kRows; ++i) {
    add_row(map, {place.first[0], place.first[i + 1]}, i * inner_bytes(map), rows);
  }
  return rows;
}

/// The rows of pixels. They are the pixels at which a filter's first corner can be, from the given one on: along the
/// second dimension, then back to the lower corner of the box and along the third, and so on, and on to the next image.
std::vector<BoxRow> pixel_rows(const TensorMap& map, const BoxPlace& place) {
  std::vector<BoxRow> rows;
  const std::size_t image = map.rank - 1U;
  std::array<std::int64_t, 5> pixel{};
  std::ranges::copy(place.first, pixel.begin());
  for (std::size_t count = 0; count < map.box[1]; ++count) {
    std::array<std::int64_t, 5> coordinates = pixel;
    for (std::size_t i = 1; i < image; ++i) coordinates[i] += place.offsets[i - 1];
    add_row(map, coordinates, count * inner_bytes(map), rows);
    std::size_t i = 1;
    for (; i < image; ++i) {
      pixel[i] += map.element_strides[i];
      if (pixel[i] < static_cast<std::int64_t>(map.sizes[i]) + map.upper[i - 1]) break;
      pixel[i] = map.lower[i - 1];
    }
    if (i == image) ++pixel[image];
  }
  return rows;
}

/// The reason why the simulated device cannot copy a box that a GPU can.
std::string unsupported(const TensorMap& map) {
  if (map.interleave != 0) return "interleaved tensors";
  if (map.type == TensorType::b4_padded || map.type == TensorType::b6_padded) {
    return fmt::format("elements of the type {}", name_of(map.type));
  }
  if (map.swizzle == TensorSwizzle::span96) return "a swizzle of 96 bytes";
  if (map.mode == TensorMode::im2col && map.element_strides[map.rank - 1U] != 1) return "im2col that skips images";
  return "";
}

std::string problem_of_pixels(const TensorMap& map, const BoxPlace& place) {
  const std::size_t spatial = map.rank - 2U;
  const int most_offset = spatial == 1 ? 65535 : spatial == 2 ? 255 : 31;
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::int64_t last = static_cast<std::int64_t>(map.sizes[i + 1]) - 1 + map.upper[i];
    if (place.first[i + 1] < map.lower[i] || place.first[i + 1] > last) {
      return fmt::format("the first pixel is {} in dimension {}; the box is from {} to {}", place.first[i + 1], i + 1,
                         map.lower[i], last);
    }
    if (place.offsets[i] > most_offset) {
      return fmt::format("the offset {} in dimension {}; 0 to {} are possible", place.offsets[i], i + 1, most_offset);
    }
    if (place.writes && (map.lower[i] < 0 || map.upper[i] > 0)) {
      return "the box of pixels that are written has to lie inside of the tensor";
    }
  }
  return "";
}

}  // namespace

std::string problem_of(const TensorMap& map, const BoxPlace& place) {
  if (std::string problem = map.problem(); !problem.empty()) return fmt::format("tensor map: {}", problem);
  if (const std::string what = unsupported(map); !what.empty()) {
    return fmt::format("the simulated device does not support {}", what);
  }
  const bool is_im2col = place.access == BoxAccess::im2col;
  if (is_im2col != (map.mode == TensorMode::im2col)) {
    return is_im2col ? "a tensor map for tiles where one for im2col is needed"
                     : "a tensor map for im2col where one for tiles is needed";
  }
  if (map.rank != place.dimensions) {
    return fmt::format("a tensor map of {} dimensions where one of {} is needed", map.rank, place.dimensions);
  }
  if (place.access == BoxAccess::rows && map.box[1] != 1) {
    return fmt::format("a box of {} rows where four single ones are copied", map.box[1]);
  }
  if (map.type == TensorType::b4 && place.first[0] % 2 != 0) return "a box of 4-bit elements begins inside of a byte";
  if (place.writes) {
    for (std::size_t i = 0; i < (place.access == BoxAccess::rows ? kRows + 1 : place.dimensions); ++i) {
      if (place.first[i] < 0) return fmt::format("the coordinate {} of a box that is written", place.first[i]);
    }
  }
  return is_im2col ? problem_of_pixels(map, place) : "";
}

std::vector<BoxRow> rows_of(const TensorMap& map, const BoxPlace& place) {
  switch (place.access) {
    case BoxAccess::tile:
      return tile_rows(map, place);
    case BoxAccess::rows:
      return four_rows(map, place);
    default:
      return pixel_rows(map, place);
  }
}

std::uint64_t bytes_of(const TensorMap& map, const BoxPlace& place) {
  return place.access == BoxAccess::rows ? kRows * inner_bytes(map) : map.box_bytes();
}

std::vector<std::byte> filled_box(const TensorMap& map, std::uint64_t bytes) {
  std::vector<std::byte> box(bytes);
  for (std::size_t i = 0; map.fills_nan != 0 && i + 2 <= bytes; i += 2) {
    std::memcpy(box.data() + i, &kOutOfBoundsNan, 2);
  }
  return box;
}

std::vector<BoxPiece> pieces_of(const TensorMap& map, std::uint64_t offset, std::uint64_t bytes) {
  if (map.swizzle == TensorSwizzle::none) return {{offset, 0, bytes}};
  const std::size_t unit = map.atom == TensorAtom::bytes32_flip8 ? 8 : 16;
  std::vector<BoxPiece> units;
  for (std::size_t first = 0; first < bytes; first += unit)
    units.push_back({map.swizzled(offset + first), first, unit});
  std::ranges::sort(units, {}, &BoxPiece::offset);
  return units;
}

}  // namespace convladder::simulated

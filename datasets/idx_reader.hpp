// The IDX format of MNIST and its successors: a big-endian header, then bytes.
//
//   images: 0x00000803, count, height, width (32 bits each), count * height * width grey pixels, row by row
//   labels: 0x00000801, count                (32 bits each), count labels
//
// Source: "The IDX file format" in http://yann.lecun.com/exdb/mnist/. Files may be gzip or plain; the content decides,
// not the name. Every function here throws UserError with one line that names the file, the byte (of the unpacked data
// unless it concerns the packing) and what was expected there. A file is read whole or refused, never in part.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "datasets/image_set.hpp"

namespace convladder {

/// The largest data that a header may promise: 1 GiB, twice the largest set of this format in use. More is refused
/// before anything is allocated.
inline constexpr std::uint64_t largest_idx_data = std::uint64_t{1} << 30;

/// An image file's content. `pixels` holds count * height * width bytes; none of the three is zero.
struct IdxImages {
  int count = 0;
  int height = 0;
  int width = 0;
  std::vector<std::uint8_t> pixels;
  std::string sha256;  ///< of the unpacked file, header included
};

/// A label file's content: at least one label, any value of 0..255.
struct IdxLabels {
  std::vector<std::uint8_t> labels;
  std::string sha256;  ///< of the unpacked file, header included
};

/// Parses a whole file that is already in memory. `file_name` is what messages call it.
IdxImages parse_idx_images(std::span<const std::uint8_t> file, const std::string& file_name);
IdxLabels parse_idx_labels(std::span<const std::uint8_t> file, const std::string& file_name);

/// The bytes of a whole regular file.
std::vector<std::uint8_t> read_data_file(const std::filesystem::path& path);

IdxImages read_idx_images(const std::filesystem::path& path);
IdxLabels read_idx_labels(const std::filesystem::path& path);

}  // namespace convladder

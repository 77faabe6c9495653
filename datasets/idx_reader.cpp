#include "datasets/idx_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "datasets/byte_source.hpp"
#include "support/errors.hpp"
#include "support/sha256.hpp"

namespace convladder {
namespace {

constexpr std::uint32_t image_magic = 0x00000803;
constexpr std::uint32_t label_magic = 0x00000801;

/// The properties that tell the two kinds of file apart.
struct IdxKind {
  std::uint32_t magic;
  std::size_t dimensions;
  std::string_view content;
};
constexpr IdxKind image_kind{image_magic, 3, "pixels"};
constexpr IdxKind label_kind{label_magic, 1, "labels"};

struct IdxContent {
  std::array<int, 3> dimensions{};
  std::vector<std::uint8_t> bytes;
  std::string sha256;
};

std::uint32_t big_endian(std::span<const std::uint8_t> bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}

std::string_view magic_meaning(std::uint32_t magic) {
  if (magic == image_magic) return " (an image file)";
  if (magic == label_magic) return " (a label file)";
  return "";
}

void check_magic(const ByteSource& source, const IdxKind& kind, std::uint32_t found) {
  if (found == kind.magic) return;
  throw UserError(fmt::format("{}expected the IDX magic number {:#010x} of {}, found {:#010x}{}", source.place(0),
                              kind.magic, kind.content, found, magic_meaning(found)));
}

std::string dimension_text(std::span<const std::uint32_t> dimensions) {
  if (dimensions.size() == 1) return fmt::format("{} labels", dimensions[0]);
  return fmt::format("{} images of {} x {} pixels", dimensions[0], dimensions[1], dimensions[2]);
}

/// The number of bytes the header promises, once that promise is one that the file can keep.
std::uint64_t check_dimensions(const ByteSource& source, std::span<const std::uint32_t> dimensions) {
  std::uint64_t product = 1;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    if (dimensions[i] == 0) {
      throw UserError(fmt::format("{}expected at least 1 in every dimension, found {}", source.place(4 + 4 * i),
                                  dimension_text(dimensions)));
    }
    product *= dimensions[i];  // at most 2^30 * 2^32
    if (product > largest_idx_data) {
      throw UserError(fmt::format("{}expected at most {} bytes of data, found a header that promises {}",
                                  source.place(4), largest_idx_data, dimension_text(dimensions)));
    }
  }
  return product;
}

/// Reads the data and takes memory as they arrive: a small file that promises much and holds little costs little.
std::vector<std::uint8_t> read_data(ByteSource& source, const IdxKind& kind, std::uint64_t header_size,
                                    std::uint64_t size) {
  if (header_size + size > source.size_limit()) {
    throw UserError(fmt::format("{}expected {} bytes of {}, found {}{}", source.place(header_size), size, kind.content,
                                source.packed() ? "a gzip file that can hold at most " : "",
                                source.size_limit() - header_size));
  }
  constexpr std::uint64_t step = std::uint64_t{1} << 20;
  std::vector<std::uint8_t> bytes;
  while (bytes.size() < size) {
    const std::size_t before = bytes.size();
    bytes.resize(std::min(size, before + step));
    const std::size_t found = before + source.read(std::span(bytes).subspan(before));
    if (found < bytes.size()) {
      throw UserError(
          fmt::format("{}expected {} bytes of {}, found {}", source.place(header_size), size, kind.content, found));
    }
  }
  return bytes;
}

void check_end(ByteSource& source, std::uint64_t position) {
  // Asking for one byte more also makes zlib read the stream's end and check its CRC.
  std::array<std::uint8_t, 1> beyond{};
  if (source.read(beyond) != 0) {
    throw UserError(fmt::format("{}expected the end of the data, found more", source.place(position)));
  }
}

IdxContent parse(std::span<const std::uint8_t> file, const std::string& file_name, const IdxKind& kind) {
  const std::unique_ptr<ByteSource> source = open_byte_source(file, file_name);
  std::array<std::uint8_t, 16> buffer{};
  const std::span<std::uint8_t> header = std::span(buffer).first(4 + 4 * kind.dimensions);
  const std::size_t header_found = source->read(header);
  if (header_found >= 4) check_magic(*source, kind, big_endian(header));
  if (header_found < header.size()) {
    throw UserError(fmt::format("{}expected a header of {} bytes for {}, found the end of the data",
                                source->place(header_found), header.size(), kind.content));
  }
  std::array<std::uint32_t, 3> dimensions{};
  for (std::size_t i = 0; i < kind.dimensions; ++i) dimensions[i] = big_endian(header.subspan(4 + 4 * i));
  const std::uint64_t size = check_dimensions(*source, std::span(dimensions).first(kind.dimensions));

  IdxContent content;
  std::copy(dimensions.begin(), dimensions.end(), content.dimensions.begin());
  content.bytes = read_data(*source, kind, header.size(), size);
  check_end(*source, header.size() + size);
  Sha256 sum;
  sum.update(header);
  sum.update(content.bytes);
  content.sha256 = sum.hex();
  return content;
}

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& what, int error) {
  throw UserError(fmt::format("{}: {}: {}", path.string(), what, std::generic_category().message(error)));
}

}  // namespace

IdxImages parse_idx_images(std::span<const std::uint8_t> file, const std::string& file_name) {
  IdxContent content = parse(file, file_name, image_kind);
  IdxImages images;
  images.count = content.dimensions[0];
  images.height = content.dimensions[1];
  images.width = content.dimensions[2];
  images.pixels = std::move(content.bytes);
  images.sha256 = std::move(content.sha256);
  return images;
}

IdxLabels parse_idx_labels(std::span<const std::uint8_t> file, const std::string& file_name) {
  IdxContent content = parse(file, file_name, label_kind);
  return {std::move(content.bytes), std::move(content.sha256)};
}

std::vector<std::uint8_t> read_data_file(const std::filesystem::path& path) {
  // Asked before opening: opening a pipe would wait for its other end.
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (error && status.type() != std::filesystem::file_type::not_found) {
    refuse(path, "cannot be opened", error.value());
  }
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw UserError(fmt::format("{}: expected a file, found a folder or a device", path.string()));
  }
  const auto close = [](std::FILE* file) { static_cast<void>(std::fclose(file)); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rb"), close);
  if (file == nullptr) refuse(path, "cannot be opened", errno);

  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) refuse(path, "cannot be read", error.value());
  if (size > largest_idx_data + 16) {
    throw UserError(fmt::format("{}: expected at most {} bytes, found {}", path.string(), largest_idx_data + 16, size));
  }
  std::vector<std::uint8_t> bytes(size);
  const std::size_t found = std::fread(bytes.data(), 1, bytes.size(), file.get());
  if (std::ferror(file.get()) != 0) refuse(path, "cannot be read", errno);
  bytes.resize(found);
  return bytes;
}

IdxImages read_idx_images(const std::filesystem::path& path) {
  return parse_idx_images(read_data_file(path), path.string());
}

IdxLabels read_idx_labels(const std::filesystem::path& path) {
  return parse_idx_labels(read_data_file(path), path.string());
}

}  // namespace convladder

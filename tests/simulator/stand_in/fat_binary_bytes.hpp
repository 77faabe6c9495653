// Fat binaries made byte by byte, as nvcc lays them out.
#pragma once

#include <lz4.h>
#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace convladder::stand_in {

enum class Packing { none, lz4, zstd };

struct MadeImage {
  int kind = 1;  ///< 1: PTX, 2: machine code
  std::uint32_t architecture = 75;
  std::string content{};
  Packing packing = Packing::none;
  std::uint32_t header_bytes = 64;
  std::uint64_t stated_bytes = 0;  ///< of what is packed; 0: as many as there are
  std::string name{};
};

template <typename T>
void put(std::vector<std::byte>& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

inline std::string packed(const std::string& content, Packing packing) {
  if (packing == Packing::none) return content;
  std::string made(packing == Packing::lz4
                       ? static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(content.size())))
                       : ZSTD_compressBound(content.size()),
                   '\0');
  if (packing == Packing::lz4) {
    made.resize(static_cast<std::size_t>(LZ4_compress_default(
        content.data(), made.data(), static_cast<int>(content.size()), static_cast<int>(made.size()))));
  } else {
    made.resize(ZSTD_compress(made.data(), made.size(), content.data(), content.size(), 3));
  }
  return made;
}

inline std::vector<std::byte> made_fat_binary(const std::vector<MadeImage>& images) {
  std::vector<std::byte> bytes(16);
  for (const MadeImage& image : images) {
    const std::size_t at = bytes.size();
    const std::string payload = packed(image.content, image.packing);
    const std::size_t padded = (payload.size() + 7) / 8 * 8;
    bytes.resize(at + image.header_bytes + padded);
    put(bytes, at, static_cast<std::uint16_t>(image.kind));
    put(bytes, at + 2, std::uint16_t{0x0101});
    put(bytes, at + 4, image.header_bytes);
    put(bytes, at + 8, std::uint64_t{padded});
    if (image.packing != Packing::none) put(bytes, at + 16, static_cast<std::uint32_t>(payload.size()));
    put(bytes, at + 28, image.architecture);
    if (!image.name.empty()) {
      put(bytes, at + 32, std::uint32_t{64});
      put(bytes, at + 36, static_cast<std::uint32_t>(image.name.size()));
      std::memcpy(bytes.data() + at + 64, image.name.data(), image.name.size());
    }
    const std::uint64_t packing = image.packing == Packing::lz4 ? 0x2000 : image.packing == Packing::zstd ? 0x8000 : 0;
    put(bytes, at + 40, std::uint64_t{0x11} | packing);
    put(bytes, at + 56, image.stated_bytes > 0 ? image.stated_bytes : std::uint64_t{image.content.size()});
    std::memcpy(bytes.data() + at + image.header_bytes, payload.data(), payload.size());
  }
  put(bytes, 0, std::uint32_t{0xBA55ED50});
  put(bytes, 4, std::uint16_t{1});
  put(bytes, 6, std::uint16_t{16});
  put(bytes, 8, std::uint64_t{bytes.size() - 16});
  return bytes;
}

}  // namespace convladder::stand_in

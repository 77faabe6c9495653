#include "simulator/stand_in/modules/fat_binary.hpp"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <string_view>

#include "simulator/stand_in/modules/machine_code.hpp"
#include "support/errors.hpp"

namespace convladder::stand_in {
namespace {

constexpr std::uint32_t kHeaderMagic = 0xBA55ED50;
constexpr std::uint64_t kHeaderBytes = 16;
constexpr std::uint64_t kLeastEntryBytes = 64;
constexpr std::uint64_t kMostImageBytes = std::uint64_t{1} << 31;  // far more than any compiler writes

constexpr std::uint64_t kLz4 = 0x2000;
constexpr std::uint64_t kZstd = 0x8000;

template <typename T>
T read_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string unpacked_lz4(std::span<const std::byte> packed, std::uint64_t stated, std::uint64_t place) {
  // The stated size can be too small; a packed byte stands for at most 255.
  const std::uint64_t most = std::min<std::uint64_t>(packed.size() * 255 + 64, kMostImageBytes);
  for (std::uint64_t room = std::clamp<std::uint64_t>(stated, 64, most);; room = std::min(room * 2, most)) {
    std::string text(room, '\0');
    const int written = LZ4_decompress_safe(reinterpret_cast<const char*>(packed.data()), text.data(),
                                            static_cast<int>(packed.size()), static_cast<int>(room));
    if (written >= 0) {
      text.resize(static_cast<std::size_t>(written));
      return text;
    }
    if (room == most) throw UserError(fmt::format("what LZ4 cannot unpack at byte {}", place));
  }
}

std::string unpacked_zstd(std::span<const std::byte> packed, std::uint64_t stated, std::uint64_t place) {
  const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(), ZSTD_freeDStream);
  // The stated size may be far too large: then the buffer grows instead.
  constexpr std::uint64_t kUsualRatio = 32;
  std::string text(std::clamp<std::uint64_t>(stated, 64, (std::uint64_t{1} << 16) + packed.size() * kUsualRatio), '\0');
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  ZSTD_outBuffer out{text.data(), text.size(), 0};
  for (;;) {
    const std::size_t left = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(left) != 0) throw UserError(fmt::format("what zstd cannot unpack at byte {}", place));
    if (left == 0) break;
    if (out.pos < out.size && in.pos == in.size)
      throw UserError(fmt::format("zstd data that end too early at byte {}", place));
    if (out.pos < out.size) continue;
    if (text.size() >= kMostImageBytes) throw UserError(fmt::format("an image of more than 2 GiB at byte {}", place));
    text.resize(std::min(text.size() * 2, kMostImageBytes));
    out.dst = text.data();
    out.size = text.size();
  }
  text.resize(out.pos);
  return text;
}

/// Removes padding: PTX is padded with zeros.
std::string without_padding(std::string text) {
  text.resize(std::min(text.size(), text.find('\0')));
  return text;
}

/// Whether PTX has a target such as sm_90a, with what only that architecture has.
bool is_for_one_architecture(const std::string& ptx) {
  constexpr std::string_view kTarget = ".target sm_";
  const std::size_t begin = ptx.find(kTarget);
  if (begin == std::string::npos) return false;
  const std::size_t end = ptx.find_first_not_of("0123456789", begin + kTarget.size());
  return end != std::string::npos && (ptx[end] == 'a' || ptx[end] == 'f');
}

}  // namespace

std::uint64_t fat_binary_bytes(const void* header) {
  std::uint32_t magic = 0;
  std::uint64_t size = 0;
  std::memcpy(&magic, header, sizeof magic);
  if (magic != kHeaderMagic) return 0;
  std::memcpy(&size, static_cast<const std::byte*>(header) + 8, sizeof size);
  return size > kMostImageBytes ? 0 : size + kHeaderBytes;
}

std::vector<FatImage> read_fat_binary(std::span<const std::byte> bytes, Unpacked unpacked) {
  if (bytes.size() < kHeaderBytes || read_at<std::uint32_t>(bytes, 0) != kHeaderMagic) {
    throw UserError("no fat binary at byte 0");
  }
  const auto size = read_at<std::uint64_t>(bytes, 8);
  if (size > bytes.size() - kHeaderBytes) throw UserError("a fat binary that ends too early at byte 8");
  const std::uint64_t end = kHeaderBytes + size;
  std::vector<FatImage> images;
  for (std::uint64_t at = kHeaderBytes; at < end;) {
    if (end - at < kLeastEntryBytes) throw UserError(fmt::format("an image that ends too early at byte {}", at));
    const auto kind = read_at<std::uint16_t>(bytes, at);
    const std::uint64_t header_bytes = read_at<std::uint32_t>(bytes, at + 4);
    const auto payload_bytes = read_at<std::uint64_t>(bytes, at + 8);
    if (header_bytes < kLeastEntryBytes || header_bytes > end - at || payload_bytes > end - at - header_bytes) {
      throw UserError(fmt::format("an image that ends too early at byte {}", at));
    }
    const std::uint64_t packed_bytes = read_at<std::uint32_t>(bytes, at + 16);
    const std::uint64_t name_offset = read_at<std::uint32_t>(bytes, at + 32);
    const std::uint64_t name_bytes = read_at<std::uint32_t>(bytes, at + 36);
    const auto flags = read_at<std::uint64_t>(bytes, at + 40);
    const auto stated = read_at<std::uint64_t>(bytes, at + 56);
    const std::span<const std::byte> payload = bytes.subspan(at + header_bytes, payload_bytes);
    if (kind == 1 || kind == 2) {
      FatImage image;
      image.kind = kind == 1 ? ImageKind::ptx : ImageKind::machine_code;
      image.architecture = static_cast<int>(read_at<std::uint32_t>(bytes, at + 28));
      if (name_bytes > 0 && name_offset <= header_bytes && name_bytes <= header_bytes - name_offset) {
        const auto* const name = reinterpret_cast<const char*>(bytes.data() + at + name_offset);
        image.name = without_padding(std::string(name, name_bytes));
      }
      if (image.kind == ImageKind::ptx || unpacked == Unpacked::everything) {
        const bool is_packed = (flags & (kLz4 | kZstd)) != 0;
        const auto packed =
            payload.first(is_packed && packed_bytes > 0 ? std::min(packed_bytes, payload_bytes) : payload_bytes);
        std::string content;
        if ((flags & kLz4) != 0) {
          content = unpacked_lz4(packed, stated, at);
        } else if ((flags & kZstd) != 0) {
          content = unpacked_zstd(packed, stated, at);
        } else {
          content.assign(reinterpret_cast<const char*>(packed.data()), packed.size());
        }
        if (image.kind == ImageKind::ptx) {
          image.ptx = without_padding(std::move(content));
          image.is_for_one_architecture = is_for_one_architecture(image.ptx);
        } else {
          image.machine_code = std::move(content);
        }
      }
      images.push_back(std::move(image));
    }
    at += header_bytes + payload_bytes;
  }
  return images;
}

const FatImage* ptx_for(const std::vector<FatImage>& images, int architecture) {
  const auto fits = [architecture](const FatImage& image) {
    return image.is_for_one_architecture ? image.architecture == architecture : image.architecture <= architecture;
  };
  const auto is_better = [&fits](const FatImage& one, const FatImage& other) {
    if (fits(one) != fits(other)) return fits(one);
    if (one.architecture != other.architecture) return fits(one) == (one.architecture > other.architecture);
    return one.is_for_one_architecture && !other.is_for_one_architecture;
  };
  const FatImage* best = nullptr;
  for (const FatImage& image : images) {
    if (image.kind == ImageKind::ptx && (best == nullptr || is_better(image, *best))) best = &image;
  }
  return best;
}

std::string ptx_in_machine_code_of(std::span<const std::byte> fat_binary, int architecture) {
  std::vector<FatImage> images = read_fat_binary(fat_binary, Unpacked::everything);
  std::erase_if(images, [](const FatImage& image) { return image.kind != ImageKind::machine_code; });
  for (FatImage& image : images) {
    image.ptx = ptx_in_machine_code(std::as_bytes(std::span(image.machine_code)));
    image.is_for_one_architecture = is_for_one_architecture(image.ptx);
    if (!image.ptx.empty()) image.kind = ImageKind::ptx;
  }
  const FatImage* const image = ptx_for(images, architecture);
  return image == nullptr ? std::string() : image->ptx;
}

std::string machine_code_text(const std::vector<FatImage>& images) {
  std::set<int> architectures;
  for (const FatImage& image : images) {
    if (image.kind == ImageKind::machine_code) architectures.insert(image.architecture);
  }
  if (architectures.empty()) return "";
  std::string text = "machine code for ";
  const char* separator = "";
  for (const int architecture : architectures) {
    text += fmt::format("{}sm_{}", separator, architecture);
    separator = ", ";
  }
  return text;
}

}  // namespace convladder::stand_in

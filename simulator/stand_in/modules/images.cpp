#include "simulator/stand_in/modules/images.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "simulator/ptx/linking.hpp"
#include "simulator/ptx/parser.hpp"
#include "simulator/stand_in/modules/fat_binary.hpp"
#include "simulator/stand_in/modules/machine_code.hpp"
#include "simulator/stand_in/status.hpp"
#include "support/errors.hpp"

namespace convladder::stand_in {
namespace {

constexpr std::string_view kElf = "\177ELF";

[[noreturn]] void refuse_machine_code(const std::string& what) {
  throw Failure(kNoKernelImage, fmt::format("the image holds {} and no PTX: compile it with -ptx, for -gencode "
                                            "arch=compute_80,code=compute_80, or with -lineinfo",
                                            what));
}

std::string ptx_of_fat_binary(std::span<const std::byte> bytes, int architecture) {
  std::vector<FatImage> images;
  try {
    images = read_fat_binary(bytes);
  } catch (const UserError& error) {
    throw Failure(kInvalidImage, fmt::format("an image that cannot be read: {}", error.what()));
  }
  const FatImage* const image = ptx_for(images, architecture);
  if (image != nullptr) return image->ptx;
  if (std::string ptx = ptx_in_machine_code_of(bytes, architecture); !ptx.empty()) return ptx;
  const std::string machine_code = machine_code_text(images);
  refuse_machine_code(machine_code.empty() ? "no kernels" : machine_code);
}

/// Whether text that begins with this character may be PTX: white space, a comment or a directive.
bool begins_as_text(unsigned char first) { return std::isspace(first) != 0 || first == '/' || first == '.'; }

}  // namespace

std::string ptx_of_image(const void* image, int architecture) {
  if (image == nullptr) throw Failure(kInvalidValue);
  // An image of any kind but text is longer than four bytes.
  unsigned char first = 0;
  std::memcpy(&first, image, 1);
  if (begins_as_text(first)) return static_cast<const char*>(image);
  if (first == '\0') throw Failure(kInvalidImage, "an image that begins with zero");
  const auto* begin = static_cast<const std::byte*>(image);
  unsigned magic = 0;
  std::memcpy(&magic, begin, sizeof magic);
  if (magic == FatBinaryWrapper::kMagic) {
    FatBinaryWrapper wrapper{};
    std::memcpy(&wrapper, image, sizeof wrapper);
    begin = static_cast<const std::byte*>(wrapper.data);
    if (begin == nullptr) throw Failure(kInvalidImage, "a fat binary without data");
  }
  std::uint64_t bytes = fat_binary_bytes(begin);
  if (bytes == 0) bytes = machine_code_bytes(begin);
  return ptx_of_bytes({begin, bytes > 0 ? bytes : kElf.size()}, architecture);
}

std::string ptx_of_bytes(std::span<const std::byte> bytes, int architecture) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.empty()) throw Failure(kInvalidImage, "an empty image");
  if (begins_as_text(static_cast<unsigned char>(text[0]))) return std::string(text.substr(0, text.find('\0')));
  if (text.starts_with(kElf)) {
    std::string ptx = ptx_in_machine_code(bytes);
    if (ptx.empty()) refuse_machine_code("machine code");
    return ptx;
  }
  constexpr std::size_t kFatHeaderBytes = 16;
  if (bytes.size() >= kFatHeaderBytes && fat_binary_bytes(bytes.data()) > 0)
    return ptx_of_fat_binary(bytes, architecture);
  throw Failure(kInvalidImage, "an image that is neither PTX nor a fat binary");
}

std::string ptx_of_file(const char* path, int architecture) {
  if (path == nullptr) throw Failure(kInvalidValue);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Failure(kFileNotFound, fmt::format("{} cannot be opened", path));
  const std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) throw Failure(kFileNotFound, fmt::format("{} cannot be read", path));
  return ptx_of_bytes(std::as_bytes(std::span(content)), architecture);
}

void require_all_defined(const ptx::Module& module) {
  std::string text;
  for (const ptx::Refusal& missing : ptx::undefined(module)) {
    const std::string error = ptx::PtxError(module.file, missing.position, missing.what).what();
    text += fmt::format("{}error: {}", text.empty() ? "" : "\n", error);
  }
  if (!text.empty()) throw Failure(kInvalidPtx, text);
}

std::string linked_ptx(const std::vector<std::string>& texts) {
  std::string linked = joined_ptx(texts);
  try {
    require_all_defined(ptx::parse_module(linked, "the linked PTX"));
  } catch (const ptx::PtxError& error) {
    throw Failure(kInvalidPtx, error.what());
  }
  return linked;
}

}  // namespace convladder::stand_in

#include "harness/file_bytes.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "harness/errors.hpp"
#include "harness/record.hpp"

namespace convladder {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

[[noreturn]] void fail(const std::string& file, int error) {
  throw UserError(fmt::format("{}: cannot be read: {}", file, std::strerror(error)));
}

}  // namespace

std::vector<std::byte> read_file_bytes(const std::string& file) {
  const File from(std::fopen(file.c_str(), "rb"), std::fclose);
  if (!from) fail(file, errno);
  std::vector<std::byte> bytes;
  constexpr std::size_t piece = 1 << 20;
  for (std::size_t got = piece; got == piece;) {
    const std::size_t before = bytes.size();
    bytes.resize(before + piece);
    got = std::fread(bytes.data() + before, 1, piece, from.get());
    bytes.resize(before + got);
  }
  if (std::ferror(from.get()) != 0) fail(file, errno);
  return bytes;
}

void write_file_bytes(const std::string& file, std::span<const std::byte> bytes) {
  write_file_atomically(file, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

}  // namespace convladder

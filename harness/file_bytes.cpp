#include "harness/file_bytes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "harness/errors.hpp"

namespace convladder {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

[[noreturn]] void fail(const std::string& file, int error) {
  throw UserError(fmt::format("{}: cannot be read: {}", file, std::strerror(error)));
}

/// The message of a failed system call on a file, with what is safe.
UserError write_error(const std::filesystem::path& path, int error) {
  return UserError(fmt::format("cannot write {}: {}", path.string(), std::strerror(error)));
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

void write_file_atomically(const std::filesystem::path& path, const std::string& content) {
  // A device, a pipe or a link must not be replaced by a file: it is written to.
  std::error_code ignored;
  const std::filesystem::file_type type = std::filesystem::symlink_status(path, ignored).type();
  const bool replace = type == std::filesystem::file_type::not_found || type == std::filesystem::file_type::regular;
  const std::filesystem::path partial = replace ? path.string() + ".partial" : path.string();
  const int descriptor = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) throw write_error(partial, errno);
  int error = 0;
  for (std::size_t written = 0; written < content.size() && error == 0;) {
    const ssize_t count = ::write(descriptor, content.data() + written, content.size() - written);
    if (count >= 0) {
      written += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (error == 0 && replace && fsync(descriptor) != 0) error = errno;
  if (close(descriptor) != 0 && error == 0) error = errno;
  if (error == 0 && replace && std::rename(partial.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return;
  if (replace) std::filesystem::remove(partial, ignored);
  throw write_error(path, error);
}

void write_file_bytes(const std::string& file, std::span<const std::byte> bytes) {
  write_file_atomically(file, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

}  // namespace convladder

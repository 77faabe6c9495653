#include "harness/file_bytes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "harness/errors.hpp"

namespace convladder {
namespace {

/// A file that is open for reading.
class Source {
 public:
  /// Opening a pipe must not wait for its other end.
  explicit Source(const std::string& file)
      : file_(file), descriptor_(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
    if (descriptor_ < 0) fail(errno);
  }
  ~Source() { ::close(descriptor_); }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  std::vector<std::byte> read(std::uint64_t most) {
    struct stat about = {};
    if (::fstat(descriptor_, &about) != 0) fail(errno);
    if (S_ISDIR(about.st_mode)) fail(EISDIR);
    const bool is_pipe = S_ISFIFO(about.st_mode);
    if (!is_pipe && !S_ISREG(about.st_mode)) fail("it is neither a file nor a pipe");
    const auto size = static_cast<std::uint64_t>(about.st_size);
    if (size > most) fail_as_too_large(most);
    // From here on a pipe's writer is waited for.
    if (is_pipe && ::fcntl(descriptor_, F_SETFL, 0) != 0) fail(errno);
    std::vector<std::byte> bytes;
    constexpr std::size_t piece = 1 << 16;
    bytes.reserve(size + piece);
    for (bool more = true; more;) {
      const std::size_t before = bytes.size();
      bytes.resize(std::max(bytes.capacity(), before + piece));
      const std::size_t got = read_some(bytes.data() + before, bytes.size() - before);
      bytes.resize(before + got);
      more = got > 0;
      if (bytes.size() > most) fail_as_too_large(most);
    }
    if (is_pipe && bytes.empty()) fail("it is a pipe that nobody writes into");
    return bytes;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw UserError(fmt::format("{}: cannot be read: {}", file_, why));
  }
  [[noreturn]] void fail(int error) const { fail(std::strerror(error)); }
  [[noreturn]] void fail_as_too_large(std::uint64_t most) const {
    fail(fmt::format("it has more than the {} bytes that can be taken here", most));
  }

  std::size_t read_some(std::byte* to, std::size_t bytes) {
    while (true) {
      const ssize_t got = ::read(descriptor_, to, bytes);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) fail(errno);
    }
  }

  const std::string& file_;
  int descriptor_;
};

/// The message of a failed system call on a file, with what is safe.
UserError write_error(const std::filesystem::path& path, int error) {
  return UserError(fmt::format("cannot write {}: {}", path.string(), std::strerror(error)));
}

}  // namespace

std::vector<std::byte> read_file_bytes(const std::string& file, std::uint64_t most) { return Source(file).read(most); }

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

#include "support/file_bytes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string_view>

#include "support/errors.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUnfinished = ".partial";
constexpr std::size_t kRandomDigits = 16;
constexpr std::size_t kLongestNamePart = 200;  // of a name, which may have 255 bytes

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
    // From here on reading waits for a pipe's writer.
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
    if (is_pipe && bytes.empty()) fail("it is a pipe with no writer");
    return bytes;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw UserError(fmt::format("{}: cannot be read: {}", file_, why));
  }
  [[noreturn]] void fail(int error) const { fail(std::strerror(error)); }
  [[noreturn]] void fail_as_too_large(std::uint64_t most) const {
    fail(fmt::format("it is larger than the limit of {} bytes", most));
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

/// The error of a failed system call on a file that is written: its path and the reason.
UserError write_error(const fs::path& path, int error) {
  return UserError{fmt::format("cannot write {}: {}", path.string(), system_error_text(error))};
}

/// The path of the unfinished file, for a signal handler.
std::array<char, 4096> unfinished_path{};
std::atomic<bool> is_unfinished = false;

std::string beginning_of_unfinished(const fs::path& path) {
  return fmt::format(".{}.", path.filename().string().substr(0, kLongestNamePart));
}

/// Closes the descriptor that it holds.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }
  /// Returns 0, or the error.
  int close() {
    const int failed = ::close(number_) != 0 ? errno : 0;
    number_ = -1;
    return failed;
  }

 private:
  int number_;
};

/// Returns 0, or the error.
int write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = ::write(descriptor, content.data(), content.size());
    if (count == 0) return ENOSPC;
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) content.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

/// Whether the error says that this kind of file cannot be synchronised, rather than that it failed.
bool has_no_synchronising(int error) { return error == EINVAL || error == EROFS || error == ENOSYS; }

}  // namespace

/// A new file beside the target, removed with this object unless it took the target's place.
class UnfinishedFile {
 public:
  UnfinishedFile(const fs::path& target, mode_t mode) : target_(target) {
    std::random_device random;
    do {
      const auto number = (std::uint64_t{random()} << 32U) | random();
      path_ = target.parent_path() / fmt::format("{}{:016x}{}", beginning_of_unfinished(target), number, kUnfinished);
      // Set before the file exists: a signal that comes in between removes nothing.
      if (path_.native().size() < unfinished_path.size()) {
        std::ranges::copy(path_.native() + '\0', unfinished_path.begin());
        is_unfinished = true;
      }
      descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    } while (descriptor_ < 0 && errno == EEXIST);
    if (descriptor_ >= 0) return;
    const int error = errno;
    is_unfinished = false;
    throw write_error(target, error);
  }
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;
  ~UnfinishedFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!placed_) ::unlink(path_.c_str());
    is_unfinished = false;
  }

  void write(std::string_view content) {
    if (const int error = write_all(descriptor_, content); error != 0) throw write_error(target_, error);
  }
  /// Takes the owner and mode of the file that it replaces; the owner as far as this user may set it.
  void take_over(const struct stat& old) {
    if (::fchown(descriptor_, old.st_uid, old.st_gid) != 0 && ::fchown(descriptor_, ~uid_t{0}, old.st_gid) != 0) {
      // The file then belongs to this user, like any that the user writes.
    }
    if (::fchmod(descriptor_, old.st_mode & 0777U) != 0) throw write_error(target_, errno);
  }
  /// Takes the target's place; with `only_new`, only if nothing is there. Returns whether it did.
  bool place(bool only_new) {
    if (::fsync(descriptor_) != 0 && !has_no_synchronising(errno)) throw write_error(target_, errno);
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0) throw write_error(target_, errno);
    if (!only_new) {
      if (std::rename(path_.c_str(), target_.c_str()) != 0) throw write_error(target_, errno);
    } else if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), RENAME_NOREPLACE) != 0) {
      if (errno == EEXIST) return false;
      // A file system that cannot rename like this can usually link.
      if (errno != EINVAL && errno != ENOSYS) throw write_error(target_, errno);
      if (::link(path_.c_str(), target_.c_str()) != 0) {
        if (errno == EEXIST) return false;
        throw write_error(target_, errno);
      }
      ::unlink(path_.c_str());
    }
    placed_ = true;
    is_unfinished = false;
    synchronise_folder();
    return true;
  }

 private:
  /// Synchronises the folder: otherwise a machine that loses power may forget the new name.
  void synchronise_folder() const {
    const fs::path folder = target_.has_parent_path() ? target_.parent_path() : ".";
    const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (opened.number() < 0) return;  // a folder that may be written to but not read
    if (::fsync(opened.number()) != 0 && !has_no_synchronising(errno)) throw write_error(target_, errno);
  }

  fs::path target_;
  fs::path path_;
  int descriptor_ = -1;
  bool placed_ = false;
};

namespace {

bool is_standard_output(const struct stat& file) {
  struct stat output = {};
  return ::fstat(STDOUT_FILENO, &output) == 0 && output.st_dev == file.st_dev && output.st_ino == file.st_ino;
}

/// Writes to a target that must not be replaced: a device, a pipe, the standard output.
void write_through(const fs::path& path, const std::string& content, bool standard_output) {
  if (standard_output) std::fflush(stdout);
  Descriptor opened(standard_output ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
                                    : ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
  if (opened.number() < 0) throw write_error(path, errno);
  int error = write_all(opened.number(), content);
  const int closing = opened.close();
  if (error == 0) error = closing;
  if (error != 0) throw write_error(path, error);
}

/// The old file that is to be replaced, and its place if the path is a link to it.
struct Replaced {
  fs::path path;
  struct stat about;
};

/// The file to replace; none if the path names nothing yet. Throws UserError for a link to nothing, and for a file that
/// may not be written.
std::optional<Replaced> find_replaced(const fs::path& path) {
  Replaced old{path, {}};
  if (::stat(path.c_str(), &old.about) != 0) {
    const int error = errno;
    std::error_code ignored;
    if (error == ENOENT && !fs::is_symlink(path, ignored)) return std::nullopt;
    if (error == ENOENT) throw UserError(fmt::format("cannot write {}: it is a link to nothing", path.string()));
    throw write_error(path, error);
  }
  if (!S_ISREG(old.about.st_mode)) return old;
  if (::access(path.c_str(), W_OK) != 0) throw write_error(path, errno);
  std::error_code error;
  old.path = fs::canonical(path, error);
  if (error) throw write_error(path, error.value());
  return old;
}

}  // namespace

std::vector<std::byte> read_file_bytes(const std::string& file, std::uint64_t most) { return Source(file).read(most); }

std::string read_file_text(const std::string& file, std::uint64_t most) {
  const std::vector<std::byte> bytes = read_file_bytes(file, most);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void write_file_atomically(const fs::path& path, const std::string& content) {
  const std::optional<Replaced> old = find_replaced(path);
  if (!old) {
    UnfinishedFile file(path, 0666);
    file.write(content);
    file.place(false);
    return;
  }
  if (S_ISDIR(old->about.st_mode)) throw write_error(path, EISDIR);
  const bool standard_output = is_standard_output(old->about);
  if (standard_output || !S_ISREG(old->about.st_mode)) return write_through(path, content, standard_output);
  UnfinishedFile file(old->path, 0600);  // the content may be secret, so the mode is set before writing
  file.take_over(old->about);
  file.write(content);
  file.place(false);
}

struct GrowingFile::Parts {
  static constexpr std::size_t kPiece = std::size_t{1} << 20;

  Parts(const fs::path& path, mode_t mode) : file(path, mode) {}

  UnfinishedFile file;
  std::string waiting;
};

GrowingFile::GrowingFile(const fs::path& path) {
  const std::optional<Replaced> old = find_replaced(path);
  if (old && !S_ISREG(old->about.st_mode)) throw write_error(path, S_ISDIR(old->about.st_mode) ? EISDIR : EINVAL);
  parts_ = std::make_unique<Parts>(old ? old->path : path, old ? 0600 : 0666);
  if (old) parts_->file.take_over(old->about);
}

GrowingFile::~GrowingFile() = default;

void GrowingFile::write(std::string_view text) {
  parts_->waiting += text;
  if (parts_->waiting.size() < Parts::kPiece) return;
  parts_->file.write(parts_->waiting);
  parts_->waiting.clear();
}

void GrowingFile::place() {
  parts_->file.write(parts_->waiting);
  parts_->file.place(false);
}

void require_writable(const fs::path& path) {
  const std::optional<Replaced> old = find_replaced(path);
  if (old && S_ISDIR(old->about.st_mode)) throw write_error(path, EISDIR);
  if (!old || S_ISREG(old->about.st_mode)) const UnfinishedFile file(old ? old->path : path, 0600);
}

void create_file_atomically(const fs::path& path, const std::string& content) {
  UnfinishedFile file(path, 0666);
  file.write(content);
  if (!file.place(true)) throw FileIsThere(fmt::format("{} already exists", path.string()));
}

void write_file_bytes(const std::string& file, std::span<const std::byte> bytes) {
  write_file_atomically(file, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void remove_unfinished_files(const fs::path& path) noexcept {
  const std::string beginning = beginning_of_unfinished(path);
  const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.size() != beginning.size() + kRandomDigits + kUnfinished.size() || !name.starts_with(beginning) ||
        !name.ends_with(kUnfinished)) {
      continue;
    }
    const std::string_view digits = std::string_view(name).substr(beginning.size(), kRandomDigits);
    if (digits.find_first_not_of("0123456789abcdef") == std::string_view::npos) ::unlink(entry->path().c_str());
  }
}

void remove_file_being_written() noexcept {
  if (is_unfinished) ::unlink(unfinished_path.data());
}

}  // namespace convladder

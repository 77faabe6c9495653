#include "support/folder_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "support/errors.hpp"

namespace convladder {
namespace {

constexpr const char* kLockFile = ".convladder.lock";

enum class Taken { yes, by_another, no_locks };

/// Locks the file or folder that is open as `descriptor`.
Taken take_lock(int descriptor, WhileLocked other) {
  const int how = other == WhileLocked::wait ? LOCK_EX : LOCK_EX | LOCK_NB;
  while (::flock(descriptor, how) != 0) {
    if (errno == EWOULDBLOCK) return Taken::by_another;
    if (errno != EINTR) return Taken::no_locks;
  }
  return Taken::yes;
}

[[noreturn]] void refuse(const std::filesystem::path& folder) {
  throw UserError(
      fmt::format("{}: another convladder is writing into this folder; wait until it ends, or use another --output",
                  folder.string()));
}

bool is_still_there(const std::filesystem::path& file, int descriptor) {
  struct stat by_name = {};
  struct stat opened = {};
  return ::lstat(file.c_str(), &by_name) == 0 && ::fstat(descriptor, &opened) == 0 && by_name.st_dev == opened.st_dev &&
         by_name.st_ino == opened.st_ino;
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder, WhileLocked other)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0 && errno != EACCES) {
    throw UserError(fmt::format("cannot open the folder {}: {}", folder.string(), system_error_text(errno)));
  }
  const Taken taken = descriptor_ < 0 ? Taken::no_locks : take_lock(descriptor_, other);
  if (taken == Taken::yes) return;
  release();
  if (taken == Taken::by_another) refuse(folder);
  lock_file_in(folder, other);
}

void FolderLock::lock_file_in(const std::filesystem::path& folder, WhileLocked other) {
  const std::filesystem::path file = folder / kLockFile;
  for (;;) {
    descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor_ < 0) return;
    const Taken taken = take_lock(descriptor_, other);
    if (taken == Taken::yes && is_still_there(file, descriptor_)) {
      file_ = file;
      return;
    }
    release();
    if (taken == Taken::by_another) refuse(folder);
    if (taken == Taken::no_locks) {
      ::unlink(file.c_str());
      return;
    }
    // The previous owner of the lock has removed the file meanwhile.
  }
}

FolderLock FolderLock::of_file(const std::filesystem::path& file, WhileLocked other) {
  std::error_code not_there;
  const std::filesystem::path named = std::filesystem::canonical(file, not_there);
  const std::filesystem::path folder = (not_there ? file : named).parent_path();
  return {folder.empty() ? "." : folder, other};
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), file_(std::exchange(other.file_, {})) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(file_, other.file_);
  return *this;
}

FolderLock::~FolderLock() { release(); }

void FolderLock::release() noexcept {
  if (descriptor_ < 0) return;
  if (!file_.empty()) ::unlink(file_.c_str());  // still locked, so that nobody else can have it
  ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace convladder

// One program at a time in a folder of results.
#pragma once

#include <filesystem>

namespace convladder {

/// The reaction to another program's lock on the folder.
enum class WhileLocked { refuse, wait };

/// A lock on a folder, for as long as this object exists. The system releases it when the program ends, however it
/// ends, so that a kill leaves nothing behind that has to be removed.
///
/// The lock is on the folder itself. Where a file system has none for folders (NFS), or the folder cannot be read, it
/// is on a file in it, which is removed with the lock or, after a kill, with the next one. If there are no locks at
/// all, or nothing can be written anyway, nothing is locked.
class FolderLock {
 public:
  /// Throws UserError, one line, if another program has the folder and is not to be waited for, or if there is no such
  /// folder.
  FolderLock(const std::filesystem::path& folder, WhileLocked other);
  /// Locks the folder that a file is in, or will be; if the file is a link, the folder of the file that it names.
  static FolderLock of_file(const std::filesystem::path& file, WhileLocked other);
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  void lock_file_in(const std::filesystem::path& folder, WhileLocked other);
  void release() noexcept;

  int descriptor_ = -1;
  std::filesystem::path file_;  ///< empty if the folder itself is locked
};

}  // namespace convladder

// The file of a record and its folder: found or created, and locked while the record is written.
#pragma once

#include <filesystem>
#include <string>

#include "support/folder_lock.hpp"

namespace convladder {

/// results/<host>-<time>, made now; with -2, -3, … behind it where that is there already. Throws UserError.
std::filesystem::path make_default_folder();

/// A record on disk. While this lives, no other program writes into its folder.
class RecordFile {
 public:
  /// A new record: makes the folder. Throws UserError if it cannot, if another program writes into the folder, or if
  /// the file is there already; `remedy` then says what to do instead.
  static RecordFile create(const std::filesystem::path& file,
                           const std::string& remedy = "another --output starts a new run");
  /// One that is there. Throws UserError.
  static RecordFile open(const std::filesystem::path& file);

  const std::filesystem::path& path() const { return path_; }
  /// The whole record, atomically. Throws UserError.
  void write(const std::string& content);

 private:
  RecordFile(std::filesystem::path path, bool on_disk);

  std::filesystem::path path_;
  FolderLock lock_;
  bool on_disk_;  ///< whether the file on disk is this record
};

}  // namespace convladder

#include "harness/records/record_folder.hpp"

#include <fmt/format.h>

#include "harness/machine/environment.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/machine_fault.hpp"

namespace convladder {

namespace fs = std::filesystem;

namespace {

constexpr int kMostFoldersOfASecond = 1000;

UserError cannot_make(const fs::path& folder, const std::error_code& error) {
  return UserError(fmt::format("cannot create the folder {}: {}", folder.string(), system_error_text(error.value())));
}

/// A link to nothing is there too.
bool is_there(const fs::path& file) {
  std::error_code ignored;
  return fs::symlink_status(file, ignored).type() != fs::file_type::not_found;
}

}  // namespace

fs::path make_default_folder() {
  const fs::path results = "results";
  const std::string name = fmt::format("{}-{}", host_name(), local_time_for_names());
  std::error_code error;
  fs::create_directories(results, error);
  if (error) throw cannot_make(results / name, error);
  for (int number = 1; number < kMostFoldersOfASecond; ++number) {
    fs::path folder = results / (number == 1 ? name : fmt::format("{}-{}", name, number));
    // Only one of several programs makes it.
    if (fs::create_directory(folder, error)) return folder;
    if (error && error != std::errc::file_exists) throw cannot_make(folder, error);
  }
  throw UserError(fmt::format("{} and the next names already exist; use --output", (results / name).string()));
}

RecordFile::RecordFile(fs::path path, bool on_disk)
    : path_(std::move(path)), lock_(FolderLock::of_file(path_, WhileLocked::refuse)), on_disk_(on_disk) {
  remove_unfinished_files(path_);
}

RecordFile RecordFile::create(const fs::path& file, const std::string& remedy) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (error) throw cannot_make(file.parent_path(), error);
  RecordFile record(file, false);
  if (is_there(file)) throw UserError(fmt::format("{} already exists: {}", file.string(), remedy));
  return record;
}

RecordFile RecordFile::open(const fs::path& file) {
  if (!is_there(file)) throw UserError(fmt::format("cannot read {}: No such file or directory", file.string()));
  return {file, true};
}

void RecordFile::write(const std::string& content) {
  if (on_disk_) return write_file_atomically(path_, content);
  create_file_atomically(path_, content);
  on_disk_ = true;
}

}  // namespace convladder

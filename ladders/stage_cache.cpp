#include "ladders/stage_cache.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <system_error>

#include "support/errors.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> folder_of(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr || *value != '/') return std::nullopt;
  return fs::path(value);
}

bool can_write_in(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  return access(folder.c_str(), W_OK | X_OK) == 0;
}

fs::path own_temporary_folder() {
  std::error_code error;
  fs::path temporary = fs::temp_directory_path(error);
  if (error) temporary = "/tmp";  // TMPDIR names no folder
  fs::path folder = temporary / fmt::format("convladder-{}", getuid());
  static_cast<void>(mkdir(folder.c_str(), S_IRWXU));  // or it exists already
  struct stat status {};
  if (lstat(folder.c_str(), &status) != 0) {
    throw UserError(
        fmt::format("{}: cannot be made, and there is no home to keep compiled stages in: set XDG_CACHE_HOME to "
                    "a folder of yours",
                    folder.string()));
  }
  if (!S_ISDIR(status.st_mode) || status.st_uid != getuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    throw UserError(
        fmt::format("{}: is not yours alone, so no compiled stage is kept in it: set XDG_CACHE_HOME to a folder "
                    "of yours",
                    folder.string()));
  }
  return folder;
}

}  // namespace

fs::path default_stage_cache() {
  if (const auto cache = folder_of("XDG_CACHE_HOME")) return *cache / "convladder/stages";
  if (const auto home = folder_of("HOME")) {
    if (fs::path folder = *home / ".cache/convladder/stages"; can_write_in(folder)) return folder;
  }
  return own_temporary_folder() / "stages";
}

}  // namespace convladder

#include "ladders/stage_cache.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <vector>

#include "support/errors.hpp"
#include "support/printable.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> folder_of(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr || *value != '/') return std::nullopt;
  return fs::path(value);
}

std::optional<struct stat> state_of(const fs::path& path, bool of_link) {
  struct stat state {};
  if ((of_link ? lstat(path.c_str(), &state) : stat(path.c_str(), &state)) != 0) return std::nullopt;
  return state;
}

bool is_ones_own(const struct stat& state) { return state.st_uid == getuid(); }
bool is_ones_own_or_roots(const struct stat& state) { return is_ones_own(state) || state.st_uid == 0; }
bool can_others_write(const struct stat& state) { return (state.st_mode & (S_IWGRP | S_IWOTH)) != 0; }

/// The first folder, from the root down, in which somebody else could replace what leads to `folder`; empty if there is
/// none. Links on the way are followed, and are the user's or root's.
std::string taken_over_above(const fs::path& folder) {
  fs::path above;
  for (const fs::path& part : folder.parent_path()) {
    above /= part;
    const auto link = state_of(above, true);
    const auto state = state_of(above, false);
    if (!link || !state) return fmt::format("{} is not there", printable(above.string()));
    if (!is_ones_own_or_roots(*link) || !is_ones_own_or_roots(*state)) {
      return fmt::format("{} belongs to another user", printable(above.string()));
    }
    // In a sticky folder, such as the system's for temporary files, nobody can replace what belongs to others.
    if (can_others_write(*state) && (state->st_mode & S_ISVTX) == 0) {
      return fmt::format("others can write in {}", printable(above.string()));
    }
  }
  return {};
}

/// Makes the folder, for this user alone, where it is not there. Returns why it cannot be made; empty if it is there.
std::string why_not_made(const fs::path& folder) {
  std::vector<fs::path> missing;
  for (fs::path at = folder; !state_of(at, true) && at != at.root_path(); at = at.parent_path()) missing.push_back(at);
  for (auto at = missing.rbegin(); at != missing.rend(); ++at) {
    if (mkdir(at->c_str(), S_IRWXU) != 0 && errno != EEXIST) {
      return fmt::format("{}: cannot be made: {}", printable(folder.string()), system_error_text(errno));
    }
  }
  return {};
}

/// Why compiled code may not be loaded from the folder, which is there: somebody else could have put it there. In one
/// line; empty if it may be.
std::string why_not_ones_own(const fs::path& folder) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error) return fmt::format("{} cannot be reached: {}", printable(folder.string()), error.message());
  for (const fs::path& path : {folder, real}) {
    if (std::string why = taken_over_above(path); !why.empty()) return why;
  }
  const auto state = state_of(real, true);
  if (!state || !S_ISDIR(state->st_mode)) return fmt::format("{} is no folder", printable(folder.string()));
  if (!is_ones_own(*state)) return fmt::format("{} belongs to another user", printable(folder.string()));
  if (can_others_write(*state)) return fmt::format("others can write in {}", printable(folder.string()));
  if (access(real.c_str(), W_OK | X_OK) != 0) return fmt::format("{} cannot be written", printable(folder.string()));
  return {};
}

/// Makes the folder for stages in that of the cache, which holds what is kept of builds and of last runs as well.
/// Returns why it cannot be used, in one line; empty if it can.
std::string why_not_usable(const fs::path& stages) {
  if (std::string why = why_not_made(stages); !why.empty()) return why;
  for (const fs::path& folder : {stages.parent_path(), stages}) {
    if (const std::string why = why_not_ones_own(folder); !why.empty()) {
      return fmt::format(
          "{}: compiled code is loaded only from where nobody else can put any: set XDG_CACHE_HOME to a folder of "
          "yours",
          why);
    }
  }
  return {};
}

}  // namespace

fs::path default_stage_cache() {
  if (const auto cache = folder_of("XDG_CACHE_HOME")) {
    fs::path stages = (*cache / "convladder/stages").lexically_normal();
    if (const std::string why = why_not_usable(stages); !why.empty()) throw UserError(why);
    return stages;
  }
  if (const auto home = folder_of("HOME")) {
    fs::path stages = (*home / ".cache/convladder/stages").lexically_normal();
    if (why_not_usable(stages).empty()) return stages;
  }
  std::error_code error;
  fs::path temporary = fs::temp_directory_path(error);
  if (error) temporary = "/tmp";  // TMPDIR names no folder
  const fs::path own = temporary / fmt::format("convladder-{}", getuid());
  // Anybody may have put a link there.
  if (const auto link = state_of(own, true); link && !S_ISDIR(link->st_mode)) {
    throw UserError(fmt::format("{}: is no folder: set XDG_CACHE_HOME to a folder of yours", printable(own.string())));
  }
  if (const std::string why = why_not_usable(own / "stages"); !why.empty()) throw UserError(why);
  return own / "stages";
}

bool is_file_of_ones_own(const fs::path& file) {
  const auto state = state_of(file, true);
  return state && S_ISREG(state->st_mode) && is_ones_own(*state);
}

}  // namespace convladder

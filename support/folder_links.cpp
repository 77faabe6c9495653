#include "support/folder_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "support/errors.hpp"
#include "support/printable.hpp"

namespace convladder {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostEntries = 100'000;

}  // namespace

bool lies_in(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

std::string why_not_followed(const fs::path& path, const std::vector<fs::path>& folders) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error == std::errc::no_such_file_or_directory) return "a link that leads nowhere";
  if (error == std::errc::too_many_symbolic_link_levels) return "a link that leads in a circle";
  if (error) return fmt::format("cannot be read: {}", error.message());
  if (std::ranges::any_of(folders, [&](const fs::path& folder) { return lies_in(real, folder); })) return {};
  return fs::is_directory(real, error) ? "a link to a folder outside of the folder"
                                       : "a link to a file outside of the folder";
}

void require_links_inside(const fs::path& folder, const std::vector<fs::path>& others) {
  std::error_code error;
  std::vector<fs::path> allowed = others;
  allowed.push_back(fs::canonical(folder, error));
  if (error) throw UserError(fmt::format("{}: cannot be read: {}", printable(folder.string()), error.message()));
  std::vector<fs::path> links;
  std::size_t seen = 0;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (++seen > kMostEntries) {
      throw UserError(fmt::format("{}: more than {} files in the folder", printable(folder.string()), kMostEntries));
    }
    std::error_code ignored;
    const bool is_hidden = entry->path().filename().string().starts_with('.');
    if (entry->is_symlink(ignored)) {
      if (!is_hidden || fs::exists(entry->path(), ignored)) links.push_back(entry->path());
    } else if (is_hidden && entry->is_directory(ignored)) {
      entry.disable_recursion_pending();
    }
  }
  if (error) throw UserError(fmt::format("{}: cannot be read: {}", printable(folder.string()), error.message()));
  std::ranges::sort(links);
  for (const fs::path& link : links) {
    const std::string why = why_not_followed(link, allowed);
    if (!why.empty()) throw UserError(fmt::format("{}: {}", printable(link.string()), why));
  }
}

}  // namespace convladder

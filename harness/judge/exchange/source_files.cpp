#include "harness/judge/exchange/source_files.hpp"

#include <system_error>

namespace convladder {

namespace fs = std::filesystem;

namespace {

constexpr int kMostEntries = 200'000;  // a folder with more is no folder of sources

}  // namespace

std::optional<std::string> SourceFiles::below(const std::string& file) {
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(folder_, error);
  if (file.empty() || folder.empty()) return std::nullopt;
  const fs::path whole = fs::weakly_canonical(folder / file, error);  // an absolute path stays what it is
  if (fs::is_regular_file(whole, error)) {
    const std::string path = whole.lexically_relative(folder).generic_string();
    if (!path.empty() && !path.starts_with("..")) return path;
  }
  if (file.find('/') != std::string::npos) return std::nullopt;
  list();
  const auto found = by_name_.find(file);
  return found == by_name_.end() ? std::nullopt : found->second;
}

void SourceFiles::list() {
  if (is_listed_) return;
  is_listed_ = true;
  std::error_code error;
  int entries = 0;
  fs::recursive_directory_iterator entry(folder_, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::recursive_directory_iterator() && entries < kMostEntries; entry.increment(error)) {
    ++entries;
    const std::string name = entry->path().filename().string();
    std::error_code unknown;
    if (entry->is_directory(unknown)) {
      if (name.starts_with('.')) entry.disable_recursion_pending();
    } else if (entry->is_regular_file(unknown) && !entry->is_symlink(unknown)) {
      const std::string path = entry->path().lexically_relative(folder_).generic_string();
      const auto [place, is_first] = by_name_.emplace(name, path);
      if (!is_first) place->second.reset();
    }
  }
}

}  // namespace convladder

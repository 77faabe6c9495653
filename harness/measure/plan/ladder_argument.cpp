#include "harness/measure/plan/ladder_argument.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "harness/measure/ladders/ladder_library.hpp"
#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/ladders/outside_stage.hpp"
#include "ladders/ladder_folder.hpp"
#include "ladders/stage_cache.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "support/printable.hpp"
#include "support/progress.hpp"
#include "variants/problem.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

std::string without_last_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

BuildProgress shown_on(Progress& progress) {
  return [&progress](const std::string& file, int done, int all) {
    progress.show_part(fmt::format("compiling {}", printable(file)), static_cast<double>(done) / all, std::nullopt);
  };
}

}  // namespace

void choose_ladder(RunOptions& options, const std::string& word) {
  if (word.empty()) throw UserError("expected a ladder's folder or a problem's name, got an empty string");
  const fs::path path = without_last_slash(word);
  if (is_ladder_folder(path)) {
    options.ladder = fs::absolute(path).lexically_normal().string();
    options.problem = read_ladder_problem(path).name;
    return;
  }
  if (const LibraryLadder* const ladder = find_in_library(word)) {
    options.ladder = ladder->name;
    options.problem = ladder->name;
    return;
  }
  if (const Problem* const found = find_problem(word)) {
    options.problem = found->name();
    return;
  }
  std::error_code error;
  if (fs::is_directory(path, error)) {
    throw UserError(
        fmt::format("{}: no problem.json: 'convladder new' makes a folder that is a ladder", printable(path.string())));
  }
  std::vector<std::string> names;
  for (const LibraryLadder& one : ladder_library()) names.push_back(one.name);
  for (const Problem* const one : registered_problems()) names.emplace_back(one->name());
  throw UserError(fmt::format("{}: no folder with a problem.json; {}", printable(word),
                              unknown_name_message("problem", word, names)));
}

std::filesystem::path ladder_folder_of(const RunOptions& options) {
  if (options.ladder.starts_with('/')) return options.ladder;
  if (const LibraryLadder* const found = find_in_library(options.ladder)) {
    return unpacked_ladder(*found, default_stage_cache());
  }
  throw UserError(fmt::format("{}: no ladder of this program is called that", printable(options.ladder)));
}

const FolderProblem& ladder_of(const RunOptions& options) {
  static std::map<std::string, const FolderProblem*> opened;
  const auto [at, is_new] = opened.try_emplace(options.ladder, nullptr);
  if (at->second == nullptr) {
    Progress progress(nullptr, 0);
    at->second = &open_ladder(ladder_folder_of(options), shown_on(progress));
  }
  return *at->second;
}

void make_absolute(std::vector<std::string>& files) {
  for (std::string& file : files) file = fs::absolute(file).lexically_normal().string();
}

const std::vector<ProblemVariant>& stages_with(const std::vector<std::string>& files) {
  static std::map<std::vector<std::string>, std::vector<ProblemVariant>> compiled;
  const auto [at, is_new] = compiled.try_emplace(files);
  if (is_new) {
    Progress progress(nullptr, 0);
    at->second = outside_stages(files, shown_on(progress));
  }
  return at->second;
}

}  // namespace convladder

#include "ladders/ladder_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "ladders/launch_plan.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/folder_links.hpp"
#include "support/nearest_name.hpp"
#include "support/printable.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostStages = 1000;
constexpr std::uint64_t kLargestSource = 8 << 20;  // bytes: PTX that a compiler made is long

constexpr std::string_view kProblem = "problem.json";

/// A file's name as messages show it: names may come from anybody.
std::string shown(const fs::path& path) { return printable(path.string()); }

/// Whether the path exists, also as a link that leads nowhere or in a circle: reporting that is clearer than
/// overlooking it.
bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

/// Refuses a file that is a link out of the folder: the folder is all there is of a ladder, wherever it is carried.
void require_inside(const fs::path& folder, const fs::path& file) {
  const std::string why = why_not_followed(file, {fs::canonical(folder)});
  if (!why.empty()) throw UserError(fmt::format("{}: {}", shown(file), why));
}

std::vector<fs::path> include_folders_of(const fs::path& folder, const LadderProblem& problem) {
  const fs::path root = fs::canonical(folder);
  std::vector<fs::path> folders;
  for (const std::string& name : problem.include_folders) {
    std::error_code error;
    const fs::path real = fs::canonical(root / name, error);
    const auto refuse = [&](const char* why) {
      throw UserError(fmt::format("{}: include_folders: '{}' {}", shown(folder / kProblem), name, why));
    };
    if (error || !fs::is_directory(real, error)) refuse("is no folder beside this one");
    if (real != (root / name).lexically_normal())
      refuse("is a link, which may lead anywhere: expected the folder itself");
    folders.push_back(real);
  }
  for (const fs::path& one : folders) require_links_inside(one, folders);
  return folders;
}

std::vector<std::string> stage_names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!is_meant_as_stage(name)) continue;
    if (names.size() == kMostStages) {
      throw UserError(fmt::format("{}: more than {} stages", shown(folder), kMostStages));
    }
    names.push_back(name);
  }
  if (error) throw UserError(fmt::format("{}: cannot be read: {}", shown(folder), error.message()));
  std::ranges::sort(names);
  return names;
}

std::string reference_of(const fs::path& folder) {
  std::vector<std::string> found;
  for (const char* const name : {"reference.cpp", "reference.py"}) {
    if (is_there(folder / name)) found.emplace_back(name);
  }
  if (found.empty()) {
    throw UserError(fmt::format("{}: no reference: expected reference.cpp or reference.py", shown(folder)));
  }
  if (found.size() > 1) {
    throw UserError(fmt::format("{}: reference.cpp and reference.py: which of them?", shown(folder)));
  }
  require_inside(folder, folder / found[0]);
  // Read here, since a compiler or a loader would wait for a pipe.
  static_cast<void>(read_file_text((folder / found[0]).string(), kLargestSource));
  return found[0];
}

std::pair<bool, int> place_of(const StageSource& stage) {
  return {stage.is_cuda(), stage.rung == 0 ? 1 << 20 : stage.rung};
}

void check_stages(const LadderFolder& folder) {
  std::map<std::pair<bool, int>, std::string> rungs;
  std::map<std::pair<bool, std::string>, std::string> names;
  for (const StageSource& stage : folder.stages) {
    const auto refuse = [&](const std::string& other, const std::string& what) {
      throw UserError(fmt::format("{}: {} and {} have the same {}", shown(folder.path), other, stage.file, what));
    };
    if (stage.rung > 0) {
      const auto [at, is_new] = rungs.try_emplace({stage.is_cuda(), stage.rung}, stage.file);
      if (!is_new) refuse(at->second, "rung");
    }
    const auto [at, is_new] = names.try_emplace({stage.is_cuda(), stage.name}, stage.file);
    if (!is_new) refuse(at->second, "name");
  }
  for (const StageSource& stage : folder.stages) {
    for (const std::string& need : stage.needs) {
      try {
        static_cast<void>(Expression(need, folder.problem.names()));
      } catch (const std::invalid_argument& error) {
        throw UserError(fmt::format("{}: @requires: {}", shown(folder.path / stage.file), error.what()));
      }
    }
  }
  for (const StageSource& stage : folder.stages) {
    if (!stage.launches.empty()) {
      static_cast<void>(LaunchPlan(stage, folder.problem, shown(folder.path / stage.file)));
    }
  }
  for (const StageSource& stage : folder.stages) {
    if (stage.builds_on.empty()) continue;
    std::vector<std::string> below;
    for (const StageSource& one : folder.stages) {
      if (one.is_cuda() == stage.is_cuda() && &one != &stage) below.push_back(one.name);
    }
    require_known("stage", stage.builds_on, below, fmt::format("{}: @builds-on: ", shown(folder.path / stage.file)));
  }
}

}  // namespace

bool is_ladder_folder(const fs::path& path) { return is_there(path / kProblem); }

LadderProblem read_ladder_problem(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) throw UserError(fmt::format("{}: not a folder", shown(path)));
  if (!is_ladder_folder(path)) throw UserError(fmt::format("{}: no problem.json", shown(path)));
  require_inside(path, path / kProblem);
  return read_problem((path / kProblem).string());
}

LadderFolder read_ladder_folder(const fs::path& path, OwnStages own) {
  LadderFolder folder{path, read_ladder_problem(path), reference_of(path), {}};
  folder.include_folders = include_folders_of(path, folder.problem);
  require_links_inside(path, folder.include_folders);
  for (const std::string& name : stage_names(path)) {
    const fs::path file = path / name;
    require_inside(path, file);
    folder.stages.push_back(parse_stage(read_file_text(file.string(), kLargestSource), name, shown(file)));
  }
  if (folder.stages.empty() && own == OwnStages::required) {
    throw UserError(fmt::format("{}: no stages, such as 01_naive.cu", shown(path)));
  }
  std::ranges::stable_sort(folder.stages, {}, place_of);
  check_stages(folder);
  return folder;
}

}  // namespace convladder

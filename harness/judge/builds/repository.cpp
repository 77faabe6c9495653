#include "harness/judge/builds/repository.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <system_error>

#include "ladders/compilers.hpp"
#include "ladders/program_output.hpp"
#include "support/printable.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

/// The variables that `git rev-parse --local-env-vars` lists: hooks and `git bisect run` set them for the repository
/// that they work on.
constexpr std::string_view kOfOneRepository[] = {"GIT_DIR=",
                                                 "GIT_WORK_TREE=",
                                                 "GIT_INDEX_FILE=",
                                                 "GIT_PREFIX=",
                                                 "GIT_COMMON_DIR=",
                                                 "GIT_OBJECT_DIRECTORY=",
                                                 "GIT_ALTERNATE_OBJECT_DIRECTORIES=",
                                                 "GIT_NAMESPACE=",
                                                 "GIT_SHALLOW_FILE=",
                                                 "GIT_GRAFT_FILE=",
                                                 "GIT_IMPLICIT_WORK_TREE="};

/// The last line that is not empty, without "fatal: ".
std::string said(const ProgramOutput& output) {
  std::string last;
  for (const std::string& line : split(output.messages, '\n')) {
    if (!line.empty()) last = line;
    if (line.starts_with("fatal: ")) {
      last = line;
      break;
    }
  }
  if (last.starts_with("fatal: ")) last.erase(0, 7);
  return printable(last);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::vector<std::string> environment_for_builds() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const auto starts = [text](std::string_view name) { return text.starts_with(name); };
    if (std::ranges::any_of(kOfOneRepository, starts) || starts("LC_ALL=") || starts("NINJA_STATUS=")) continue;
    variables.emplace_back(text);
  }
  variables.emplace_back("LC_ALL=C.UTF-8");
  variables.emplace_back("NINJA_STATUS=[%f/%t] ");  // a build's progress is read from it
  return variables;
}

Repository::Repository(const fs::path& folder) : git_(on_the_path("git")) {
  if (git_.empty()) throw UserError("git was not found on the path: without it there are no commits to build");
  std::error_code error;
  folder_ = fs::absolute(folder.empty() ? fs::path(".") : folder, error).lexically_normal();
  if (!fs::is_directory(folder_, error)) {
    throw UserError(fmt::format("--repository {}: no such folder", printable(folder.string())));
  }
  // Here, and for names such as HEAD, the environment counts: in a hook it points to the hook's repository.
  const ProgramOutput found = run_program(
      {git_, "-C", folder_.string(), "rev-parse", "--path-format=absolute", "--git-common-dir"}, ProgramSettings{});
  if (!found.succeeded()) {
    throw UserError(
        fmt::format("{}: no repository to take commits from: {}", printable(folder_.string()), said(found)));
  }
  common_ = first_line(found.text);
}

Commit Repository::commit(const std::string& option, const std::string& name) const {
  const ProgramOutput found =
      run_program({git_, "-C", folder_.string(), "rev-parse", "--verify", "--end-of-options", name + "^{commit}"},
                  ProgramSettings{});
  if (!found.succeeded() || name.empty()) {
    const ProgramOutput shallow =
        run_program({git_, "-C", folder_.string(), "rev-parse", "--is-shallow-repository"}, ProgramSettings{});
    throw UserError(fmt::format(
        "{} {}: no such commit in {}: {}{}", option, printable(name), printable(folder_.string()), said(found),
        first_line(shallow.text) == "true" ? " (the clone is shallow: 'git fetch --unshallow' brings the others)"
                                           : ""));
  }
  Commit commit{name, first_line(found.text), {}};
  const ProgramOutput log =
      run_program({git_, "-C", folder_.string(), "log", "-1", "--format=%s", commit.id, "--"}, ProgramSettings{});
  commit.subject = printable(first_line(log.text));
  return commit;
}

bool Repository::has_changes() const {
  const ProgramOutput status =
      run_program({git_, "-C", folder_.string(), "status", "--porcelain", "--untracked-files=no"}, ProgramSettings{});
  return status.succeeded() && !status.text.empty();
}

void Repository::add_worktree(const fs::path& place, const Commit& commit) const {
  ProgramSettings settings;
  settings.environment = environment_for_builds();
  // Without hooks, and with all files, even if this repository's own worktree leaves some out.
  const ProgramOutput added =
      run_program({git_, "-c", "core.hooksPath=/dev/null", "-c", "core.sparseCheckout=false", "--git-dir",
                   common_.string(), "worktree", "add", "--force", "--detach", place.string(), commit.id},
                  settings);
  if (!added.succeeded()) {
    throw UserError(fmt::format("the files of commit {} cannot be put into {}: {}", commit.short_id(),
                                printable(place.string()), said(added)));
  }
  std::error_code error;
  if (!fs::exists(place / ".gitmodules", error)) return;
  const ProgramOutput modules =
      run_program({git_, "-C", place.string(), "submodule", "--quiet", "update", "--init", "--recursive"}, settings);
  if (!modules.succeeded()) {
    throw CommitFailure(fmt::format("the submodules of commit {} cannot be had: {}", commit.short_id(), said(modules)));
  }
}

void Repository::remove_worktree(const fs::path& place) const noexcept {
  std::error_code error;
  if (!fs::exists(place, error)) return;
  try {
    ProgramSettings settings;
    settings.environment = environment_for_builds();
    run_program({git_, "--git-dir", common_.string(), "worktree", "remove", "--force", "--force", place.string()},
                settings);
  } catch (const std::exception&) {  // its files are removed below; git forgets the worktree in time
    error.clear();
  }
  fs::remove_all(place, error);
}

}  // namespace convladder

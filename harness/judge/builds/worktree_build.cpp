#include "harness/judge/builds/worktree_build.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "harness/judge/builds/commit_build.hpp"
#include "ladders/program_output.hpp"
#include "support/printable.hpp"
#include "support/text.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

using Clock = std::chrono::steady_clock;

/// The output without the lines in which make says that a command failed: what failed stands before them.
std::string without_make(const std::string& output) {
  std::string rest;
  for (const std::string& line : split(output, '\n')) {
    if (line.starts_with("make") && line.find("***") != std::string::npos) continue;
    rest += line + '\n';
  }
  return rest;
}

}  // namespace

WorktreeBuild::WorktreeBuild(const Repository& repository, const Commit& commit, const std::string& command,
                             std::filesystem::path place)
    : repository_(repository), place_(std::move(place)) {
  fmt::print(stderr, "building commit {} ({})\n", commit.short_id(), commit.subject);
  const auto begin = Clock::now();
  try {
    repository_.add_worktree(place_, commit);
    ProgramSettings settings;
    settings.folder = place_.string();
    settings.environment = environment_for_builds();
    const ProgramOutput output = run_program({"/bin/sh", "-c", "(" + command + ") 2>&1"}, settings);
    if (!output.succeeded()) {
      throw CommitFailure(fmt::format("commit {} ({}): '{}' failed: {}", commit.short_id(), commit.subject,
                                      printable(command), telling_line(without_make(output.text))));
    }
  } catch (...) {
    repository_.remove_worktree(place_);
    throw;
  }
  fmt::print(stderr, "built in {}\n", duration_text(std::chrono::duration<double>(Clock::now() - begin).count()));
}

WorktreeBuild::~WorktreeBuild() { repository_.remove_worktree(place_); }

}  // namespace convladder

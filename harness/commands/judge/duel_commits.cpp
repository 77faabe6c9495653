// Commits as sides of a duel, and the exit code of a duel in a bisection.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "harness/commands/judge/duel_setup.hpp"
#include "harness/judge/builds/commit_build.hpp"
#include "ladders/ladder_folder.hpp"
#include "support/errors.hpp"
#include "support/printable.hpp"

namespace convladder {
namespace {

constexpr const char* kCommitsGroup = "Commits";

/// Whether the name means another commit at every step of a bisection.
bool moves_with_head(const std::string& name) {
  return name.starts_with("HEAD") || name.starts_with("@") || name.starts_with("bisect/") ||
         name.starts_with("refs/bisect/");
}

void check_sides(const DuelArguments& a) {
  const auto refuse_both = [](const char* commit, bool is_given, const char* path, const std::string& program) {
    if (is_given && program != kThisProgram) {
      throw UserError(fmt::format("{} and {} are two names for the same side: give one of them", commit, path));
    }
  };
  for (const char* const name : {"--base-commit", "--new-commit"}) {
    if (a.command->count(name) == 0 || !(name == std::string("--base-commit") ? a.base_commit : a.new_commit).empty()) {
      continue;
    }
    throw UserError(fmt::format("{}: expected a commit, got an empty string", name));
  }
  refuse_both("--base-commit", !a.base_commit.empty(), "--base", a.base);
  refuse_both("--new-commit", !a.new_commit.empty(), "--new", a.now);
  const bool any = !a.base_commit.empty() || !a.new_commit.empty();
  if (any && !a.selection.ladder.empty()) {
    throw UserError(
        "--base-commit, --new-commit: they are commits of convladder; for a folder name its other version: "
        "convladder duel --base OLD NEW");
  }
  if (any || a.bisect) return;
  for (const char* const name : {"--repository", "--build-option"}) {
    if (a.command->count(name) > 0) throw UserError(fmt::format("{}: it is for --base-commit and --new-commit", name));
  }
}

void check_bisection(DuelArguments& a) {
  if (!a.bisect) return;
  if (a.selftest || a.dry_run) throw UserError("--bisect: it is for a duel");
  if (a.base_commit.empty() && a.base == kThisProgram) {
    throw UserError("--bisect: expected --base-commit, a commit that is good: every step is compared with it");
  }
  if (a.now != kThisProgram) throw UserError("--bisect: it judges commits, so --new cannot be combined with it");
  if (moves_with_head(a.base_commit)) {
    throw UserError(
        fmt::format("--base-commit {}: that is another commit at each step of a bisection; name it by its "
                    "digits ('git rev-parse {}') or by a tag",
                    printable(a.base_commit), printable(a.base_commit)));
  }
  if (a.new_commit.empty()) a.new_commit = "HEAD";
  if (a.command->count("--rounds") == 0) a.settings.limits.most_rounds = kBisectRounds;
}

/// The path of the side's program, built if need be. A base that does not build is the fault of whoever named it: a
/// UserError.
std::string built(const Repository& repository, const Commit& commit, const BuildSettings& settings, bool is_base) {
  if (!is_base) return build_commit(repository, commit, settings);
  try {
    return build_commit(repository, commit, settings);
  } catch (const CommitFailure& failure) {
    throw UserError(fmt::format("--base-commit: {}", failure.what()));
  }
}

}  // namespace

void add_commit_options(CLI::App& duel, DuelArguments& a) {
  duel.add_option("--base-commit", a.base_commit, "build this commit and compare with it: v1.0, HEAD~3, 1a2b3c4d")
      ->group(kCommitsGroup);
  duel.add_option("--new-commit", a.new_commit, "build this commit and judge it")->group(kCommitsGroup);
  duel.add_option("--repository", a.repository, "a folder in convladder's repository (default: the current one)")
      ->group(kCommitsGroup);
  duel.add_option("--build-option", a.build_options,
                  "an option for cmake, the same for both commits: -DCONVLADDER_CUDA=OFF; may be repeated")
      ->allow_extra_args(false)
      ->group(kCommitsGroup);
  duel.add_flag("--bisect", a.bisect,
                "for 'git bisect run': judges HEAD against --base-commit, and exits with 0 good, 1 bad, 125 cannot be "
                "told, 128 stop")
      ->group(kCommitsGroup);
}

void check_commit_arguments(DuelArguments& a) {
  check_sides(a);
  check_bisection(a);
}

void choose_commits(DuelArguments& a) {
  if (a.base_commit.empty() && a.new_commit.empty()) return;
  const Repository repository(a.repository);
  const BuildSettings settings{default_builds_folder(), a.build_options};
  std::vector<std::pair<const char*, Commit>> commits;
  if (!a.base_commit.empty()) commits.emplace_back("base", repository.commit("--base-commit", a.base_commit));
  if (!a.new_commit.empty()) commits.emplace_back("new side", repository.commit("--new-commit", a.new_commit));
  const bool same = commits.size() == 2 && commits.front().second.id == commits.back().second.id;
  if (same && a.base_variant.empty() && a.settings.extra_percent == 0 && !a.selftest && !a.bisect) {
    throw UserError(fmt::format("nothing to compare: --base-commit and --new-commit are both commit {} ({})",
                                commits.front().second.short_id(), commits.front().second.subject));
  }
  for (const auto& [side, commit] : commits) {
    const bool is_base = side == std::string("base");
    if (!a.dry_run) (is_base ? a.base : a.now) = built(repository, commit, settings, is_base);
    a.notes.push_back(
        fmt::format("the {} is commit {} ({}): {}", side, commit.short_id(), commit.name, commit.subject));
  }
  if (!a.bisect && repository.has_changes()) {
    a.notes.emplace_back("there are changes that are not committed; they are in no commit, so they were not built");
  }
}

int bisect_code(const DuelResult& result) {
  for (const DuelCase& one : result.cases) {
    if (one.verdict == CaseVerdict::failed && one.reason.starts_with("base:")) {
      throw UserError(fmt::format("--bisect: the good commit's {} fails: {}", one.id, one.reason));
    }
  }
  if (!result.contaminated() && result.control_outcome && result.count(CaseVerdict::regressed) > 0) {
    return kExitCasesFailed;
  }
  const bool any = std::ranges::any_of(result.cases, [](const DuelCase& one) {
    return one.screened || one.verdict == CaseVerdict::missing || one.verdict == CaseVerdict::failed;
  });
  if (!any) throw UserError("--bisect: the good commit has none of these cases, or none of them runs here");
  return result.exit_code() == kExitOk ? kExitOk : kExitUntestable;
}

std::string bisect_text(int code) {
  if (code == kExitOk) return "bisect: good (exit code 0)\n";
  if (code == kExitCasesFailed) return "bisect: bad (exit code 1)\n";
  return fmt::format("bisect: cannot be told, skip this commit (exit code {})\n", code);
}

}  // namespace convladder

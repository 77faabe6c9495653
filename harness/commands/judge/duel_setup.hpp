// What a duel and its selftest have in common.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/commands/case_selection.hpp"
#include "harness/commands/command.hpp"
#include "harness/judge/duel/duel.hpp"
#include "harness/measure/plan/options.hpp"

namespace convladder {

/// In the help, where the options that need --selftest stand.
constexpr const char* kSelftestGroup = "With --selftest";

/// The command line, not checked yet.
struct DuelArguments {
  RunOptions options;
  CaseSelection selection;
  std::string base = kThisProgram;
  std::string now = kThisProgram;
  std::string base_ladder;  ///< the folder that the base's stages are of; empty: as the options say
  std::string base_variant;
  std::string new_variant;
  // Commits, which are built and become `base` and `now`.
  std::string base_commit;
  std::string new_commit;
  std::string repository;                  ///< a folder in it; empty: the current one
  std::vector<std::string> build_options;  ///< for cmake
  std::vector<std::string> notes;          ///< what the result says of the commits
  bool bisect = false;
  DuelSettings settings;
  const CLI::App* command = nullptr;
  double timeout = 0;
  std::string output;  ///< file; empty for none
  std::string format;  ///< of what is printed
  bool dry_run = false;
  bool quiet = false;
  // The selftest's.
  bool selftest = false;
  bool full = false;
  std::vector<int> levels;
  int runs = 0;
  double budget = 0;
  int threads = 1;
  std::string neighbour = "none";
};

/// Throws UserError for two builds that cannot be compared; what is only worth a note goes to `notes`.
void compare_programs(const OtherProgram& base, const OtherProgram& now, std::vector<std::string>& notes);
/// The largest batch decides how many images are drawn.
ImageSet duel_images(const std::vector<DuelGroup>& plan, const RunOptions& options);
/// The seed of the coins: the one of --seed if it was given, otherwise a new one. With the same coins in every duel, an
/// unlucky sequence of them would be unlucky each time.
std::uint64_t coin_seed(const CLI::App& command, const RunOptions& options);
/// Idle OpenMP threads of all children spin for so short a time that they sleep before the other side works, whatever
/// the environment says; the same for both sides. Returns a note if the environment had asked for something else.
std::string make_idle_threads_sleep();
/// `context` of a duel's or a selftest's JSON: the machine, the command line and the date.
nlohmann::ordered_json duel_context(const CommandLine& command_line, const ImageSet& images);

/// --base-commit, --new-commit and what belongs to them.
void add_commit_options(CLI::App& duel, DuelArguments& arguments);
/// Throws UserError for what contradicts itself. A bisection judges HEAD where nothing else is said.
void check_commit_arguments(DuelArguments& arguments);
/// Builds the commits that are named, if any: from then on they are sides as any. Throws UserError, and CommitFailure
/// where the new one does not build.
void choose_commits(DuelArguments& arguments);

/// `convladder duel --bisect`, for `git bisect run`: what the duel's exit code means there. Returns kExitOk, 1 for a
/// regression, kExitUntestable. Throws UserError where it is not the new side that makes the duel say nothing.
int bisect_code(const DuelResult& result);
/// One line of it.
std::string bisect_text(int code);

/// `convladder duel --selftest`: duels whose answer is known, on this machine, now.
void add_selftest_options(CLI::App& duel, DuelArguments& arguments);
/// Returns the exit code: 0 nothing contradicts what a duel claims, 1 something does, 2 `--full` could not show it.
/// Throws UserError.
int duel_selftest(DuelArguments& arguments, const CommandLine& command_line);

}  // namespace convladder

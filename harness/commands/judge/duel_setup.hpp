// Arguments and preparations that a duel and its selftest have in common.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/commands/case_selection.hpp"
#include "harness/commands/command.hpp"
#include "harness/judge/builds/repository.hpp"
#include "harness/judge/builds/worktree_build.hpp"
#include "harness/judge/duel/duel.hpp"
#include "harness/judge/duel/duel_output.hpp"
#include "harness/judge/duel/kernels/kernel_duel.hpp"
#include "harness/judge/duel/programs/program_duel.hpp"
#include "harness/judge/duel/programs/temporary_folder.hpp"
#include "harness/measure/plan/options.hpp"
#include "support/progress.hpp"

namespace convladder {

/// The heading in the help for the options that need --selftest.
constexpr const char* kSelftestGroup = "With --selftest";

/// The most rounds of a step of a bisection: one without a verdict costs more than rounds do.
inline constexpr int kBisectRounds = 100;

/// The options of a duel between any two programs, not checked yet.
struct AnyCommandArguments {
  ProgramDuelOptions duel;
  std::string command;  ///< of both sides
  std::string build;    ///< makes a commit's programs in its worktree
  std::string cases_file;
  std::vector<std::string> metrics;
  std::vector<std::string> higher;
  std::string benchmark_options;
  bool even_if_same = false;
};

/// The command line, not checked yet.
struct DuelArguments {
  RunOptions options;
  CaseSelection selection;
  std::string base = kThisProgram;
  std::string now = kThisProgram;
  std::string base_ladder;  ///< the folder of the base's stages; empty: the one in the options
  std::string base_variant;
  std::string new_variant;
  // For commits, which are built and become `base` and `now`:
  std::string base_commit;
  std::string new_commit;
  std::string repository;                  ///< a folder in the repository; empty: the current one
  std::vector<std::string> build_options;  ///< for cmake
  std::vector<std::string> notes;          ///< notes on the commits for the result
  bool bisect = false;
  DuelSettings settings;
  AnyCommandArguments programs;
  const CLI::App* command = nullptr;
  double timeout = 0;
  std::string output;  ///< file; empty for none
  std::string format;  ///< of the printed result
  bool dry_run = false;
  bool quiet = false;
  bool verbose = false;
  // For the selftest:
  bool selftest = false;
  bool full = false;
  std::vector<int> levels;
  int runs = 0;
  double budget = 0;
  int threads = 1;
  std::string neighbour = "none";
};

/// Throws UserError for two builds that cannot be compared; differences that are merely worth knowing go to `notes`.
void compare_programs(const OtherProgram& base, const OtherProgram& now, std::vector<std::string>& notes);
/// The images for all cases: as many as the largest batch needs.
ImageSet duel_images(const std::vector<KernelGroup>& plan, const RunOptions& options);
/// A build as a side of a duel's report.
inline SideFacts side_facts(const OtherProgram& program) { return {.path = program.path, .program = program.program}; }
/// Shows a duel's progress on the standard error, and what its pilot found.
class DuelProgress {
 public:
  explicit DuelProgress(const DuelLimits& limits) : limits_(limits) {}
  DuelListener listener();

 private:
  DuelLimits limits_;
  Progress progress_{stderr, 0};
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};
/// The seed of the coins: the one of --seed if it was given, otherwise a new one. With the same coins in every duel, an
/// unlucky sequence would be unlucky each time.
std::uint64_t coin_seed(const CLI::App& command, const RunOptions& options);
/// Lets idle OpenMP threads of all children spin for so short a time that they sleep before the other side works,
/// whatever the environment says; both sides get the same. Returns a note if the environment had asked for something
/// else.
std::string make_idle_threads_sleep();

/// Adds --base-command, --new-command and the options that go with them.
void add_program_options(CLI::App& duel, AnyCommandArguments& arguments);
/// Whether --base and --new are programs of Google Benchmark or nvbench: then takes their benchmarks for cases, and
/// commands that measure them for the sides. Throws UserError where the two do not fit each other.
bool take_benchmark_programs(DuelArguments& arguments);
/// Whether the duel is between any two programs.
bool asks_for_programs(const AnyCommandArguments& arguments);
/// Throws UserError for options that contradict each other; fills what follows from them.
void check_program_arguments(DuelArguments& arguments);
/// The worktrees of commits that the sides run in, for as long as it lives.
class BuiltSides {
 public:
  /// Builds the commits that are named, with --build, and runs their sides in their folders. Throws UserError, and
  /// CommitFailure where the new one does not build.
  explicit BuiltSides(DuelArguments& arguments);

 private:
  std::optional<Repository> repository_;
  std::optional<TemporaryFolder> folder_;
  std::optional<WorktreeBuild> base_;
  std::optional<WorktreeBuild> now_;
};

/// The cases of such a duel, a line each; those that only one side has with a word about it. Runs nothing.
std::vector<std::string> program_cases(const ProgramDuelOptions& duel);
/// Notes for a reader of such a duel, a line each.
std::vector<std::string> program_notes(const ProgramDuelOptions& duel);

/// Adds --base-commit, --new-commit and the options that go with them.
void add_commit_options(CLI::App& duel, DuelArguments& arguments);
/// Throws UserError for options that contradict each other. A bisection judges HEAD where no commit is given.
void check_commit_arguments(DuelArguments& arguments);
/// Builds the commits that are named, if any: from then on they are sides like any others. Throws UserError, and
/// CommitFailure where the new one does not build.
void choose_commits(DuelArguments& arguments);

/// The exit code of `convladder duel --bisect`, for `git bisect run`. Returns kExitOk, 1 for a regression,
/// kExitUntestable. Throws UserError where the duel has no verdict and the new side is not the reason.
int bisect_code(const DuelResult& result);
/// The meaning of a bisection's exit code, in one line.
std::string bisect_text(int code);

/// Adds the options of `convladder duel --selftest`: duels whose answer is known, on this machine, now.
void add_selftest_options(CLI::App& duel, DuelArguments& arguments);
/// Runs the selftest. Returns the exit code: 0 nothing contradicts what a duel claims, 1 something does, 2 `--full`
/// could not show it. Throws UserError.
int duel_selftest(DuelArguments& arguments, const CommandLine& command_line);
/// The selftest of two commands, which are taken for equal: of workers with extra work, of others without. Throws
/// UserError for more than one case or metric.
int selftest_of_programs(DuelArguments& arguments, const CommandLine& command_line);

}  // namespace convladder

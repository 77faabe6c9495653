// `convladder duel`: two builds of this program, or two variants, measured in turns.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "harness/commands/case_filter.hpp"
#include "harness/commands/command.hpp"
#include "harness/commands/judge/duel_setup.hpp"
#include "harness/commands/measuring_options.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/commands/printed.hpp"
#include "harness/judge/builds/commit_build.hpp"
#include "harness/judge/duel/duel_output.hpp"
#include "harness/measure/cases/google_engine.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "ladders/ladder_folder.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/printable.hpp"
#include "support/progress.hpp"
#include "support/reasons.hpp"
#include "support/standard_streams.hpp"
#include "support/text_table.hpp"

namespace convladder {

namespace {

constexpr int kDefaultBatch = 100;
constexpr int kPilotRounds = 9;
constexpr std::uint64_t kLargestProgram = std::uint64_t{4} << 30;  // bytes

constexpr const char* kDuelFooter = R"(examples:
  convladder duel --base ../before/build/release/convladder
  convladder duel --base old/convladder --new new/convladder --layer lenet72.conv2 --variant flat-vector
  convladder duel --base-commit v1.0 --new-commit HEAD --layer lenet72.conv2    both are built first
  convladder duel --base-commit HEAD~3                  the commit before the last three against this program
  git bisect run convladder duel --bisect --base-commit v1.0 --layer lenet72.conv2    docs/use/duel.md
  convladder duel --base-variant flat-vector --new-variant compile-time --layer lenet72.conv1
  convladder duel --base my-ladder-before my-ladder    the stages of a folder against those of another version of it
  convladder duel my-ladder --base-variant naive --new-variant rows
  convladder duel --base old/convladder --output duel.json --format markdown > duel.md
  convladder duel --extra-work 5 --batch 1 --layer lenet28.conv1    would a slowdown of 5 % be found here?

  convladder duel --selftest                 as many duels whose answer is known as fit into two minutes
  convladder duel --selftest --full          the whole trial: 300 duels of equal sides, 59 for each amount of extra work
  convladder duel --selftest --full --neighbour bursty --output selftest.json
  convladder duel --selftest --levels 0 --runs 60 --new build/release/tests/convladder_relinked
                                             60 duels with the same objects, linked in another order

docs/use/duel.md says how it measures and what a verdict means; '--selftest' shows how often it is wrong on this machine.
exit codes: 0 pass - 1 a case regressed or failed - 2 inconclusive - 3 bad input, or builds that cannot be compared: one
line says what - 4 a case is missing, or the control moved)";

void check_limits(const DuelArguments& a) {
  const VerdictLimits& limits = a.settings.limits.verdict;
  if (limits.delta < limits.tau) {
    throw UserError(
        fmt::format("--delta {:g}: expected at least --tau, {:g}: otherwise a case that passes could be a regression",
                    limits.delta, limits.tau));
  }
  check_output_file("--output", a.output);
}

void check_arguments(const DuelArguments& a) {
  if (a.base_variant.empty() != a.new_variant.empty()) {
    throw UserError("--base-variant and --new-variant: expected both or neither");
  }
  if (a.base_variant.empty() && a.base_ladder.empty() && a.base == a.now && a.base_commit.empty() &&
      a.new_commit.empty() && a.settings.extra_percent == 0) {
    throw UserError(
        fmt::format("nothing to compare: give another {}, or --base-variant and --new-variant",
                    a.options.ladder.empty() ? "build with --base PATH" : "version of the folder with --base FOLDER"));
  }
  if (!a.base_variant.empty() && !a.options.variants.empty()) {
    throw UserError("--variant cannot be combined with --base-variant and --new-variant");
  }
  check_limits(a);
  static_cast<void>(case_pattern(a.options.case_filter));
}

/// Makes this program both sides of a duel between folders.
void choose_folders(DuelArguments& a) {
  apply_case_selection(a.selection, a.options);
  const bool base_is_folder = is_ladder_folder(a.base);
  if (a.options.ladder.empty()) {
    if (!base_is_folder) return;
    throw UserError(fmt::format("--base {}: a folder is compared with a folder: convladder duel --base OLD NEW",
                                printable(a.base)));
  }
  if (a.now != kThisProgram) throw UserError("--new: the new side of a folder's duel is the folder itself");
  if (base_is_folder) {
    RunOptions base;
    choose_ladder(base, a.base);
    a.base_ladder = base.ladder;
    a.base = kThisProgram;
  } else if (a.base != kThisProgram) {
    throw UserError(
        fmt::format("--base {}: no folder with a problem.json: a folder is compared with a folder", printable(a.base)));
  }
}

/// The problem of the base's folder. Throws UserError if its stages could not be called like those of the other folder.
const FolderProblem& base_folder(const DuelArguments& a) {
  RunOptions options;
  options.ladder = a.base_ladder;
  const FolderProblem& base = ladder_of(options);
  const std::string was = base.ladder().signature(false);
  const std::string is = ladder_of(a.options).ladder().signature(false);
  if (was == is) return base;
  throw UserError(fmt::format("the folders cannot be compared: their stages are {} and {}", was, is));
}

/// Adds a note that counters of the simulated device are not part of a duel.
void note_counted(const RunOptions& options, std::vector<std::string>& notes) {
  const bool any_cuda =
      options.families.empty() || std::ranges::find(options.families, "cuda") != options.families.end();
  if (any_cuda && options.devices.empty()) {
    notes.emplace_back(
        "counters of the CUDA variants are not part of a duel: 'convladder baseline check' compares them");
  }
}

void add_duel_options(CLI::App& duel, DuelArguments& a) {
  a.command = &duel;
  duel.add_option("--base", a.base,
                  "the build, or another version of the folder, to compare with (default: this program)");
  duel.add_option("--new", a.now, "the build to judge (default: this program)");
  duel.add_option("--base-variant", a.base_variant,
                  "compare this variant, instead of the same variants of two builds,");
  duel.add_option("--new-variant", a.new_variant, "against this one");
  add_case_selection(duel, a.options, a.selection, "100");
  duel.add_option("--case", a.options.case_filter, kCaseHelp)->group("Which cases");
  VerdictLimits& limits = a.settings.limits.verdict;
  duel.add_option("--tau", limits.tau, "a regression is shown to be above this fraction (default 0.02)")
      ->check(number_between(0.0, 10.0))
      ->group("How");
  duel.add_option("--delta", limits.delta, "a pass is shown to be below this fraction (default 0.05)")
      ->check(number_between(0.0, 10.0))
      ->group("How");
  duel.add_option("--alpha", limits.alpha, "how often a verdict may be wrong (default 0.01)")
      ->check(number_between(1e-6, 0.5))
      ->group("How");
  duel.add_option("--rounds", a.settings.limits.most_rounds, "most rounds of a case in the confirmation (default 31)")
      ->check(CLI::Range(13, kMostDuelRounds))
      ->group("How");
  duel.add_option("--timeout", a.timeout,
                  "seconds for each step of a case (default 60, and 5 for each GFLOP; on a GPU 30 and more)")
      ->check(number_between(0.1, 1e6))
      ->group("How");
  add_quiet_option(duel, a.settings.wait_until_quiet_seconds);
  duel.add_option("--extra-work", a.settings.extra_percent,
                  "percent of work added to the new side, to see whether the duel finds it")
      ->check(CLI::Range(0, 1000))
      ->group("How");
  duel.add_option("--output", a.output, "file for everything, every slot included, as JSON")->group("Where");
  add_format_option(duel, a.format, {"text", "markdown", "json"});
  duel.add_flag("--dry-run", a.dry_run, "only list the cases that would be measured")->group("Where");
  duel.add_flag("--quiet", a.quiet, "no table")->group("Where");
  add_verbose(duel, a.verbose)->group("Where");
  add_program_options(duel, a.programs);
  add_commit_options(duel, a);
  add_selftest_options(duel, a);
}

/// Prints the cases that would be measured, and those that have only one side or cannot run. Measures nothing.
int duel_dry_run(const std::vector<KernelGroup>& plan) {
  std::size_t runs = 0;
  std::size_t all = 0;
  Reasons reasons;
  for (const KernelGroup& group : plan) {
    for (const KernelPair& pair : group.pairs) {
      ++all;
      if (pair.runs()) ++runs;
      if (!pair.runs()) reasons.add(pair.reason, pair.id);
      fmt::print("{}{}\n", pair.id, pair.runs() ? "" : ": not run");
    }
  }
  fmt::print("{}", reasons.text());
  fmt::print("{}, {} to be measured\n", plural(all, "case"), runs);
  return kExitOk;
}

/// Checks the words before a build that takes minutes; does nothing where no commit is to be built.
void check_before_builds(const DuelArguments& a) {
  if (a.base_commit.empty() && a.new_commit.empty()) return;
  const OtherProgram self = ask_program(kThisProgram);
  const std::vector<KernelGroup> plan = plan_kernel_duel(a.options, self, self, a.base_variant, a.new_variant);
  if (a.dry_run) duel_dry_run(plan);
}

OtherProgram ask_new_side(const DuelArguments& a) {
  if (a.new_commit.empty()) return ask_program(a.now);
  try {
    return ask_program(a.now);
  } catch (const MachineFault&) {
    throw;
  } catch (const UserError& error) {
    throw CommitFailure(error.what());
  }
}

/// Throws UserError for an option that needs --selftest.
void refuse_selftest_options(const DuelArguments& a) {
  for (const CLI::Option* option : a.command->get_options(
           [](const CLI::Option* one) { return one->get_group() == kSelftestGroup && one->count() > 0; })) {
    throw UserError(fmt::format("{} can be used only with --selftest", option->get_name()));
  }
}

/// Writes and prints the result. Returns the exit code.
int told(const DuelArguments& a, const DuelReport& report, const CommandLine& command_line, const ImageSet* images) {
  const std::string document = duel_json_text(report, command_line, images);
  if (!a.output.empty()) write_file_atomically(a.output, document);
  if (!a.quiet) print_as({.format = a.format, .verbose = a.verbose}, duel_report(report), [&] { return document; });
  if (!a.bisect) return report.result.exit_code();
  const int code = bisect_code(report.result);
  fmt::print("{}", bisect_text(code));
  return code;
}

DuelResult measured(const DuelPlan& plan, const DuelSettings& settings) {
  DuelProgress progress(settings.limits);
  return run_duel(plan, settings, progress.listener());
}

/// Says that there is nothing to measure: what is the same on both sides cannot have got slower.
int tell_the_same(const DuelArguments& a, const std::string& why, const SideFacts& base, const SideFacts& now,
                  const CommandLine& command_line) {
  DuelResult result;
  result.same = why;
  result.most_rounds = a.settings.limits.most_rounds;
  const std::string document = duel_json_text({result, a.settings, base, now}, command_line, nullptr);
  if (!a.output.empty()) write_file_atomically(a.output, document);
  Report report;
  report.section().paragraph(fmt::format(": {}: nothing to measure (--even-if-same measures all the same)", why), "",
                             "the same (exit code 0)");
  if (!a.quiet) print_as({.format = a.format, .verbose = a.verbose}, report, [&] { return document; });
  if (a.bisect) fmt::print("{}", bisect_text(kExitOk));
  return kExitOk;
}

/// Whether both sides are one program, byte for byte, whose variants are compared with themselves.
bool are_the_same_program(const DuelArguments& a) {
  if (a.programs.even_if_same || !a.base_variant.empty() || !a.base_ladder.empty() || a.settings.extra_percent > 0) {
    return false;
  }
  return read_file_text(a.base, kLargestProgram) == read_file_text(a.now, kLargestProgram);
}

int duel_of_programs(DuelArguments& a, const CommandLine& command_line) {
  check_program_arguments(a);
  check_limits(a);
  const ProgramDuelOptions& options = a.programs.duel;
  if (!a.selftest) refuse_selftest_options(a);
  if (a.dry_run) {
    for (const std::string& one : program_cases(options)) fmt::print("{}\n", one);
    return kExitOk;
  }
  const BuiltSides built(a);
  if (a.selftest) return selftest_of_programs(a, command_line);
  a.settings.seed = coin_seed(*a.command, a.options);
  if (const std::string why = why_the_same(options);
      !why.empty() && !a.programs.even_if_same && a.settings.extra_percent == 0) {
    return tell_the_same(a, why, side_facts(options.base), side_facts(options.now), command_line);
  }
  const DuelPlan plan = program_duel(options, a.settings);
  DuelResult result = measured(plan, a.settings);
  std::ranges::copy(a.notes, std::back_inserter(result.notes));
  std::ranges::move(program_notes(options), std::back_inserter(result.notes));
  const SideFacts base = side_facts(options.base);
  const SideFacts now = side_facts(options.now);
  return told(a, {result, a.settings, base, now}, command_line, nullptr);
}

int duel(DuelArguments& a, const CommandLine& command_line) {
  a.settings.pilot_rounds = a.bisect ? 0 : kPilotRounds;
  if (a.budget > 0 && !a.selftest) {
    if (a.command->count("--rounds") > 0) throw UserError("--budget and --rounds: give one of them");
    if (a.bisect) throw UserError("--bisect: it has no --budget");
    a.settings.budget_seconds = a.budget;
  }
  if (asks_for_programs(a.programs) || take_benchmark_programs(a)) return duel_of_programs(a, command_line);
  check_commit_arguments(a);
  if (a.selftest) {
    if (!a.selection.ladder.empty()) throw UserError("--selftest: it is of what is built in, and of no folder");
    choose_commits(a);
    return duel_selftest(a, command_line);
  }
  refuse_selftest_options(a);
  choose_folders(a);
  check_arguments(a);
  if (a.options.batches.empty() && a.options.ladder.empty()) a.options.batches = {kDefaultBatch};
  a.settings.seed = coin_seed(*a.command, a.options);
  if (a.timeout > 0) a.settings.timeout_seconds = a.timeout;
  initialize_google_benchmark({});

  check_before_builds(a);
  choose_commits(a);
  std::vector<std::string> notes = a.notes;
  if (a.dry_run && !notes.empty()) {
    for (const std::string& note : notes) fmt::print("{}\n", note);
    return kExitOk;
  }
  if (a.bisect && a.base == a.now) {
    fmt::print("{} is --base-commit itself\n{}", printable(a.new_commit), bisect_text(kExitOk));
    return kExitOk;
  }
  if (const std::string note = make_idle_threads_sleep(); !note.empty()) notes.push_back(note);
  const OtherProgram base = ask_program(a.base);
  const OtherProgram now = ask_new_side(a);
  compare_programs(base, now, notes);
  if (!a.dry_run && are_the_same_program(a)) {
    return tell_the_same(a, "both builds are the same program, byte for byte", side_facts(base), side_facts(now),
                         command_line);
  }
  const FolderProblem* other = nullptr;
  if (!a.base_ladder.empty()) {
    other = &base_folder(a);
    notes.push_back(fmt::format("the base is the folder {}, the new side {}", printable(a.base_ladder),
                                printable(a.options.ladder)));
  }
  const std::vector<KernelGroup> plan = plan_kernel_duel(a.options, base, now, a.base_variant, a.new_variant, other);
  if (a.dry_run) return duel_dry_run(plan);
  if (a.base_variant.empty()) note_counted(a.options, notes);
  const ImageSet images = duel_images(plan, a.options);

  DuelResult result = measured(kernel_duel(plan, base, now, images, a.settings), a.settings);
  std::ranges::move(notes, std::back_inserter(result.notes));
  const SideFacts sides[] = {side_facts(base), side_facts(now)};
  return told(a, {result, a.settings, sides[0], sides[1]}, command_line, &images);
}

int duel_command(DuelArguments& a, const CommandLine& command_line) {
  try {
    return duel(a, command_line);
  } catch (const CommitFailure& failure) {
    if (!a.bisect) throw;
    print_error(failure.what());
    fmt::print("{}", bisect_text(kExitUntestable));
    return kExitUntestable;
  }
}

/// The exit code of errors; with --bisect kExitStopBisect, since `git bisect run` takes every code from 1 to 127 except
/// 125 for "bad".
int duel_exit_of_errors(const CommandLine& words) {
  const auto means_bisect = [](const std::string& word) { return word.starts_with("--bis"); };  // misspelt as well
  return std::ranges::any_of(words, means_bisect) ? kExitStopBisect : kExitError;
}

const CommandRegistration duel_registration({.name = "duel",
                                             .group = CommandGroup::judge,
                                             .help = "did it get slower? two builds measured in turns, case by case",
                                             .footer = kDuelFooter,
                                             .add = command_of<DuelArguments, add_duel_options, duel_command>,
                                             .needs_proc = true,
                                             .exit_of_errors = duel_exit_of_errors});

}  // namespace
}  // namespace convladder

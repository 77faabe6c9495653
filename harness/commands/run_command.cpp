// `convladder run`: verifies and measures cases, and writes run.json.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/commands/case_filter.hpp"
#include "harness/commands/case_selection.hpp"
#include "harness/commands/command.hpp"
#include "harness/commands/measuring_options.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/commands/run_cases.hpp"
#include "harness/plan/ladder_argument.hpp"
#include "harness/plan/plan.hpp"
#include "support/errors.hpp"
#include "support/whole_number.hpp"

namespace convladder {
namespace {

constexpr const char* kRunFooter = R"(examples:
  convladder run                                       the first six stages, the best one and the library, three layers
  convladder run --all                                 every stage
  convladder run --batch 100,1000,10000 --network lenet72
  convladder run --variant compile-time,onednn --layer lenet72.conv2 --batch 500
  convladder run --shape 96,27,27,256,5,1,2 --batch 16   your own layer shape: C,H,W,M,K[,stride[,padding]]
  convladder run --data mnist/ --output results/tonight  real images (IDX files), a folder of your choice
  convladder run my-ladder                             a folder of yours: problem.json, a reference, stages
  convladder run --with my_conv.cu --layer lenet72.conv2 --batch 10    your own stage on the convolution's ladder
  convladder run --resume results/tonight              continues an interrupted run
  convladder run --leave-one-out                       what is each idea of the best stage worth? docs/leave_one_out.md
  convladder run my-softmax                            a folder of your own: 'convladder new my-softmax' makes one
  convladder run --dry-run                             what would be run, and how long it would take
  convladder run --benchmark_format=json               Google Benchmark's own JSON on the standard output

exit codes: 0 every case that ran is verified - 1 a case was incorrect, crashed, timed out or could not be
launched (the other results are kept) - 3 bad input, or nothing could be written - 130 interrupted)";

/// Seconds of measuring for each case of a run without any choice: it has to end soon, on a busy machine too.
constexpr double kStorySeconds = 0.5;

double parse_seconds(const std::string& flag, const std::string& text) {
  // Google Benchmark writes "0.5" or "0.5s".
  double value = 0;
  const char* const end = text.data() + text.size() - (text.ends_with('s') ? 1 : 0);
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !(value > 0 && value < 1e6)) {
    throw UserError(fmt::format("{}: expected seconds above 0, got '{}'", flag, text));
  }
  return value;
}

/// Takes the `--benchmark_*` flags that have a meaning here; the others go to Google Benchmark as they are.
void apply_google_flag(const std::string& flag, RunOptions& options, GoogleOutput& output) {
  const std::size_t equals = flag.find('=');
  const std::string name = flag.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : flag.substr(equals + 1);
  const auto require_format = [&] {
    if (value != "json" && value != "console") {
      throw UserError(fmt::format("{}: expected json or console, got '{}'", name, value));
    }
  };
  if (name == "--benchmark_format") {
    require_format();
    output.console_format = value;
  } else if (name == "--benchmark_out_format") {
    require_format();
    output.file_format = value;
  } else if (name == "--benchmark_out") {
    if (value.empty()) throw UserError("--benchmark_out: expected a file name");
    output.file = value;
  } else if (name == "--benchmark_report_aggregates_only") {
    output.aggregates_only = value != "false" && value != "0";
  } else if (name == "--benchmark_filter") {
    options.case_filter = value;
  } else if (name == "--benchmark_repetitions") {
    options.repetitions = parse_whole_number(name, value, 1, kMostRepetitions);
  } else if (name == "--benchmark_min_time") {
    options.sample_milliseconds = parse_seconds(name, value) * 1e3;
  } else if (name == "--benchmark_list_tests") {
    throw UserError("--benchmark_list_tests: use --dry-run to list the cases");
  } else {  // and none of is_own_google_flag()
    options.google_benchmark_flags.push_back(flag);
  }
}

/// What the options of `run` are parsed into before they are checked.
struct RunArguments {
  RunOptions options;
  RunInvocation invocation;
  CaseSelection selection;
  bool leave_one_out = false;
  bool all = false;
};

void add_run_options(CLI::App& run, RunArguments& a) {
  add_case_selection(run, a.options, a.selection, "10,100,1000, while a call stays below 10 GFLOP");
  run.add_option("--case", a.options.case_filter, kCaseHelp)->group("Which cases");
  run.add_option("--with", a.options.with,
                 "a stage of your own, a .cu, .cpp or .ptx, beside those of the convolution; may be repeated")
      ->allow_extra_args(false)
      ->group("Which cases");
  run.add_flag("--all", a.all,
               "every stage; without any choice: the story's six stages, the best one and the libraries")
      ->group("Which cases");
  run.add_flag("--leave-one-out", a.leave_one_out,
               "the best stage, and what lacks one of its ideas (default: lenet72.conv2, batch 1000)")
      ->group("Which cases");

  add_measuring_options(
      run, a.options,
      {.budget = "seconds of measuring for each case (default 1; 0.5 in a run without any choice)",
       .repetitions = "exactly this many samples of each case",
       .timeout = "seconds for each step of a case (default 60, and 5 for each GFLOP; on a GPU 30 and more)"});
  run.add_option("--precision", a.options.target_half_width,
                 "stop when the interval's half width is below this fraction of the median (default 0.01)")
      ->check(number_between(0.0, 1.0))
      ->group("How");
  add_isolation_option(run, a.options.isolate);
  run.add_option(
         "--profile-calls", a.options.profile_calls,
         "for profilers: exactly this many calls of the convolution in an NVTX range 'profile', before the samples")
      ->check(CLI::Range(1, kMostRepetitions))
      ->group("How");

  add_record_options(run, kRunKind, a.invocation.record, "only list the cases and predict their time",
                     "no progress, no table");
  run.add_flag("--verbose", a.invocation.verbose, "a line for each case, and the table of every layer and batch")
      ->group("Where");
  run.add_flag("--no-table", a.invocation.no_table, "no table of each ladder at the end")->group("Where");
  run.add_flag(
         "--strangers", a.options.strangers,
         "of a LADDER: its CPU stages are somebody else's and run apart from clock and messages; short calls take "
         "longer")
      ->group("How");
  run.add_flag("--no-reuse", a.invocation.no_reuse, "of a LADDER: measure stages that have not changed as well")
      ->group("How");
  run.add_flag("--no-report", a.invocation.no_report, "of a LADDER: draw no charts and no report")->group("Where");
}

/// Stages that have variants without an idea, and these variants. Throws UserError if the problem has none.
std::vector<std::string> names_of_leave_one_out(const Problem& problem) {
  std::vector<std::string> names;
  for (const ProblemVariant& registered : problem.variants()) {
    if (registered.info.leaves_out.empty()) continue;
    const std::string best(registered.info.builds_on);
    if (std::ranges::find(names, best) == names.end()) names.push_back(best);
    names.emplace_back(registered.info.name);
  }
  if (!names.empty()) return names;
  throw UserError(fmt::format("--leave-one-out: no variant of the problem {} leaves an idea out", problem.name()));
}

/// What is each idea of the best stage worth when all others are present?
void choose_leave_one_out(RunOptions& options) {
  const Problem& problem = problem_of(options);
  if (options.variants.empty()) options.variants = names_of_leave_one_out(problem);
  const bool sizes_named = !options.shapes.empty() || !options.sizes.empty();
  if (options.problem == RunOptions().problem && options.networks.empty() && options.layers.empty() && !sizes_named) {
    options.layers = {"lenet72.conv2"};
  }
  if (options.batches.empty()) options.batches = {1000};
}

/// Whether which stages on which layers is left to the program.
bool chooses_nothing(const RunOptions& o) {
  const bool stages = !o.variants.empty() || !o.with.empty() || !o.case_filter.empty();
  const bool sizes =
      !o.networks.empty() || !o.layers.empty() || !o.batches.empty() || !o.shapes.empty() || !o.sizes.empty();
  return !stages && !sizes && o.ladder.empty() && o.problem == RunOptions().problem;
}

void apply_google_flags(RunArguments& a) {
  for (const std::string& flag : a.invocation.record.command->remaining()) {
    const RunOptions before = a.options;
    apply_google_flag(flag, a.options, a.invocation.google);
    const bool changed = options_to_json(a.options) != options_to_json(before);
    if (changed && !a.invocation.record.resume.empty()) refuse_with_resume(flag);
  }
}

int run_command(RunArguments& a, const CommandLine& command_line) {
  static_cast<void>(case_pattern(a.options.case_filter));
  apply_google_flags(a);
  apply_case_selection(a.selection, a.options);
  make_absolute(a.options.with);
  a.options.story = !a.all && !a.leave_one_out && chooses_nothing(a.options);
  if (a.options.story && a.invocation.record.command->get_option("--budget")->count() == 0)
    a.options.budget_seconds = kStorySeconds;
  if (a.leave_one_out) choose_leave_one_out(a.options);
  a.invocation.command_line = command_line;
  return run_cases(a.options, a.invocation);
}

const CommandRegistration run_registration({.name = "run",
                                            .group = CommandGroup::measure,
                                            .help = "verify and measure cases, write run.json",
                                            .footer = kRunFooter,
                                            .add = command_of<RunArguments, add_run_options, run_command>,
                                            .needs_proc = true,
                                            .takes_word = [](const std::string& word) {
                                              return word.starts_with("--benchmark_");
                                            }});

}  // namespace
}  // namespace convladder

// `convladder run`: verifies and measures cases, and writes run.json.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "harness/commands/command.hpp"
#include "harness/commands/run/run_cases.hpp"
#include "harness/commands/run/run_choice.hpp"
#include "harness/commands/run/run_shard.hpp"
#include "harness/commands/run/run_watch.hpp"
#include "harness/measure/plan/options.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"

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
  convladder run my-ladder --watch                     save a stage, and a line says what became of it; Ctrl-C ends
  convladder run --with my_conv.cu --layer lenet72.conv2 --batch 10    your own stage on the convolution's ladder
  convladder run --resume results/tonight              continues an interrupted run
  convladder run --plan results/big --shard 3/64       one of the parts that 'convladder plan' made: docs/use/shards.md
  convladder run --leave-one-out                       what is each idea of the best stage worth? docs/use/leave_one_out.md
  convladder run my-softmax                            a folder of your own: 'convladder new my-softmax' makes one
  convladder run --dry-run                             what would be run, and how long it would take
  convladder run --benchmark_format=json               Google Benchmark's own JSON on the standard output

exit codes: 0 every case that ran is verified - 1 a case was incorrect, crashed, timed out or could not be
launched (the other results are kept) - 3 bad input, or nothing could be written - 130 interrupted)";

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
  } else {  // and is_own_google_flag() holds for no other
    options.google_benchmark_flags.push_back(flag);
  }
}

/// The parsed options of `run`, before they are checked.
struct RunArguments {
  RunChoice choice;
  RunInvocation invocation;
  ShardArguments shard;
  bool watch = false;
};

void add_run_options(CLI::App& run, RunArguments& a) {
  add_run_choice(run, a.choice);
  add_record_options(run, kRunKind, a.invocation.record, "only list the cases and predict their time",
                     "no progress, no table");
  run.add_flag("--verbose", a.invocation.verbose, "a line for each case, and the table of every layer and batch")
      ->group("Where");
  run.add_flag("--no-table", a.invocation.no_table, "no table of each ladder at the end")->group("Where");
  run.add_flag("--no-reuse", a.invocation.no_reuse, "of a LADDER: measure stages that have not changed as well")
      ->group("How");
  run.add_flag("--no-report", a.invocation.no_report, "of a LADDER: draw no charts and no report")->group("Where");
  run.add_flag("--watch", a.watch,
               "of a LADDER: each stage that is saved is compiled, verified and timed against its last right version")
      ->group("How");
  add_shard_options(run, a.shard);
}

void apply_google_flags(RunArguments& a) {
  for (const std::string& flag : a.invocation.record.command->remaining()) {
    const RunOptions before = a.choice.options;
    apply_google_flag(flag, a.choice.options, a.invocation.google);
    if (a.choice.options != before && !a.invocation.record.resume.empty()) refuse_with_resume(flag);
  }
}

/// Throws UserError for an option that --watch does not look at.
void refuse_with_watch(const CLI::App& run) {
  static const std::vector<std::string> taken = {"LADDER", "--watch", "--family", "--size", "--device", "--untrusted"};
  for (const CLI::Option* const option : run.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || std::ranges::find(taken, name) != taken.end()) continue;
    throw UserError(fmt::format("{}: not with --watch, which takes --family, --size, --device and --untrusted", name));
  }
}

int run_command(RunArguments& a, const CommandLine& command_line) {
  a.invocation.command_line = command_line;
  if (a.watch) refuse_with_watch(*a.invocation.record.command);
  if (!a.shard.plan.empty()) return run_shard(a.shard, a.invocation);
  refuse_without_plan(a.shard);
  apply_google_flags(a);
  apply_run_choice(*a.invocation.record.command, a.choice);
  if (a.watch) return watch_ladder(a.choice.options);
  return run_cases(a.choice.options, a.invocation);
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

#include "harness/commands/command_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "devices/cpu/cpu_facts.hpp"
#include "harness/cases/case_client.hpp"
#include "harness/cases/case_protocol.hpp"
#include "harness/cases/ceilings.hpp"
#include "harness/commands/baseline_command.hpp"
#include "harness/commands/check_command.hpp"
#include "harness/commands/compare_command.hpp"
#include "harness/commands/duel_command.hpp"
#include "harness/commands/explain_command.hpp"
#include "harness/commands/fused_command.hpp"
#include "harness/commands/history_command.hpp"
#include "harness/commands/launches_command.hpp"
#include "harness/commands/leave_one_out_command.hpp"
#include "harness/commands/list_command.hpp"
#include "harness/commands/network_command.hpp"
#include "harness/commands/profile_command.hpp"
#include "harness/commands/published_command.hpp"
#include "harness/commands/report_command.hpp"
#include "harness/commands/run_command.hpp"
#include "harness/commands/selftest_command.hpp"
#include "harness/commands/simulate_command.hpp"
#include "harness/commands/sweep_command.hpp"
#include "harness/commands/train_command.hpp"
#include "harness/fused/fused_session.hpp"
#include "harness/machine/build_information.hpp"
#include "harness/networks/network_session.hpp"
#include "harness/plan/case_selection.hpp"
#include "harness/plan/option_checks.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/machine_fault.hpp"
#include "support/nearest_name.hpp"
#include "support/printable.hpp"
#include "support/standard_streams.hpp"
#include "support/whole_number.hpp"

namespace convladder {
namespace {

constexpr const char* kRunExamples = R"(examples:
  convladder run                                       the ladder on every layer, batches 10, 100 and 1000
  convladder run --batch 100,1000,10000 --network lenet72
  convladder run --variant compile-time,onednn --layer lenet72.conv2 --batch 500
  convladder run --shape 96,27,27,256,5,1,2 --batch 16   your own layer shape: C,H,W,M,K[,stride[,padding]]
  convladder run --data mnist/ --output results/tonight  real images (IDX files), a folder of your choice
  convladder run --resume results/tonight              continues an interrupted run
  convladder run --dry-run                             what would be run, and how long it would take
  convladder run --benchmark_format=json               Google Benchmark's own JSON on the standard output

exit codes: 0 every case that ran is verified - 1 a case was incorrect, crashed, timed out or could not be
launched (the other results are kept) - 3 bad input, or nothing could be written - 130 interrupted)";

constexpr const char* kMainFooter = R"(examples:
  convladder list                      variants, layers and devices
  convladder run --batch 100,1000      runs the ladder, writes results/<host>-<time>/run.json
  convladder env                       the machine: processor, devices, libraries
  convladder check                     the CUDA variants under all checkers, on every layer and on awkward shapes
  convladder baseline check            the CUDA variants' counters against the recorded ones, exactly
  convladder sweep --variant register-tile --device simulated    which tile sizes are best for which layer
  convladder simulate kernel.ptx ...   runs any kernel without a GPU, checks it and counts
  convladder network --network lenet86 whole networks: op times, accuracy, where the time goes
  convladder fused --network lenet86   convolution, activation and pooling in one kernel, against separate operators
  convladder train --network lenet86   trains a network on the built-in images, a minute or two
  convladder published                 figures that others published for the same networks
  convladder compare BASE.json NEW.json    did it get slower? two recorded runs, case by case
  convladder report RUN.json           one HTML page of records: ladder, counters, networks, changes
  convladder explain RUN.json          why is a stage faster? counters, occupancy, predicted times on named GPUs
  convladder leave-one-out             what is each idea of the best stage worth when all others are present?
  convladder history results           all runs below a folder: every case over time, and where it changed
  convladder duel --base PATH          did it get slower? this build and another one, measured in turns
  convladder selftest                  how often a duel is wrong on this machine, and what it finds

'convladder COMMAND --help' says more, with examples.)";

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
    options.repetitions = parse_whole_number(name, value, 1, 100000);
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
  std::string output;
  std::string resume;
  std::string isolate = "process";
  int repetitions = 0;
  int profile_calls = 0;
  double timeout = 0;
};

void add_run_options(CLI::App& run, RunArguments& a) {
  run.footer(kRunExamples);
  add_case_selection(run, a.options, a.selection, "10,100,1000, while a call stays below 10 GFLOP");

  run.add_option("--budget", a.options.budget_seconds, "seconds of measuring for each case (default 1)")
      ->check(number_between(0.0, 1e6))
      ->group("How");
  run.add_option("--precision", a.options.target_half_width,
                 "stop when the interval's half width is below this fraction of the median (default 0.01)")
      ->check(number_between(0.0, 1.0))
      ->group("How");
  run.add_option("--repetitions", a.repetitions, "exactly this many samples of each case")
      ->check(CLI::Range(1, 100000))
      ->group("How");
  run.add_option("--timeout", a.timeout, "seconds for each step of a case (default 60 plus 5 for each GFLOP)")
      ->check(number_between(0.1, 1e6))
      ->group("How");
  run.add_option("--isolate", a.isolate,
                 "'process': every case in a process of its own (default); 'none': all in this "
                 "one, for debuggers and profilers")
      ->check(CLI::IsMember({"process", "none"}))
      ->group("How");

  run.add_option(
         "--profile-calls", a.profile_calls,
         "for profilers: exactly this many calls of the convolution in an NVTX range 'profile', before the samples")
      ->check(CLI::Range(1, 100000))
      ->group("How");

  run.add_option("--output", a.output, "folder for run.json (default results/<host>-<time>)")->group("Where");
  run.add_option("--resume", a.resume, "continue the interrupted run in this folder, with its settings")
      ->group("Where");
  run.add_flag("--dry-run", a.invocation.dry_run, "only list the cases and predict their time")->group("Where");
  run.add_flag("--quiet", a.invocation.quiet, "no line for each case, no table")->group("Where");
  run.add_flag("--no-table", a.invocation.no_table, "no table of each ladder at the end")->group("Where");
  run.allow_extras();
}

int execute_run(CLI::App& run, RunArguments& a, const std::vector<std::string>& command_line) {
  for (const std::string& extra : run.remaining()) {
    if (!extra.starts_with("--benchmark_")) {
      std::vector<std::string> known;
      for (const CLI::Option* option : run.get_options()) known.push_back(option->get_name());
      throw UserError(unknown_name_message("option", extra, known));
    }
    const RunOptions before = a.options;
    apply_google_flag(extra, a.options, a.invocation.google);
    if (!a.resume.empty() && options_to_json(a.options) != options_to_json(before)) {
      throw UserError(fmt::format("{} cannot be used with --resume: the run continues with its own settings", extra));
    }
  }
  apply_case_selection(a.selection, a.options);
  if (a.repetitions > 0) a.options.repetitions = a.repetitions;
  if (a.profile_calls > 0) a.options.profile_calls = a.profile_calls;
  if (a.timeout > 0) a.options.timeout_seconds = a.timeout;
  a.options.isolate = a.isolate == "process";
  a.invocation.output = a.output;
  a.invocation.resume = a.resume;
  a.invocation.command_line = command_line;
  if (!a.resume.empty()) {
    for (const CLI::Option* option : run.get_options()) {
      const std::string name = option->get_name();
      if (option->count() > 0 && name != "--resume" && name != "--quiet" && name != "--no-table" &&
          name != "--dry-run") {
        throw UserError(fmt::format("{} cannot be used with --resume: the run continues with its own settings", name));
      }
    }
  }
  return run_command(a.options, a.invocation);
}

/// Throws for the first argument that looks like an option but is not one of this command.
void refuse_unknown_options(const CLI::App& command) {
  for (const std::string& argument : command.remaining()) {
    if (!argument.starts_with("-")) continue;
    std::vector<std::string> known;
    for (const CLI::Option* option : command.get_options()) known.push_back(option->get_name());
    throw UserError(unknown_name_message("option", argument.substr(0, argument.find('=')), known));
  }
}

/// What starts this program again, and asks the system what machine it is, needs /proc.
void require_proc() {
  if (access(kThisProgram, F_OK) != 0) {
    throw MachineFault(fmt::format("{} is not there: is /proc mounted?", kThisProgram));
  }
}

/// An empty path is usually an unset shell variable, and never intended.
void refuse_empty_paths(const CLI::App& command) {
  constexpr std::array<std::string_view, 13> paths{"--output", "--resume", "--data",   "--json", "--markdown",
                                                   "--tables", "--folder", "--index",  "--pdf",  "--base",
                                                   "--new",    "--record", "--weights"};
  for (const CLI::Option* const option : command.get_options()) {
    if (std::ranges::find(paths, option->get_name()) == paths.end() || option->count() == 0) continue;
    if (std::ranges::find(option->results(), "") != option->results().end()) {
      throw UserError(fmt::format("{}: expected a path, got an empty string", option->get_name()));
    }
  }
}

int parse_and_execute(int argc, char** argv) {
  CLI::App app{"convladder optimizes one kernel step by step: every stage is verified, measured and compared.",
               "convladder"};
  app.set_version_flag("--version", fmt::format("convladder {} ({})", build::version, build::commit));
  app.footer(kMainFooter);
  app.require_subcommand(1);

  bool list_as_json = false;
  CLI::App* const list = app.add_subcommand("list", "the variants, layers and devices of this build");
  list->add_flag("--json", list_as_json, "as JSON");
  bool list_metrics = false;
  list->add_flag("--metrics", list_metrics, "list the metrics of the simulated device instead");
  list->footer("examples:\n  convladder list\n  convladder list --metrics");

  RunArguments run_arguments;
  CLI::App* const run = app.add_subcommand("run", "verify and measure cases, write run.json");
  add_run_options(*run, run_arguments);

  bool env_as_json = false;
  CLI::App* const env = app.add_subcommand("env", "the machine: processor, devices, libraries");
  env->add_flag("--json", env_as_json, "as JSON, in the format of a run's record");
  env->footer("example:\n  convladder env --json");

  CheckArguments check_arguments;
  CLI::App* const check = app.add_subcommand("check", "run the CUDA variants under all checkers, without a GPU");
  add_check_options(*check, check_arguments);

  BaselineArguments baseline_arguments;
  CLI::App* const baseline = app.add_subcommand("baseline", "check or update the recorded counters of every variant");
  add_baseline_options(*baseline, baseline_arguments);

  CompareArguments compare_arguments;
  CLI::App* const compare = app.add_subcommand("compare", "did it get slower? two recorded runs, case by case");
  add_compare_options(*compare, compare_arguments);

  ReportArguments report_arguments;
  CLI::App* const report = app.add_subcommand("report", "one HTML page of recorded runs and networks");
  add_report_options(*report, report_arguments);

  ExplainArguments explain_arguments;
  CLI::App* const explain = app.add_subcommand("explain", "why is a stage faster? predicted times on named GPUs");
  add_explain_options(*explain, explain_arguments);

  HistoryArguments history_arguments;
  CLI::App* const history = app.add_subcommand("history", "trends over many recorded runs, case by case");
  add_history_options(*history, history_arguments);

  DuelArguments duel_arguments;
  CLI::App* const duel = app.add_subcommand("duel", "did it get slower? two builds measured in turns, case by case");
  add_duel_options(*duel, duel_arguments);

  SelftestArguments selftest_arguments;
  CLI::App* const selftest =
      app.add_subcommand("selftest", "how often a duel is wrong on this machine, and what it finds");
  add_selftest_options(*selftest, selftest_arguments);

  SweepArguments sweep_arguments;
  CLI::App* const sweep = app.add_subcommand("sweep", "which tile sizes are best for which layer: tuning tables");
  add_sweep_options(*sweep, sweep_arguments);

  SimulateArguments simulate_arguments;
  CLI::App* const simulate = app.add_subcommand("simulate", "run a PTX kernel on the simulated device");
  add_simulate_options(*simulate, simulate_arguments);

  NetworkArguments network_arguments;
  CLI::App* const network = app.add_subcommand("network", "run whole networks with any variant in them");
  add_network_options(*network, network_arguments);

  FusedArguments fused_arguments;
  CLI::App* const fused = app.add_subcommand("fused", "convolution with activation and pooling, fused or separate");
  add_fused_options(*fused, fused_arguments);

  ProfileArguments profile_arguments;
  CLI::App* const profile = app.add_subcommand("profile", "where the time of a network run goes");
  add_profile_options(*profile, profile_arguments);

  TrainArguments train_arguments;
  CLI::App* const train = app.add_subcommand("train", "train a network's weights");
  add_train_options(*train, train_arguments);

  LaunchesArguments launches_arguments;
  CLI::App* const launches = app.add_subcommand("launches", "the kernels that a CUDA variant launches for a layer");
  add_launches_options(*launches, launches_arguments);

  LeaveOneOutArguments leave_one_out_arguments;
  CLI::App* const leave_one_out = app.add_subcommand("leave-one-out", "what is each idea of the best stage worth?");
  add_leave_one_out_options(*leave_one_out, leave_one_out_arguments);

  PublishedArguments published_arguments;
  CLI::App* const published = app.add_subcommand("published", "figures that others published for the same networks");
  add_published_options(*published, published_arguments);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {  // help or version
    std::ostringstream text;
    const int exit_code = app.exit(help, text, text);
    fmt::print("{}", text.str());
    return exit_code;
  } catch (const CLI::ExtrasError& error) {
    for (const CLI::App* const command : app.get_subcommands()) refuse_unknown_options(*command);
    throw UserError(fmt::format("{} (see 'convladder --help')", error.what()));
  } catch (const CLI::ParseError& error) {
    if (argc > 1 && argv[1][0] != '-' && app.get_subcommands().empty()) {
      std::vector<std::string> known;
      for (const CLI::App* const command : app.get_subcommands(nullptr)) known.push_back(command->get_name());
      throw UserError(unknown_name_message("command", argv[1], known));
    }
    throw UserError(fmt::format("{} (see 'convladder --help')", error.what()));
  }
  for (const CLI::App* const command : app.get_subcommands()) refuse_empty_paths(*command);
  for (const CLI::App* const command : {run, network, fused, sweep, duel, selftest, profile, report, leave_one_out}) {
    if (command->parsed()) require_proc();
  }
  const std::vector<std::string> command_line(argv + 1, argv + argc);
  if (list->parsed()) return list_metrics ? list_metrics_command(list_as_json) : list_command(list_as_json);
  if (env->parsed()) return env_command(env_as_json);
  if (check->parsed()) return check_command(check_arguments);
  if (baseline->parsed()) return baseline_command(baseline_arguments);
  if (compare->parsed()) return compare_command(compare_arguments);
  if (report->parsed()) return report_command(report_arguments);
  if (explain->parsed()) return explain_command(explain_arguments);
  if (history->parsed()) return history_command(history_arguments);
  if (duel->parsed()) return duel_command(duel_arguments, command_line);
  if (selftest->parsed()) return selftest_command(selftest_arguments, command_line);
  if (network->parsed()) return network_command(network_arguments, command_line);
  if (fused->parsed()) return fused_command(fused_arguments, command_line);
  if (profile->parsed()) return profile_command(profile_arguments);
  if (train->parsed()) return train_command(train_arguments);
  if (sweep->parsed()) return sweep_command(sweep_arguments, command_line);
  if (simulate->parsed()) return simulate_command(simulate_arguments);
  if (launches->parsed()) return launches_command(launches_arguments);
  if (leave_one_out->parsed()) return leave_one_out_command(leave_one_out_arguments, command_line);
  if (published->parsed()) return published_command(published_arguments);
  return execute_run(*run, run_arguments, command_line);
}

/// The record is on disk at every moment, so there is nothing to save; the cases' processes end with this one.
void end_on_interrupt(int /*signal*/) {
  remove_file_being_written();
  std::_Exit(kExitInterrupted);
}

void take_interrupts() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (std::signal(signal, end_on_interrupt) == SIG_IGN && signal == SIGHUP) {
      static_cast<void>(std::signal(signal, SIG_IGN));  // nohup asked for that
    }
  }
}

bool came_to_its_end = false;

/// Libraries may call exit(), as OpenMP's does where it gets no threads: that is neither success nor a failed case.
void end_of_another() {
  if (came_to_its_end) return;
  if (!anything_on_standard_error()) print_error("a library or a variant has ended the program");
  std::_Exit(kExitError);
}

}  // namespace

int run_command_line(int argc, char** argv) {
  try {
    // What `run` starts for each case; not for people.
    if ((argc == 4 || argc == 5) && std::string_view(argv[1]).starts_with("serve-")) {
      const int socket = parse_whole_number(argv[1], argv[2], 0, 1 << 20);
      const int memory = parse_whole_number(argv[1], argv[3], 0, 1 << 20);
      const int window = argc == 5 ? parse_whole_number(argv[1], argv[4], 0, 1 << 20) : -1;
      if (std::string_view(argv[1]) == "serve-case") return serve_case(socket, memory, window);
      if (std::string_view(argv[1]) == "serve-about") return serve_about(socket);
      if (std::string_view(argv[1]) == "serve-ceilings") return serve_ceilings(socket);
      if (std::string_view(argv[1]) == "serve-network") return serve_network(socket, memory, window);
      if (std::string_view(argv[1]) == "serve-fused") return serve_fused(socket, memory, window);
    }
    print_without_failing();
    take_interrupts();
    static_cast<void>(std::atexit(end_of_another));
    const int exit_code = parse_and_execute(argc, argv);
    require_output();
    came_to_its_end = true;
    return exit_code;
  } catch (const std::bad_alloc&) {
    print_error(out_of_memory_text());
  } catch (const std::exception& error) {
    print_error(error.what());
  }
  came_to_its_end = true;
  return kExitError;
}

}  // namespace convladder

// `convladder history`: recorded runs as trends.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/commands/command.hpp"
#include "harness/commands/judge/history_confirm.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/commands/printed.hpp"
#include "harness/judge/history/history.hpp"
#include "harness/judge/history/history_json.hpp"
#include "harness/judge/history/history_output.hpp"
#include "harness/measure/plan/plan.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/printable.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

/// The command line, not checked yet.
struct HistoryArguments {
  std::vector<std::string> paths;
  HistoryOptions options;
  std::vector<std::string> batches;
  std::string index;  ///< empty: kIndexName in the first folder
  bool no_index = false;
  ConfirmArguments confirm;
  HistorySelftestArguments selftest;
  Printed printed;
};

/// The name of the index in the folder of the runs.
constexpr const char* kIndexName = "history-index.jsonl";

constexpr const char* kHistoryFooter = R"(examples:
  convladder history results                                every results/*/run.json, however deep
  convladder history nightly weekly/run7.json --layer lenet72.conv2 --batch 100
  convladder history results --anchor memory-accumulation   every time divided by this variant's
  convladder history results --format json --output history.json && scripts/history.py history.json

  convladder history results --confirm                      what changed is measured again before it counts
  convladder history --selftest                             histories whose answer is known: how often is one wrong?

docs/use/history.md says how changes are found and how far to trust them.
exit codes: 0 shown - 1 with --confirm: something is confirmed to be slower - 2 shown, but something could not be read,
or, with --confirm, not be told; it is listed - 3 nothing to show, or bad input: one line says what)";

/// The index's default place, beside the runs: in the first folder that is given, or the folder of the first file.
std::filesystem::path index_path(const HistoryArguments& arguments) {
  if (arguments.no_index) return {};
  if (!arguments.index.empty()) return arguments.index;
  std::error_code ignored;
  for (const std::string& path : arguments.paths) {
    if (std::filesystem::is_directory(path, ignored)) return std::filesystem::path(path) / kIndexName;
  }
  return std::filesystem::absolute(arguments.paths.front()).parent_path() / kIndexName;
}

void add_history_options(CLI::App& history, HistoryArguments& a) {
  const auto list = [&history](const char* name, std::vector<std::string>& values, const char* help) {
    add_list(history, name, values, help)->group("Which cases");
  };
  history.add_option("FOLDER", a.paths, "folders with run.json files at any depth, or records of any name");
  list("--network", a.options.networks, "only these networks");
  list("--layer", a.options.layers, "only these layers: conv1, or lenet72.conv1");
  list("--variant", a.options.variants, "only these variants; the anchor need not be among them");
  list("--device", a.options.devices, "only these devices");
  list("--batch", a.batches, "only these batches");
  history
      .add_option("--anchor", a.options.anchor,
                  "the variant that all times are divided by (default: a library in all runs, otherwise "
                  "the lowest rung that is)")
      ->group("How");
  history.add_option("--alpha", a.options.alpha, "probability of any mark if nothing changed (default 0.05)")
      ->check(number_between(1e-6, 0.5))
      ->group("How");
  history.add_option("--tau", a.options.tau, "changes below this fraction are not marked (default 0.02)")
      ->check(number_between(0.0, 10.0))
      ->group("How");
  history
      .add_flag("--merge-hosts", a.options.merge_hosts, "treat runs of hosts with different names as the same machine")
      ->group("How");
  add_printed_options(history, a.printed, {"text", "markdown", "json"});
  history
      .add_option("--index", a.index,
                  "index of records already read (default: history-index.jsonl in the first folder)")
      ->group("Where");
  history.add_flag("--no-index", a.no_index, "reads every record again and writes no index")->group("Where");
  add_confirm_options(history, a.confirm);
  add_history_selftest_options(history, a.selftest);
}

int history_command(HistoryArguments& arguments, const CommandLine& /*command_line*/) {
  if (arguments.selftest.selftest) {
    if (!arguments.paths.empty()) throw UserError("--selftest: it measures histories of its own and reads no FOLDER");
    arguments.selftest.output = arguments.printed.file;
    return history_selftest(arguments.selftest);
  }
  if (arguments.paths.empty()) throw UserError("FOLDER is required (see 'convladder history --help')");
  check_confirm_arguments(arguments.confirm);
  const HistorySelftestArguments& selftest = arguments.selftest;
  if (selftest.full || !selftest.levels.empty() || selftest.runs > 0 || selftest.budget > 0 ||
      selftest.neighbour != HistorySelftestArguments().neighbour) {
    throw UserError("--full, --levels, --runs, --budget and --neighbour can be used only with --selftest");
  }
  check_printed(arguments.printed);
  HistoryOptions options = arguments.options;
  for (const std::string& batch : arguments.batches) {
    options.batches.push_back(parse_whole_number("--batch", batch, 1, kLargestBatch));
  }
  HistoryIndex index(index_path(arguments));
  HistoryRuns runs = read_history_runs(arguments.paths, index);
  if (!index.trouble().empty()) fmt::print(stderr, "convladder: {}\n", printable(index.trouble()));
  if (runs.runs.empty()) {
    if (runs.unreadable.empty()) {
      throw UserError(fmt::format("{}: no run.json below", printable(arguments.paths.front())));
    }
    for (const std::string& line : runs.unreadable) fmt::print(stderr, "convladder: {}\n", line);
    throw UserError("no run can be read, so there is no history");
  }
  const History history = make_history(std::move(runs), options);
  std::optional<ConfirmedAlarms> confirmed;
  if (arguments.confirm.confirm) confirmed = confirm_alarms(history, arguments.confirm);
  Report report = history_report(history);
  if (confirmed) add_alarms(report, history, *confirmed);
  print_as(arguments.printed, report, [&] { return history_json_text(history, confirmed); });
  if (confirmed && confirmed->exit_code() == kExitCasesFailed) return kExitCasesFailed;
  return history.from.unreadable.empty() && (!confirmed || confirmed->exit_code() == kExitOk) ? kExitOk
                                                                                              : kExitInconclusive;
}

const CommandRegistration history_registration(
    {.name = "history",
     .group = CommandGroup::judge,
     .help = "trends over many recorded runs, case by case",
     .footer = kHistoryFooter,
     .add = command_of<HistoryArguments, add_history_options, history_command>});

}  // namespace
}  // namespace convladder

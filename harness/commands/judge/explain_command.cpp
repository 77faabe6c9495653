// `convladder explain`: why a stage is faster, from a recorded run.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "harness/commands/case_filter.hpp"
#include "harness/commands/command.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/commands/printed.hpp"
#include "harness/judge/explain/explained_steps.hpp"
#include "harness/judge/explain/explanation.hpp"
#include "harness/judge/explain/explanation_json.hpp"
#include "harness/judge/explain/explanation_output.hpp"
#include "simulator/gpus/gpu_facts.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/nearest_name.hpp"
#include "support/printable.hpp"
#include "support/terminal.hpp"

namespace convladder {
namespace {

constexpr std::size_t kFewestColumns = 60;  // below it a sentence is hard to read

/// The command line, not checked yet.
struct ExplainArguments {
  std::string run;
  std::vector<std::string> gpus = {"h100"};
  std::vector<std::string> layers;
  std::string case_filter;
  bool numbers = false;
  bool all = false;
  Printed printed;
};

constexpr const char* kExplainFooter = R"(examples:
  convladder explain results/today/run.json                 the layer of which most is known, a sentence or two a stage
  convladder explain run.json --layer lenet72.conv1 --all   another layer, every stage
  convladder explain run.json --case '/10$' --numbers       every layer at batch 10, with the figures
  convladder explain run.json --gpu k80,h200 --numbers      for other GPUs: the sentences are about the first one
  convladder explain run.json --gpu all --numbers --format markdown > why.md

docs/use/prediction.md says where the sentences come from, how the ranges are computed and how wrong they are.
exit codes: 0 printed - 3 bad input: one line says what)";

std::vector<std::string> asked_gpus(const std::vector<std::string>& asked) {
  const std::vector<std::string> known = names_of(gpu_facts(), &GpuFacts::name);
  if (asked == std::vector<std::string>{"all"}) return known;
  require_known("--gpu", asked, known);
  return asked;
}

void add_explain_options(CLI::App& explain, ExplainArguments& a) {
  explain.add_option("RUN.json", a.run, "a run")->required();
  add_list(explain, "--layer", a.layers, "lenet72.conv1: these layers (default: the one of which most is known)");
  explain.add_option("--case", a.case_filter, kCaseHelp);
  explain.add_flag("--all", a.all, "every stage, not only those on the way to the best one; --case shows all too");
  explain.add_flag("--numbers", a.numbers, "also the figures: predicted times, occupancy, counters, published times");
  add_list(explain, "--gpu", a.gpus, "k80, v100, a100, h100 (default), h200, or all");
  add_printed_options(explain, a.printed, {"text", "markdown", "json"});
}

/// The width of the text: that of the terminal, within reason; in a file kTextColumns.
std::size_t columns_of(const Printed& printed) {
  if (!printed.file.empty()) return kTextColumns;
  return std::clamp(terminal_columns(STDOUT_FILENO, kTextColumns), kFewestColumns, kTextColumns);
}

/// Those of the groups whose places are in these ladders.
std::vector<ExplainedGroup> groups_of(std::vector<ExplainedGroup> groups, const std::vector<ExplainedLadder>& ladders) {
  std::erase_if(groups, [&](const ExplainedGroup& group) {
    return std::ranges::none_of(ladders, [&](const ExplainedLadder& one) {
      const RecordedCase& of = *one.ladder.of;
      return of.family == "cuda" && of.network == group.network && of.layer == group.layer && of.batch == group.batch;
    });
  });
  return groups;
}

int explain_command(ExplainArguments& arguments, const CommandLine& /*command_line*/) {
  check_printed(arguments.printed);
  const std::vector<std::string> gpus = asked_gpus(arguments.gpus);
  const bool has_default = std::ranges::find(gpus, kUsualGpu) != gpus.end();
  const ExplainedRun run = read_explained_run(arguments.run, has_default ? kUsualGpu : gpus.front());
  const std::string& format = arguments.printed.format;
  // JSON holds everything that matches: its reader chooses.
  const bool all = format == "json" && arguments.layers.empty() && arguments.case_filter.empty();
  std::vector<ExplainedLadder> ladders = run.chosen(arguments.layers, all ? "/" : arguments.case_filter);
  if (ladders.empty()) {
    throw UserError(fmt::format("{}: no stage {}was measured or counted", arguments.run,
                                arguments.case_filter.empty() ? "" : "that --case matches "));
  }
  std::vector<ExplainedGroup> groups;
  if (arguments.numbers || format == "json") {
    groups = groups_of(explain_run(run, arguments.case_filter), ladders);
  }
  if (format == "json") {
    print_as(arguments.printed, explanation_json_text(groups, gpus, ladders));
    return kExitOk;
  }
  if (!arguments.all && arguments.case_filter.empty()) keep_way_to_best(ladders);
  Report report = steps_report(ladders);
  if (!groups.empty()) add_explanation(report, groups, gpus);
  arguments.printed.columns = columns_of(arguments.printed);
  print_as(arguments.printed, report);
  return kExitOk;
}

const CommandRegistration explain_registration(
    {.name = "explain",
     .group = CommandGroup::judge,
     .help = "why is a stage faster or slower? what it relieved and what binds now, in words",
     .footer = kExplainFooter,
     .add = command_of<ExplainArguments, add_explain_options, explain_command>});

}  // namespace
}  // namespace convladder

// `convladder explain`: why a stage is faster, from a recorded run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "devices/gpus/gpu_facts.hpp"
#include "harness/commands/case_filter.hpp"
#include "harness/commands/command.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/commands/printed.hpp"
#include "harness/explain/explanation.hpp"
#include "harness/explain/explanation_output.hpp"
#include "harness/records/recorded_run.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/json_text.hpp"
#include "support/nearest_name.hpp"

namespace convladder {
namespace {

/// The command line, not checked yet.
struct ExplainArguments {
  std::string run;
  std::vector<std::string> gpus = {"h100"};
  std::string case_filter;
  Printed printed;
};

constexpr const char* kExplainFooter = R"(examples:
  convladder explain results/today/run.json                 every layer and batch, predicted for an H100
  convladder explain run.json --gpu k80,h200 --case 'lenet28.conv1/10000$'
  convladder explain run.json --gpu all --format markdown > why.md

docs/prediction.md says how the ranges are computed and how wrong they are.
exit codes: 0 printed - 3 bad input: one line says what)";

std::vector<std::string> asked_gpus(const std::vector<std::string>& asked) {
  const std::vector<std::string> known = names_of(gpu_facts(), &GpuFacts::name);
  if (asked == std::vector<std::string>{"all"}) return known;
  require_known("--gpu", asked, known);
  return asked;
}

void add_explain_options(CLI::App& explain, ExplainArguments& a) {
  explain.add_option("RUN.json", a.run, "a run with cases of the simulated device")->required();
  add_list(explain, "--gpu", a.gpus, "k80, v100, a100, h100 (default), h200, or all");
  explain.add_option("--case", a.case_filter, kCaseHelp);
  add_printed_options(explain, a.printed, {"text", "markdown", "json"});
}

std::string explanation_in(const std::string& format, const std::vector<ExplainedGroup>& groups,
                           const std::vector<std::string>& gpus) {
  if (format == "text") return explanation_text(groups, gpus);
  if (format == "markdown") return explanation_markdown(groups, gpus);
  return json_text(explanation_json(groups, gpus));
}

int explain_command(ExplainArguments& arguments, const CommandLine& /*command_line*/) {
  check_printed(arguments.printed);
  const std::vector<std::string> gpus = asked_gpus(arguments.gpus);
  const nlohmann::ordered_json record = read_record_json(arguments.run);
  const std::vector<ExplainedGroup> groups = explain_run(record, arguments.run, arguments.case_filter);
  if (groups.empty()) {
    throw UserError(
        fmt::format("{}: no case {}was counted by the simulated device; 'convladder run --device simulated' "
                    "counts",
                    arguments.run, arguments.case_filter.empty() ? "" : "that --case matches "));
  }
  print_as(arguments.printed, explanation_in(arguments.printed.format, groups, gpus));
  return kExitOk;
}

const CommandRegistration explain_registration(
    {.name = "explain",
     .group = CommandGroup::judge,
     .help = "why is a stage faster? predicted times on named GPUs",
     .footer = kExplainFooter,
     .add = command_of<ExplainArguments, add_explain_options, explain_command>});

}  // namespace
}  // namespace convladder

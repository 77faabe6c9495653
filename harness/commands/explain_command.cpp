#include "harness/commands/explain_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "devices/gpus/gpu_facts.hpp"
#include "harness/explain/explanation.hpp"
#include "harness/explain/explanation_output.hpp"
#include "harness/records/recorded_run.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/nearest_name.hpp"

namespace convladder {
namespace {

constexpr const char* kExplainFooter = R"(examples:
  convladder explain results/today/run.json                 every layer and batch, predicted for an H100
  convladder explain run.json --gpu k80,h200 --case 'lenet28.conv1/10000$'
  convladder explain run.json --gpu all --format markdown > why.md

docs/prediction.md says how the ranges are computed and how wrong they are.
exit codes: 0 printed - 3 bad input: one line says what)";

std::vector<std::string> asked_gpus(const std::vector<std::string>& asked) {
  std::vector<std::string> known;
  for (const GpuFacts& gpu : gpu_facts()) known.push_back(gpu.name);
  if (asked == std::vector<std::string>{"all"}) return known;
  for (const std::string& name : asked) {
    if (find_gpu(name) == nullptr) throw UserError(unknown_name_message("--gpu", name, known));
  }
  return asked;
}

}  // namespace

void add_explain_options(CLI::App& explain, ExplainArguments& a) {
  explain.footer(kExplainFooter);
  explain.add_option("RUN.json", a.run, "a run with cases of the simulated device")->required();
  explain.add_option("--gpu", a.gpus, "k80, v100, a100, h100 (default), h200, or all")
      ->delimiter(',')
      ->allow_extra_args(false);
  explain.add_option("--case", a.case_filter, "only cases whose id matches this regular expression");
  explain.add_option("--format", a.format, "text (default), markdown or json");
}

int explain_command(const ExplainArguments& arguments) {
  const std::vector<std::string> formats = {"text", "markdown", "json"};
  if (std::ranges::find(formats, arguments.format) == formats.end()) {
    throw UserError(unknown_name_message("--format", arguments.format, formats));
  }
  const std::vector<std::string> gpus = asked_gpus(arguments.gpus);
  const nlohmann::ordered_json record = read_record_json(arguments.run);
  const std::vector<ExplainedGroup> groups = explain_run(record, arguments.run, arguments.case_filter);
  if (groups.empty()) {
    throw UserError(
        fmt::format("{}: no case {}was counted by the simulated device; 'convladder run --device simulated' "
                    "counts",
                    arguments.run, arguments.case_filter.empty() ? "" : "that --case matches "));
  }
  if (arguments.format == "json") {
    fmt::print("{}\n",
               explanation_json(groups, gpus).dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else {
    fmt::print("{}", arguments.format == "text" ? explanation_text(groups, gpus) : explanation_markdown(groups, gpus));
  }
  return kExitOk;
}

}  // namespace convladder

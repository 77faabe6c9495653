// `convladder export`: a record in the formats of services that track figures over commits, and of continuous
// integration.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "harness/commands/command.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/commands/printed.hpp"
#include "harness/judge/compare/comparison.hpp"
#include "harness/judge/exchange/export_format.hpp"
#include "harness/judge/exchange/exported.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "support/printable.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

/// The command line, not checked yet.
struct ExportArguments {
  std::string record;
  std::string to;
  std::string base;
  std::string output;
  std::vector<std::string> controls;
  ExportOptions options;
};

constexpr const char* kExportFooter = R"(examples:
  convladder export run.json --to bencher --output bmf.json && bencher run --adapter json --file bmf.json
  convladder export run.json --to github-action-benchmark --output output.json
  convladder export new/run.json --base old/run.json --to bencher      with what 'convladder compare' says of each case
  convladder export run.json --to conbench --repository https://github.com/OWNER/NAME
  convladder export run.json --to csv > samples.csv                    a row for each figure and each sample
  convladder export duel.json --to junit --output duel.xml             for GitLab, Jenkins, ...: a test for each case
  convladder export check.json --to sarif --output check.sarif         for GitHub: findings at the lines of their sources

docs/use/exchange.md says what becomes of which figure in which format.
exit codes: 0 written - 2 written, but a case that failed has no place in this format: it is named - 3 nothing to
export, or bad input: one line says what)";

void add_export_options(CLI::App& command, ExportArguments& a) {
  command
      .add_option("RECORD.json", a.record,
                  "a run, network, rank, sweep, comparison or duel, or what check and simulate write as JSON")
      ->required();
  const std::vector<std::string> formats = names_of(export_formats(), &ExportFormat::name);
  command.add_option("--to", a.to, fmt::format("the format: {}", fmt::join(formats, ", ")))->required();
  command.add_option("--base", a.base, "a run to compare this one with: verdicts are exported too");
  add_list(command, "--control", a.controls, "with --base: variants that are the same in both builds");
  command.add_option("--repository", a.options.repository, "conbench: https://github.com/OWNER/NAME");
  command.add_option("--sources", a.options.sources,
                     "sarif: the folder that paths of sources begin at (default: the current one)");
  command.add_option("--at", a.options.at,
                     "sarif: the file to show cases at that have no source, such as a list of them");
  command.add_option("--output", a.output, "file to write it to (default: the standard output)");
}

void add_verdicts_of(ExportedRecord& record, const ExportArguments& arguments) {
  if (!record.run) {
    throw UserError(
        fmt::format("--base: only runs can be compared, {} is a {}", arguments.record, record.context.kind));
  }
  const RecordedRun base = read_recorded_run(arguments.base);
  const Comparison comparison =
      compare_runs(base, *record.run, {.limits = {}, .case_filter = {}, .controls = arguments.controls});
  add_verdicts(record, comparison);
  const int missing = comparison.count(CaseVerdict::missing);
  if (missing > 0) {
    fmt::print(stderr, "convladder: {} of the base not ok here: no format has a place for a case that is missing\n",
               missing == 1 ? "1 case is" : fmt::format("{} cases are", missing));
  }
}

int export_command(ExportArguments& arguments, const CommandLine& /*command_line*/) {
  const ExportFormat& format = find_known("format", arguments.to, export_formats(), &ExportFormat::name, "--to: ");
  check_output_file("--output", arguments.output);
  ExportedRecord record = read_exported_record(arguments.record);
  if (!arguments.base.empty()) add_verdicts_of(record, arguments);
  const ExportedText exported = format.write(record, arguments.options);
  for (const std::string& line : left_out_lines(exported.left_out)) fmt::print(stderr, "convladder: {}\n", line);
  if (exported.written == 0) {
    throw UserError(fmt::format("{}: nothing in it that {} could show", printable(arguments.record), format.name));
  }
  print_as({.format = {}, .file = arguments.output}, exported.text);
  return std::ranges::any_of(exported.left_out, &LeftOut::failed) ? kExitInconclusive : kExitOk;
}

const CommandRegistration export_registration(
    {.name = "export",
     .group = CommandGroup::judge,
     .help = "a record in the formats of others: JUnit, SARIF, CSV, Bencher, LNT, Conbench, ...",
     .footer = kExportFooter,
     .add = command_of<ExportArguments, add_export_options, export_command>});

}  // namespace
}  // namespace convladder

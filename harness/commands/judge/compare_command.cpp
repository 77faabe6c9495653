// `convladder compare`: compares two recorded runs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "harness/commands/case_filter.hpp"
#include "harness/commands/command.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/commands/printed.hpp"
#include "harness/judge/compare/comparison.hpp"
#include "harness/judge/compare/comparison_output.hpp"
#include "harness/measure/records/recorded_run.hpp"
#include "harness/measure/statistics/change_verdict.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

/// The command line, not checked yet.
struct CompareArguments {
  std::string base;
  std::string now;
  VerdictLimits limits;
  std::string case_filter;
  std::vector<std::string> controls;
  Printed printed;
};

constexpr const char* kCompareFooter = R"(examples:
  convladder compare results/monday/run.json results/today/run.json
  convladder compare base.json new.json --case '^cpu/.*/lenet72' --tau 0.03
  convladder compare base.json new.json --control memory-accumulation     a variant that nobody changed
  convladder compare base.json new.json --format markdown > comparison.md

docs/use/compare.md says what a verdict means and what two records cannot show.
exit codes: 0 pass - 1 a case regressed or failed - 2 inconclusive - 3 bad input: one line says what - 4 a case is
missing or cannot be compared)";

void add_compare_options(CLI::App& compare, CompareArguments& a) {
  compare.add_option("BASE.json", a.base, "the run to compare with")->required();
  compare.add_option("NEW.json", a.now, "the run to judge")->required();
  compare.add_option("--tau", a.limits.tau, "a regression is shown to be above this fraction (default 0.02)")
      ->check(number_between(0.0, 10.0));
  compare.add_option("--delta", a.limits.delta, "a pass is shown to be below this fraction (default 0.05)")
      ->check(number_between(0.0, 10.0));
  compare.add_option("--alpha", a.limits.alpha, "how often a bound may be wrong (default 0.01)")
      ->check(number_between(1e-6, 0.5));
  compare.add_option("--case", a.case_filter, kCaseHelp);
  add_list(compare, "--control", a.controls, "variants that are the same in both builds, in addition to the libraries");
  add_printed_options(compare, a.printed, {"text", "markdown", "json"});
  add_verbose(compare, a.printed.verbose);
}

int compare_command(CompareArguments& arguments, const CommandLine& /*command_line*/) {
  check_printed(arguments.printed);
  if (arguments.limits.delta < arguments.limits.tau) {
    throw UserError(
        fmt::format("--delta {:g}: expected at least --tau, {:g}: otherwise a case that passes could be a regression",
                    arguments.limits.delta, arguments.limits.tau));
  }
  const RecordedRun base = read_recorded_run(arguments.base);
  const RecordedRun now = read_recorded_run(arguments.now);
  const Comparison comparison = compare_runs(
      base, now, {.limits = arguments.limits, .case_filter = arguments.case_filter, .controls = arguments.controls});
  if (comparison.cases.empty() && !arguments.case_filter.empty()) {
    throw UserError(fmt::format("no case remains: --case '{}' matches none", arguments.case_filter));
  }
  print_as(arguments.printed, comparison_report(comparison), [&] { return comparison_json_text(comparison); });
  return comparison.exit_code();
}

const CommandRegistration compare_registration(
    {.name = "compare",
     .group = CommandGroup::judge,
     .help = "did it get slower? two recorded runs, case by case",
     .footer = kCompareFooter,
     .add = command_of<CompareArguments, add_compare_options, compare_command>});

}  // namespace
}  // namespace convladder

#include "harness/commands/compare_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/plan/option_checks.hpp"
#include "harness/records/recorded_run.hpp"
#include "harness/regression/compare/comparison.hpp"
#include "harness/regression/compare/comparison_output.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"

namespace convladder {
namespace {

constexpr const char* kCompareFooter = R"(examples:
  convladder compare results/monday/run.json results/today/run.json
  convladder compare base.json new.json --case '^cpu/.*/lenet72' --tau 0.03
  convladder compare base.json new.json --control memory-accumulation     a variant that nobody changed
  convladder compare base.json new.json --format markdown > comparison.md

docs/compare.md says what a verdict means and what two records cannot show.
exit codes: 0 pass - 1 a case regressed - 2 inconclusive - 3 a case is missing, failed or cannot be compared, or
bad input: one line says what)";

}  // namespace

void add_compare_options(CLI::App& compare, CompareArguments& a) {
  compare.footer(kCompareFooter);
  compare.add_option("BASE.json", a.base, "the run to compare with")->required();
  compare.add_option("NEW.json", a.now, "the run to judge")->required();
  compare.add_option("--tau", a.limits.tau, "a regression is proved to be above this fraction (default 0.02)")
      ->check(number_between(0.0, 10.0));
  compare.add_option("--delta", a.limits.delta, "a pass is proved to be below this fraction (default 0.05)")
      ->check(number_between(0.0, 10.0));
  compare.add_option("--alpha", a.limits.alpha, "how often a bound may be wrong (default 0.01)")
      ->check(number_between(1e-6, 0.5));
  compare.add_option("--case", a.case_filter, "only cases whose id matches this regular expression");
  compare
      .add_option("--control", a.controls, "variants that are the same in both builds, in addition to the libraries")
      ->delimiter(',')
      ->allow_extra_args(false);
  compare.add_option("--format", a.format, "text (default), markdown or json");
}

int compare_command(const CompareArguments& arguments) {
  const std::vector<std::string> formats = {"text", "markdown", "json"};
  if (std::ranges::find(formats, arguments.format) == formats.end()) {
    throw UserError(unknown_name_message("--format", arguments.format, formats));
  }
  if (arguments.limits.delta < arguments.limits.tau) {
    throw UserError(
        fmt::format("--delta {:g}: expected at least --tau, {:g}: otherwise a case that passes could be a regression",
                    arguments.limits.delta, arguments.limits.tau));
  }
  const RecordedRun base = read_recorded_run(arguments.base);
  const RecordedRun now = read_recorded_run(arguments.now);
  const Comparison comparison = compare_runs(
      base, now, {.limits = arguments.limits, .case_filter = arguments.case_filter, .controls = arguments.controls});
  if (arguments.format == "json") {
    // A file's name need not be UTF-8.
    fmt::print("{}\n",
               comparison_json(comparison).dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else {
    fmt::print("{}", arguments.format == "text" ? comparison_text(comparison) : comparison_markdown(comparison));
  }
  return comparison.exit_code();
}

}  // namespace convladder

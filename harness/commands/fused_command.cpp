// `convladder fused`: fused variants beside the sum of the separate operators.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "harness/commands/case_filter.hpp"
#include "harness/commands/command.hpp"
#include "harness/fused/fused_plan.hpp"
#include "harness/fused/fused_record.hpp"
#include "harness/fused/fused_session.hpp"
#include "harness/fused/fused_tables.hpp"
#include "harness/plan/not_run.hpp"
#include "harness/plan/option_checks.hpp"
#include "harness/plan/run_material.hpp"
#include "harness/plan/step_timeout.hpp"
#include "harness/records/case_json.hpp"
#include "harness/records/record.hpp"
#include "support/errors.hpp"
#include "support/interruption.hpp"
#include "support/progress.hpp"
#include "support/whole_number.hpp"

namespace convladder {
namespace {

/// The command line, not checked yet.
struct FusedArguments {
  FusedOptions options;
  std::vector<std::string> batches;
  std::string output;
  int repetitions = 0;
  double timeout = 0;
  std::string case_filter;
  bool dry_run = false;
  bool quiet = false;
};

constexpr const char* kFusedFooter = R"(examples:
  convladder fused                                       lenet28 and lenet72 on the CPU, batch 100
  convladder fused --network lenet86 --batch 10,100      a row for each layer and batch
  convladder fused --device simulated                    instructions and DRAM bytes without a GPU
  convladder network --network lenet72 --variant register-tile,fused-register-tile
                                                         the same in whole networks

A fused variant applies activation and max pooling when it stores the convolution's results. Both sides
are verified against float64 and measured in turns, on the same input. docs/fused.md says more.
exit codes: 0 every case that ran is verified - 1 a case was incorrect, crashed, timed out or could not be
launched (the other results are kept) - 3 bad input, or nothing could be written - 130 interrupted)";

FusedOptions fused_options_of(const FusedArguments& arguments) {
  FusedOptions options = arguments.options;
  for (const std::string& batch : arguments.batches) {
    options.batches.push_back(parse_whole_number("--batch", batch, 1, kLargestBatch));
  }
  if (arguments.repetitions > 0) options.repetitions = arguments.repetitions;
  return options;
}

FusedResult run_planned(const FusedCase& planned, const FusedArguments& arguments, const FusedOptions& options,
                        const Workload* workload) {
  FusedResult result{planned, {}};
  if (!planned.runs()) {
    const NotRun not_run = why_not_run(planned);
    result.outcome.status = not_run.status;
    result.outcome.reason = not_run.reason;
    return result;
  }
  const auto asked = arguments.timeout > 0 ? std::optional(arguments.timeout) : std::nullopt;
  const double seconds = step_timeout_seconds(asked, planned.shape.convolution.flop(), planned.has_clock);
  const OpenCase open = start_fused_process(planned, *workload, seconds);
  result.outcome = run_fused_case(planned, options, *workload, open);
  return result;
}

/// A table for each device and fused variant, in the order of the plan.
void print_fused_tables(const std::vector<FusedResult>& results) {
  std::vector<std::vector<FusedResult>> groups;
  for (const FusedResult& result : results) {
    const auto belongs = [&](const std::vector<FusedResult>& group) {
      const FusedCase& first = group.front().planned;
      return first.device == result.planned.device && first.fused.variant == result.planned.fused.variant;
    };
    auto at = std::ranges::find_if(groups, belongs);
    if (at == groups.end()) at = groups.insert(groups.end(), std::vector<FusedResult>());
    at->push_back(result);
  }
  for (const std::vector<FusedResult>& group : groups) fmt::print("{}", fused_table(group));
}

void add_fused_options(CLI::App& fused, FusedArguments& a) {
  const auto list = [&fused](const char* name, std::vector<std::string>& values, const char* help) {
    fused.add_option(name, values, help)->delimiter(',')->allow_extra_args(false)->group("Which cases");
  };
  list("--network", a.options.networks, "lenet28, alexnet, ..., or a network file (default lenet28, lenet72)");
  list("--layer", a.options.layers,
       "conv1, or lenet86.conv2 (default: all layers followed by an activation and a pooling)");
  list("--variant", a.options.variants, "fused variants, see 'convladder list' (default all)");
  list("--device", a.options.devices, "cpu, cuda, simulated; default: cpu, and cuda if there is a GPU");
  list("--batch", a.batches, "images per call (default 100; 8 on the simulated device)");
  fused.add_option("--case", a.case_filter, kCaseHelp)->group("Which cases");
  fused.add_option("--data", a.options.data_folder, "folder of IDX files (default: the built-in synthetic images)")
      ->group("Which cases");
  fused.add_option("--seed", a.options.seed, "seed of synthetic images, random weights and the order (default 1)")
      ->check(seed_error)
      ->group("Which cases");
  fused.add_option("--budget", a.options.budget_seconds, "seconds of rounds for each case (default 2), at least three")
      ->check(number_between(0.0, 1e6))
      ->group("How");
  fused.add_option("--repetitions", a.repetitions, "exactly this many rounds of each case")
      ->check(CLI::Range(1, 100000))
      ->group("How");
  fused.add_option("--sample", a.options.sample_milliseconds, "milliseconds of calls in a sample (default 5)")
      ->check(number_between(0.001, 1e6))
      ->group("How");
  fused.add_option("--timeout", a.timeout, "seconds for a step of a case (default 60, and 5 for each GFLOP)")
      ->check(number_between(0.1, 1e6))
      ->group("How");
  fused.add_option("--output", a.output, "folder for fused.json (default results/<host>-<time>)")->group("Where");
  fused.add_flag("--dry-run", a.dry_run, "only list the cases")->group("Where");
  fused.add_flag("--quiet", a.quiet, "no line for each case")->group("Where");
}

int fused_command(FusedArguments& arguments, const CommandLine& command_line) {
  const FusedOptions options = fused_options_of(arguments);
  std::vector<FusedCase> plan = make_fused_plan(options);
  if (!arguments.case_filter.empty()) keep_cases(plan, arguments.case_filter);
  if (arguments.dry_run) {
    print_planned(plan, "");
    return kExitOk;
  }
  int most = 0;
  for (const FusedCase& planned : plan) most = std::max(most, planned.shape.convolution.batch);
  const ImageSet images = load_images(options.data_folder, options.seed, most);
  const std::filesystem::path folder =
      arguments.output.empty() ? make_default_folder() : std::filesystem::path(arguments.output);
  std::vector<std::string> ids;
  for (const FusedCase& planned : plan) ids.push_back(planned.id);
  Record record = Record::create(folder, kFusedKind,
                                 {.command_line = command_line,
                                  .options = fused_options_json(options),
                                  .seed = options.seed,
                                  .dataset = dataset_json(images),
                                  .planned = ids,
                                  .fields = {{"variants", fused_variants_json(plan)}}});
  advise_on_interrupt(fmt::format("what was finished is in {}", record.file().string()));
  std::vector<FusedResult> results;
  {
    Progress progress(arguments.quiet ? nullptr : stdout, static_cast<int>(plan.size()));
    for (const FusedCase& planned : plan) {
      progress.show(planned.id);
      std::unique_ptr<Workload> workload;
      if (planned.runs()) workload = std::make_unique<Workload>(planned.work, images, options.seed);
      results.push_back(run_planned(planned, arguments, options, workload.get()));
      record.add(fused_case_json(results.back(), workload == nullptr ? "" : workload->input_kind()));
      progress.finished(fused_result_line(results.back()));
    }
  }
  record.complete();
  print_fused_tables(results);
  fmt::print("\n{}\n", record.file().string());
  return record.any_failed() ? kExitCasesFailed : kExitOk;
}

const CommandRegistration fused_registration({.name = "fused",
                                              .group = CommandGroup::measure,
                                              .help = "convolution with activation and pooling, fused or separate",
                                              .footer = kFusedFooter,
                                              .add = command_of<FusedArguments, add_fused_options, fused_command>,
                                              .needs_proc = true});

}  // namespace
}  // namespace convladder

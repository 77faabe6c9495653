// `convladder sweep`: tries what a variant could take for a layer, puts it in order, and writes the tuning tables.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "devices/gpus/gpu_facts.hpp"
#include "harness/cases/google_engine.hpp"
#include "harness/cases/run_group.hpp"
#include "harness/commands/case_filter.hpp"
#include "harness/commands/case_selection.hpp"
#include "harness/commands/command.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/plan/estimate.hpp"
#include "harness/plan/not_run.hpp"
#include "harness/plan/options.hpp"
#include "harness/plan/run_material.hpp"
#include "harness/records/case_json.hpp"
#include "harness/records/record.hpp"
#include "harness/sweep/sweep.hpp"
#include "harness/sweep/sweep_output.hpp"
#include "harness/sweep/sweep_record.hpp"
#include "harness/sweep/tuning_update.hpp"
#include "support/errors.hpp"
#include "support/interruption.hpp"
#include "support/nearest_name.hpp"
#include "support/progress.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

/// The command line, not checked yet.
struct SweepArguments {
  RunOptions options;
  CaseSelection selection;
  std::string configuration;  ///< only configurations that agree with it; empty: all
  int limit = 24;             ///< configurations of a variant on a layer
  std::string gpu;            ///< for which a device without a clock predicts; empty: it counts
  int repetitions = 0;
  double timeout = 0;
  std::string output;
  bool update_table = false;
  std::string tables = "variants/tuning";
  bool dry_run = false;
  bool quiet = false;
};

constexpr const char* kSweepFooter = R"(examples:
  convladder sweep --variant register-tile --device simulated --layer lenet72.conv2 --batch 8      by counters
  convladder sweep --variant many-images --device simulated --batch 1000 --gpu h100    by times predicted for a GPU
  convladder sweep --variant implicit-gemm --device cpu --layer lenet72.conv2 --batch 100       by measured times
  convladder sweep --variant many-images --device cuda --batch 1000 --update-table     and use the result from now on
  convladder sweep --variant register-tile --device simulated --configuration maps=8,pixels=9 --limit 100

docs/sweep.md says what can be chosen, what the score is, and how the tables are used.
exit codes: 0 every configuration that was tried is verified - 1 one was incorrect, crashed, timed out or could not
be launched (the other results are kept) - 3 bad input, or nothing could be written - 130 interrupted)";

/// Layers of many kinds: whether a variant has anything to choose cannot depend on the layer alone.
std::vector<std::string> variants_with_a_choice() {
  std::vector<std::string> names;
  for (const RegisteredVariant& registered : registered_variants()) {
    const ConvShape shape{8, 4, 28, 28, 16, 5};
    if (!registered.variant->unsupported_reason(shape).empty()) continue;
    if (registered.variant->configurations(shape, {}, 1).candidates.empty()) continue;
    names.push_back(fmt::format("{} ({})", registered.info.name, registered.info.family));
  }
  return names;
}

void check_sweep_arguments(const SweepArguments& a) {
  if (a.options.variants.empty()) {
    throw UserError(fmt::format("--variant is missing; these variants can be swept: {}",
                                fmt::join(variants_with_a_choice(), ", ")));
  }
  std::vector<std::string> gpus;
  for (const GpuFacts& gpu : gpu_facts()) gpus.push_back(gpu.name);
  if (!a.gpu.empty() && find_gpu(a.gpu) == nullptr) throw UserError(unknown_name_message("--gpu", a.gpu, gpus));
  std::error_code error;
  if (a.update_table && !std::filesystem::is_directory(a.tables, error)) {
    throw UserError(
        fmt::format("--tables {}: no such folder; the tables of the source tree are in variants/tuning", a.tables));
  }
}

Configuration wanted_configuration(const std::string& text) {
  if (text.empty()) return {};
  try {
    return Configuration::parse(text);
  } catch (const std::invalid_argument& error) {
    throw UserError(fmt::format("--configuration {}: {}", text, error.what()));
  }
}

/// The sweeps of each group of the plan, and what is left out, a line for each.
struct SweepPlan {
  std::vector<std::pair<const CaseGroup*, std::size_t>> groups;  ///< with the index behind its last sweep
  std::vector<Sweep> sweeps;
  std::vector<std::string> left_out;
};

SweepPlan plan_sweeps(const std::vector<CaseGroup>& plan, const SweepArguments& a) {
  SweepPlan sweeps;
  const Configuration wanted = wanted_configuration(a.configuration);
  for (const CaseGroup& group : plan) {
    for (const PlannedCase& planned : group.cases) {
      if (!planned.runs()) {
        sweeps.left_out.push_back(fmt::format("{}: {}", planned.id, why_not_run(planned).reason));
      } else if (auto sweep = plan_sweep(planned, wanted, a.limit, a.gpu)) {
        sweeps.sweeps.push_back(std::move(*sweep));
      } else {
        sweeps.left_out.push_back(fmt::format("{}: nothing to choose", planned.id));
      }
    }
    sweeps.groups.emplace_back(&group, sweeps.sweeps.size());
  }
  if (!sweeps.sweeps.empty()) return sweeps;
  const std::string reason = sweeps.left_out.empty() ? "no case remains" : sweeps.left_out.front();
  throw UserError(fmt::format("there is nothing to sweep: {}; these variants can be swept: {}", reason,
                              fmt::join(variants_with_a_choice(), ", ")));
}

std::string swept_line(const Sweep& sweep, const SweptConfiguration& one) {
  const std::string score = score_text(sweep, one);
  if (one.score) return fmt::format("{:<26} {}", score, one.configuration.text());
  std::string lines = indented(fmt::format("{}: {}", one.configuration.text(), score), 0);
  lines.pop_back();  // the end of the last line
  return lines;
}

class SweepLoop {
 public:
  SweepLoop(const SweepArguments& a, const ImageSet& images, SweepPlan& plan, Record& record)
      : arguments_(a),
        images_(images),
        plan_(plan),
        record_(record),
        progress_(a.quiet ? nullptr : stdout, count_configurations()),
        estimator_(a.options),
        ceilings_(a.options, groups_of_devices(plan), nlohmann::ordered_json::array()) {}

  void run() {
    std::size_t first = 0;
    for (const auto& [group, end] : plan_.groups) {
      if (first < end) run_sweeps_of(*group, first, end);
      first = end;
    }
    record_.complete({{"sweeps", sweeps_json(plan_.sweeps)}});
  }

 private:
  static std::map<std::string, int> groups_of_devices(const SweepPlan& plan) {
    std::map<std::string, int> groups;
    for (const auto& [group, end] : plan.groups) ++groups[group->device];
    return groups;
  }

  int count_configurations() const {
    std::size_t count = 0;
    for (const Sweep& sweep : plan_.sweeps) count += sweep.results.size();
    return static_cast<int>(count);
  }

  double seconds_left() const {
    double seconds = 0;
    for (const Sweep& sweep : plan_.sweeps) {
      const auto left = std::ranges::count_if(sweep.results, [](const auto& one) { return !one.status; });
      seconds += static_cast<double>(left) * estimator_.case_seconds(sweep.planned);
    }
    return seconds;
  }

  void run_sweeps_of(const CaseGroup& group, std::size_t first, std::size_t end) {
    std::vector<ConfiguredCases> configured;
    int images = group.work.shape.batch;
    if (!group.has_clock) images = 1;
    for (std::size_t i = first; i < end; ++i) {
      configured.push_back(configured_cases(plan_.sweeps[i]));
      if (!group.has_clock) images = std::max(images, counted_images(configured.back().cases));
    }
    progress_.show(fmt::format("{} batch {}: inputs and reference", group.work.name(), group.work.shape.batch),
                   seconds_left());
    const Workload workload(group.work, images_, arguments_.options.seed, images);
    for (std::size_t i = first; i < end; ++i) run_one(plan_.sweeps[i], configured[i - first], workload);
  }

  void run_one(Sweep& sweep, const ConfiguredCases& configured, const Workload& workload) {
    run_group(
        configured.cases, workload, arguments_.options,
        [&](const PlannedCase& planned, const CaseOutcome& outcome) { finished(sweep, planned, outcome); },
        [&](const PlannedCase& planned, const char* phase) {
          progress_.show(fmt::format("{} {}", phase, planned.id), seconds_left());
        },
        [] {},
        [&](const PlannedCase& planned, const CaseOutcome& outcome) {
          ceilings_.before_group(planned.device);
          return refused_times(judge_, planned, outcome);
        });
    if (!arguments_.quiet) fmt::print("\n");
    fmt::print("{}\n", sweep_text(sweep));
    std::fflush(stdout);
  }

  void finished(Sweep& sweep, const PlannedCase& planned, const CaseOutcome& outcome) {
    const auto one = std::ranges::find(sweep.results, Configuration::parse(planned.configuration),
                                       &SweptConfiguration::configuration);
    one->status = outcome.status;
    one->reason = outcome.reason;
    one->recorded = case_json(planned, outcome, 0);
    one->score = score_of(sweep.kind, sweep.gpu, outcome, one->recorded);
    if (!one->score && outcome.status == Status::ok) one->reason = fmt::format("cannot be launched on {}", sweep.gpu);
    if (one->score && sweep.kind == ScoreKind::measured) estimator_.learn(sweep.planned, one->score->value * 1e-9);
    progress_.finished(swept_line(sweep, *one));
    record_.add(configuration_json(sweep, *one), {{"sweeps", nlohmann::ordered_json::array()}});
  }

  const SweepArguments& arguments_;
  const ImageSet& images_;
  SweepPlan& plan_;
  Record& record_;
  Progress progress_;
  Estimator estimator_;
  CeilingSampler ceilings_;
  TimeJudge judge_{ceilings_};
};

/// As run_command's: the largest batch of the plan.
int most_images(const std::vector<CaseGroup>& plan) {
  int largest = 1;
  for (const CaseGroup& group : plan) largest = std::max(largest, group.work.shape.batch);
  return largest;
}

void add_sweep_options(CLI::App& sweep, SweepArguments& a) {
  add_case_selection(sweep, a.options, a.selection, "100");
  sweep.add_option("--case", a.options.case_filter, kCaseHelp)->group("Which cases");
  sweep.add_option("--configuration", a.configuration, "only configurations with these values: maps=8,pixels=9")
      ->group("What is tried");
  sweep.add_option("--limit", a.limit, "configurations of a variant on a layer (default 24)")
      ->check(CLI::Range(1, 10000))
      ->group("What is tried");
  sweep.add_option("--gpu", a.gpu, "on the simulated device: order by the time predicted for k80, ..., h200")
      ->group("How");
  sweep.add_option("--budget", a.options.budget_seconds, "seconds of measuring for each configuration (default 1)")
      ->check(number_between(0.0, 1e6))
      ->group("How");
  sweep.add_option("--repetitions", a.repetitions, "exactly this many samples of each configuration")
      ->check(CLI::Range(1, 100000))
      ->group("How");
  sweep.add_option("--timeout", a.timeout, "seconds for each step of a case (default 60, and 5 for each GFLOP)")
      ->check(number_between(0.1, 1e6))
      ->group("How");
  sweep.add_option("--output", a.output, "folder for sweep.json (default results/<host>-<time>)")->group("Where");
  sweep
      .add_flag("--update-table", a.update_table,
                "write the best configurations into the tuning tables; the next build uses them")
      ->group("Where");
  sweep.add_option("--tables", a.tables, "folder of the tuning tables (default variants/tuning)")->group("Where");
  sweep.add_flag("--dry-run", a.dry_run, "only list the configurations of each case")->group("Where");
  sweep.add_flag("--quiet", a.quiet, "no line for each configuration")->group("Where");
}

/// What would be tried; nothing is.
int sweep_dry_run(const SweepPlan& plan) {
  std::size_t all = 0;
  for (const Sweep& sweep : plan.sweeps) {
    all += sweep.results.size();
    for (const SweptConfiguration& one : sweep.results) {
      fmt::print("{}: {}\n", sweep.planned.id, one.configuration.text());
    }
  }
  for (const std::string& line : plan.left_out) fmt::print("{}", indented(fmt::format("left out: {}", line), 0));
  fmt::print("{} configuration{} to be tried\n", all, all == 1 ? "" : "s");
  return kExitOk;
}

int sweep_command(SweepArguments& a, const CommandLine& command_line) {
  constexpr int kDefaultSweepBatch = 100;
  static_cast<void>(case_pattern(a.options.case_filter));
  apply_case_selection(a.selection, a.options);
  if (a.options.batches.empty()) a.options.batches = {kDefaultSweepBatch};
  if (a.repetitions > 0) a.options.repetitions = a.repetitions;
  if (a.timeout > 0) a.options.timeout_seconds = a.timeout;
  check_sweep_arguments(a);
  initialize_google_benchmark({});
  const std::vector<CaseGroup> plan = make_plan(a.options);
  SweepPlan sweeps = plan_sweeps(plan, a);
  if (a.dry_run) return sweep_dry_run(sweeps);
  if (a.update_table) check_tuning_tables(a.tables, sweeps.sweeps);
  const ImageSet images = load_images(a.options.data_folder, a.options.seed, most_images(plan));
  Record record = Record::create(a.output.empty() ? make_default_folder() : std::filesystem::path(a.output), kSweepKind,
                                 {command_line, options_to_json(a.options), a.options.seed, dataset_json(images)},
                                 planned_ids(sweeps.sweeps), nlohmann::ordered_json::object(),
                                 {{"sweeps", nlohmann::ordered_json::array()}});
  advise_on_interrupt(fmt::format("what was finished is in {}", record.file().string()));
  for (const std::string& line : sweeps.left_out) fmt::print("{}", indented(fmt::format("left out: {}", line), 0));
  SweepLoop(a, images, sweeps, record).run();
  if (a.update_table) {
    for (const std::string& file : update_tuning_tables(a.tables, sweeps.sweeps, a.options.seed)) {
      fmt::print("{}: written; the next build uses it\n", file);
    }
  }
  fmt::print("{}\n", record.file().string());
  return record.any_failed() ? kExitCasesFailed : kExitOk;
}

const CommandRegistration sweep_registration({.name = "sweep",
                                              .group = CommandGroup::measure,
                                              .help = "which tile sizes are best for which layer: tuning tables",
                                              .footer = kSweepFooter,
                                              .add = command_of<SweepArguments, add_sweep_options, sweep_command>,
                                              .needs_proc = true});

}  // namespace
}  // namespace convladder

// `convladder sweep`: tries a variant's possible configurations for a layer, ranks them, and writes the tuning tables.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/commands/case_filter.hpp"
#include "harness/commands/case_selection.hpp"
#include "harness/commands/command.hpp"
#include "harness/commands/measuring_options.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/commands/printed.hpp"
#include "harness/commands/recorded_command.hpp"
#include "harness/measure/cases/case_loop.hpp"
#include "harness/measure/cases/cases_at_a_time.hpp"
#include "harness/measure/cases/google_engine.hpp"
#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/plan/estimate.hpp"
#include "harness/measure/plan/options.hpp"
#include "harness/measure/plan/options_json.hpp"
#include "harness/measure/plan/plan.hpp"
#include "harness/measure/plan/run_material.hpp"
#include "harness/measure/sweep/sweep.hpp"
#include "harness/measure/sweep/sweep_output.hpp"
#include "harness/measure/sweep/sweep_record.hpp"
#include "harness/measure/sweep/tuning_update.hpp"
#include "simulator/gpus/gpu_facts.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "support/printable.hpp"
#include "support/reasons.hpp"
#include "support/text_table.hpp"
#include "support/units.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

/// The command line, not checked yet.
struct SweepArguments {
  SweepOptions options;
  CaseSelection selection;
  RecordArguments record;
};

constexpr const char* kSweepFooter = R"(examples:
  convladder sweep --variant register-tile --device simulated --layer lenet72.conv2 --batch 8      by counters
  convladder sweep --variant many-images --device simulated --batch 1000 --gpu h100    by times predicted for a GPU
  convladder sweep --variant implicit-gemm --device cpu --layer lenet72.conv2 --batch 100       by measured times
  convladder sweep --variant many-images --device cuda --batch 1000 --update-table     and use the result from now on
  convladder sweep --variant register-tile --device simulated --configuration maps=8,pixels=9 --limit 100
  convladder sweep my-ladder                           every @parameter of a folder's stages
  convladder sweep --resume results/tonight            continues an interrupted sweep

docs/use/sweep.md says what can be chosen, what the score is, and how the tables are used.
exit codes: 0 every configuration that was tried is verified - 1 one was incorrect, crashed, timed out or could not
be launched (the other results are kept) - 3 bad input, or nothing could be written - 130 interrupted)";

/// The variants with something to choose, judged on layers of many kinds, since that cannot depend on one layer alone.
std::vector<std::string> variants_with_a_choice() {
  std::vector<std::string> names;
  for (const ProblemVariant& registered : convolution_problem().variants()) {
    const ProblemSize shape = parse_size(*registered.problem, "C4H28W28M16K5").with_batch(8);
    if (!registered.variant->unsupported_reason(shape).empty()) continue;
    if (registered.variant->configurations(shape, {}, 1).candidates.empty()) continue;
    names.push_back(fmt::format("{} ({})", registered.info.name, registered.info.family));
  }
  return names;
}

/// The stages of a folder that have an @parameter. Throws UserError if none has.
std::vector<std::string> stages_with_parameters(const RunOptions& options) {
  std::vector<std::string> names;
  for (const ProblemVariant& one : problem_of(options).variants()) {
    const CompiledStage* const stage = one.variant->compiled_stage();
    if (stage != nullptr && !stage->source.parameters.empty()) names.emplace_back(one.info.name);
  }
  if (!names.empty()) return names;
  throw UserError(fmt::format("{}: no stage has an @parameter to sweep over", printable(options.ladder)));
}

void check_options(SweepOptions& o) {
  if (!o.run.ladder.empty()) {
    const std::vector<std::string> names = stages_with_parameters(o.run);
    if (o.run.variants.empty()) o.run.variants = names;
    if (o.update_table) {
      throw UserError("--update-table: not of a folder: what is best stands first in the stage's @parameter");
    }
  }
  if (o.run.variants.empty()) {
    throw UserError(fmt::format("--variant is missing; these variants can be swept: {}",
                                fmt::join(variants_with_a_choice(), ", ")));
  }
  std::vector<std::string> gpus;
  for (const GpuFacts& gpu : gpu_facts()) gpus.push_back(gpu.name);
  if (!o.gpu.empty() && find_gpu(o.gpu) == nullptr) throw UserError(unknown_name_message("--gpu", o.gpu, gpus));
  std::error_code error;
  if (o.update_table && !std::filesystem::is_directory(o.tables, error)) {
    throw UserError(
        fmt::format("--tables {}: no such folder; the tables of the source tree are in variants/tuning", o.tables));
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

/// The sweeps of each group of the plan, and those left out, a line for each reason.
struct SweepPlan {
  std::vector<std::pair<const CaseGroup*, std::size_t>> groups;  ///< with the index after its last sweep
  std::vector<Sweep> sweeps;
  Reasons left_out;
};

SweepPlan plan_sweeps(const std::vector<CaseGroup>& plan, const SweepOptions& o) {
  SweepPlan sweeps;
  const Configuration wanted = wanted_configuration(o.configuration);
  for (const CaseGroup& group : plan) {
    for (const PlannedCase& planned : group.cases) {
      if (!planned.runs()) {
        sweeps.left_out.add(why_not_run(planned).reason, planned.id);
      } else if (auto sweep = plan_sweep(planned, wanted, o.limit, o.gpu)) {
        sweeps.sweeps.push_back(std::move(*sweep));
      } else {
        sweeps.left_out.add("nothing to choose", planned.id);
      }
    }
    sweeps.groups.emplace_back(&group, sweeps.sweeps.size());
  }
  if (!sweeps.sweeps.empty()) return sweeps;
  const std::string reason = sweeps.left_out.empty() ? "no case remains" : sweeps.left_out.lines().front();
  if (!o.run.ladder.empty()) throw UserError(fmt::format("there is nothing to sweep: {}", reason));
  throw UserError(fmt::format("there is nothing to sweep: {}; these variants can be swept: {}", reason,
                              fmt::join(variants_with_a_choice(), ", ")));
}

std::string swept_line(const Sweep& sweep, const SweptConfiguration& one) {
  const std::string score = score_text(sweep, one);
  if (one.score) return fmt::format("{:<26} {}", score, one.configuration.text());
  const std::string why = fmt::format("{}: {}", one.configuration.text(), score);
  return fmt::format("{}", fmt::join(wrapped(why, kTextColumns), "\n"));
}

/// Runs the sweeps that are not recorded; the tables show all.
class SweepRun {
 public:
  SweepRun(const RunOptions& options, bool quiet, const ImageSet& images, SweepPlan& plan, Record& record)
      : options_(options),
        quiet_(quiet),
        plan_(plan),
        record_(record),
        estimator_(options),
        loop_(options, images, {quiet ? nullptr : stdout, configurations_left(), groups_of_devices(plan)}) {
    loop_.predict([this] { return seconds_left(); });
  }

  void all() {
    std::size_t first = 0;
    for (const auto& [group, end] : plan_.groups) {
      if (first < end) run_sweeps_of(*group, first, end);
      first = end;
    }
    complete_sweep_record(record_, plan_.sweeps);
  }

 private:
  static std::map<std::string, int> groups_of_devices(const SweepPlan& plan) {
    std::map<std::string, int> groups;
    for (const auto& [group, end] : plan.groups) ++groups[group->device];
    return groups;
  }

  static int left_of(const Sweep& sweep) {
    return static_cast<int>(std::ranges::count_if(sweep.results, [](const auto& one) { return !one.status; }));
  }

  int configurations_left() const {
    int count = 0;
    for (const Sweep& sweep : plan_.sweeps) count += left_of(sweep);
    return count;
  }

  double seconds_left() const {
    double seconds = 0;
    for (const Sweep& sweep : plan_.sweeps) seconds += left_of(sweep) * estimator_.case_seconds(sweep.planned);
    return seconds;
  }

  void run_sweeps_of(const CaseGroup& group, std::size_t first, std::size_t end) {
    std::vector<ConfiguredCases> configured;
    int images = group.work.shape.batch;
    if (!group.has_clock) images = 1;
    for (std::size_t i = first; i < end; ++i) {
      configured.push_back(configured_cases(plan_.sweeps[i]));
      // Counted over all configurations, so that the rest of an interrupted sweep executes as many images as the others
      // did.
      if (!group.has_clock) images = std::max(images, counted_images(configured.back().cases));
      std::erase_if(configured.back().cases, [this](const PlannedCase& planned) { return record_.has(planned.id); });
    }
    if (const std::string why = why_no_room(group.device, group.work.shape); !why.empty()) {
      for (ConfiguredCases& one : configured) {
        for (PlannedCase& planned : one.cases) planned.skipped = why;
      }
    }
    const auto workload = [&]() -> const Workload& { return loop_.workload(group.work, group.has_clock, images); };
    for (std::size_t i = first; i < end; ++i) {
      std::vector<PlannedCase>& cases = configured[i - first].cases;
      record_not_run(plan_.sweeps[i], cases);
      if (!cases.empty()) run_cases_of(plan_.sweeps[i], cases, workload());
      if (!plan_.sweeps[i].finalists().empty()) hold_final(plan_.sweeps[i], workload());
      fmt::print("{}{}\n", quiet_ ? "" : "\n", as_text(sweep_report(plan_.sweeps[i])));
      std::fflush(stdout);
    }
    loop_.free_workload();
  }

  /// Takes out and reports the cases without code or without room.
  void record_not_run(Sweep& sweep, std::vector<PlannedCase>& cases) {
    for (const PlannedCase& planned : cases) {
      if (planned.runs()) continue;
      finished(sweep, planned, outcome_without_run(planned));
    }
    std::erase_if(cases, [](const PlannedCase& planned) { return !planned.runs(); });
  }

  void run_cases_of(Sweep& sweep, const std::vector<PlannedCase>& cases, const Workload& workload) {
    loop_.before_group(cases.front().device);
    loop_.run(cases, workload, options_, {.finished = [&](const PlannedCase& planned, const CaseOutcome& outcome) {
                finished(sweep, planned, outcome);
              }});
  }

  /// Measures configurations that looked better than the model's choice in rounds with it.
  void hold_final(Sweep& sweep, const Workload& workload) {
    std::vector<std::string> names = {sweep.found.by_model.text()};
    for (const SweptConfiguration* const one : sweep.finalists()) names.push_back(one->configuration.text());
    ConfiguredCases configured = configured_cases(sweep);
    std::erase_if(configured.cases, [&](const PlannedCase& planned) {
      return std::ranges::find(names, planned.configuration) == names.end();
    });
    RunOptions in_rounds = options_;
    in_rounds.repetitions = Finalist::kRounds / Finalist::kLaunches;
    std::map<std::string, std::vector<double>> samples;
    for (int launch = 0; launch < Finalist::kLaunches; ++launch)
      measure_rounds(configured.cases, workload, in_rounds, samples);
    sweep.finals = judged_finalists(sweep, samples);
  }

  /// Adds a sample from each round to the samples of each configuration.
  void measure_rounds(const std::vector<PlannedCase>& cases, const Workload& workload, const RunOptions& in_rounds,
                      std::map<std::string, std::vector<double>>& samples) {
    loop_.run(cases, workload, in_rounds,
              {.finished =
                   [&](const PlannedCase& planned, const CaseOutcome& outcome) {
                     if (outcome.status != Status::ok) return;
                     const std::vector<double>& of_rounds = outcome.times.front().samples;
                     std::vector<double>& all = samples[planned.configuration];
                     all.insert(all.end(), of_rounds.begin(), of_rounds.end());
                   },
               .prefix = "final "});
  }

  void finished(Sweep& sweep, const PlannedCase& planned, const CaseOutcome& outcome) {
    const auto one = std::ranges::find(sweep.results, Configuration::parse(planned.configuration),
                                       &SweptConfiguration::configuration);
    add_configuration(record_, sweep, planned, outcome, *one);
    if (one->score && sweep.kind == ScoreKind::measured) estimator_.learn(sweep.planned, one->score->value * 1e-9);
    loop_.progress().finished(swept_line(sweep, *one));
  }

  const RunOptions& options_;
  bool quiet_;
  SweepPlan& plan_;
  Record& record_;
  Estimator estimator_;
  CaseLoop loop_;
};

/// The largest batch of the plan, as in `run`.
int most_images(const std::vector<CaseGroup>& plan) {
  int largest = 1;
  for (const CaseGroup& group : plan) largest = std::max(largest, group.work.shape.batch);
  return largest;
}

void add_sweep_options(CLI::App& sweep, SweepArguments& a) {
  SweepOptions& o = a.options;
  add_case_selection(sweep, o.run, a.selection, "100");
  sweep.add_option("--case", o.run.case_filter, kCaseHelp)->group("Which cases");
  sweep.add_option("--configuration", o.configuration, "only configurations with these values: maps=8,pixels=9")
      ->group("What is tried");
  sweep.add_option("--limit", o.limit, "configurations of a variant on a layer (default 24)")
      ->check(CLI::Range(1, kMostConfigurations))
      ->group("What is tried");
  sweep.add_option("--gpu", o.gpu, "on the simulated device: order by the time predicted for k80, ..., h200")
      ->group("How");
  add_measuring_options(
      sweep, o.run,
      {.budget = "seconds of measuring for each configuration (default 1)",
       .repetitions = "exactly this many samples of each configuration",
       .timeout = "seconds for each step of a case (default 60, and 5 for each GFLOP; on a GPU 30 and more)"});
  sweep
      .add_flag("--update-table", o.update_table,
                "write the best configurations into the tuning tables; the next build uses them")
      ->group("Where");
  sweep.add_option("--tables", o.tables, "folder of the tuning tables (default variants/tuning)")->group("Where");
  add_record_options(sweep, kSweepKind, a.record, "only list the configurations of each case",
                     "no line for each configuration");
}

void print_left_out(const SweepPlan& plan) {
  Report report;
  ReportSection& section = report.section();
  for (const std::string& line : plan.left_out.lines()) section.paragraph(line, "left out: ");
  print_as({}, report);
}

/// Prints what would be tried. Runs nothing.
int sweep_dry_run(const SweepPlan& plan, const RunOptions& options) {
  const Estimator estimator(options);
  double seconds = 0;
  for (const auto& [group, end] : plan.groups) seconds += estimator.group_seconds(*group);
  std::size_t all = 0;
  for (const Sweep& sweep : plan.sweeps) {
    all += sweep.results.size();
    seconds += static_cast<double>(sweep.results.size()) * estimator.case_seconds(sweep.planned);
    for (const SweptConfiguration& one : sweep.results) {
      fmt::print("{}: {}\n", sweep.planned.id, one.configuration.text());
    }
  }
  print_left_out(plan);
  fmt::print("{} configuration{} to be tried, about {} (predicted)\n", all, all == 1 ? "" : "s",
             duration_text(seconds));
  return kExitOk;
}

int sweep_command(SweepArguments& a, const CommandLine& command_line) {
  constexpr int kDefaultSweepBatch = 100;
  SweepOptions& options = a.options;
  static_cast<void>(case_pattern(options.run.case_filter));
  apply_case_selection(a.selection, options.run);
  if (options.run.batches.empty() && options.run.ladder.empty()) options.run.batches = {kDefaultSweepBatch};
  std::optional<Record> resumed = record_to_resume(a.record, {}, check_sweep_record);
  if (resumed) options = read_sweep_options(resumed->options());
  check_options(options);
  initialize_google_benchmark({});
  const std::vector<CaseGroup> plan = make_plan(options.run);
  SweepPlan sweeps = plan_sweeps(plan, options);
  if (a.record.dry_run) return sweep_dry_run(sweeps, options.run);
  if (options.update_table) check_tuning_tables(options.tables, sweeps.sweeps);
  const ImageSet images = load_images(options.run.data_folder, options.run.seed, most_images(plan));
  Record record =
      begin_record(a.record, std::move(resumed), sweep_content(options, command_line, images, sweeps.sweeps));
  read_back(record, sweeps.sweeps);
  print_left_out(sweeps);
  SweepRun(options.run, a.record.quiet, images, sweeps, record).all();
  if (options.update_table) {
    for (const std::string& file : update_tuning_tables(options.tables, sweeps.sweeps, options.run.seed)) {
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

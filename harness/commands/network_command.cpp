// `convladder network`: runs whole networks with any convolution variant.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <optional>

#include "devices/cpu/cpu_facts.hpp"
#include "harness/commands/case_filter.hpp"
#include "harness/commands/command.hpp"
#include "harness/commands/measuring_options.hpp"
#include "harness/commands/network_choice.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/commands/recorded_command.hpp"
#include "harness/measure/cases/case_loop.hpp"
#include "harness/measure/machine/quality.hpp"
#include "harness/measure/networks/network_record.hpp"
#include "harness/measure/networks/network_session.hpp"
#include "harness/measure/networks/network_summary_text.hpp"
#include "harness/measure/networks/network_tables.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/estimate.hpp"
#include "harness/measure/plan/options_json.hpp"
#include "harness/measure/plan/plan.hpp"
#include "harness/measure/plan/run_material.hpp"
#include "harness/measure/records/record_context_json.hpp"
#include "support/errors.hpp"
#include "support/json_fields.hpp"
#include "support/printable.hpp"
#include "support/terminal.hpp"
#include "support/text_table.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

constexpr const char* kNetworkFooter = R"(examples:
  convladder network --network lenet72                         the first six stages, the best one and the library
  convladder network --network lenet72 --all                   every stage, and larger batches as well
  convladder network --network lenet72 --variant compile-time,onednn --batch 100,1000
  convladder network --network lenet72 --variant conv1=flat-vector,conv2=onednn
  convladder network --network lenet28 --data mnist/ --weights low
  convladder network --network alexnet --variant best          batches 1, 2, 4, ... : where the time goes
  convladder network --network lenet28 --device cpu --variant best,onednn-network --batch 1,1000   images a second
  convladder network --network lenet86 --device simulated      CUDA stages without a GPU: verified and counted
  convladder network --network lenet72 --with my_conv.cu --batch 100    your own stage in all layers
  convladder network --network my_network.json --weights my_weights.safetensors
  convladder network --resume results/tonight                  continues an interrupted run

Weights: 'high' and 'low' are what 'convladder train' wrote for the images' set, or the built-in ones, which every lenet
has for synthetic images and MNIST; without any they are random, and no accuracy is shown. docs/use/networks.md says more.
exit codes: 0 every case that ran is correct - 1 a case was incorrect, crashed, timed out or could not be
launched (the other results are kept) - 3 bad input, or nothing could be written - 130 interrupted)";

constexpr double kSelectionBudget = 1;  // seconds a case: passes at the largest batch take longer anyway

int most_images(const std::vector<NetworkCase>& cases) {
  int most = 1;
  for (const NetworkCase& planned : cases) most = std::max(most, planned.runs() ? images_in_turn(planned) : 1);
  return most;
}

/// The options of a run with the same limits on a device.
RunOptions run_options(const NetworkOptions& options) {
  RunOptions result;
  result.isolate = options.isolate;
  result.seed = options.seed;
  result.checkers = options.checkers;
  result.schedules = options.schedules;
  return result;
}

std::map<std::string, int> one_group_each() {
  std::map<std::string, int> groups;
  for (const DeviceKind& kind : device_kinds()) groups[std::string(kind.name)] = 1;
  return groups;
}

double case_seconds(const NetworkCase& planned, const NetworkOptions& options) {
  return network_seconds(find_device_kind(planned.device), options.budget_seconds,
                         planned.batch * network_flop(*planned.network));
}

/// The predicted duration, which --dry-run adds to the number of cases.
std::string predicted_text(const std::vector<NetworkCase>& plan, const NetworkOptions& options) {
  double seconds = 0;
  for (const NetworkCase& planned : plan) seconds += planned.runs() ? case_seconds(planned, options) : 0;
  return fmt::format(", about {} (predicted)", duration_text(seconds));
}

/// Runs the cases of one network, one after the other, on the same images and weights.
class NetworkRuns {
 public:
  NetworkRuns(const std::vector<NetworkCase>& plan, const NetworkOptions& options, const ImageSet& images, bool verbose,
              std::FILE* lines, Record& record)
      : options_(options),
        verbose_(verbose),
        images_(images),
        record_(record),
        limits_(run_options(options)),
        loop_(limits_, images, {lines, cases_left(plan), one_group_each()}) {
    loop_.predict([this] { return seconds_left(); });
    for (const NetworkCase& planned : plan) {
      if (planned.runs() && !record.has(planned.id)) all_work_ += case_work(planned);
    }
  }

  /// Runs `cases`, all of one network, except those that are recorded already.
  void run(std::vector<NetworkCase> cases) {
    std::erase_if(cases, [this](const NetworkCase& planned) { return record_.has(planned.id); });
    if (cases.empty()) return;
    for (NetworkCase& planned : cases) {
      if (!planned.runs()) continue;
      planned.skipped = why_no_room(planned);
      if (planned.runs()) continue;
      done_work_ += case_work(planned);
      if (!verbose_)
        loop_.progress().finished(fmt::format("{:<11} {}: {}", Status::skipped, planned.id, planned.skipped));
    }
    const NetworkCase& first = cases.front();
    weights_ = network_weights(options_, *first.network, images_);
    const bool any_runs = std::ranges::any_of(cases, &NetworkCase::runs);
    std::optional<NetworkWorkload> workload;
    std::vector<ReferencePrediction> predictions;
    if (any_runs) {
      loop_.show(fmt::format("{}: images and weights", first.network->name));
      workload.emplace(*first.network, first.network_argument, images_, most_images(cases), weights_->weights);
      predictions = reference(*workload);
    }
    std::vector<std::uint8_t> labels;
    if (weights_->trained) labels.assign(images_.labels.begin(), images_.labels.end());
    for (const NetworkCase& planned : cases) {
      const NetworkResult result{planned, run_case(planned, workload, {predictions, labels, &weights_->weights})};
      add_network_case(record_, planned, result.outcome);
      if (planned.runs()) done_work_ += case_work(planned);
      if (verbose_ || is_to_be_told(result.outcome.status)) {
        loop_.progress().finished(network_result_line(result));
      } else if (planned.runs()) {
        loop_.progress().finished();
      }
    }
  }

  /// Whether the system does not tell the load of other programs.
  bool is_blind() const { return loop_.is_blind(); }

 private:
  double case_work(const NetworkCase& planned) const { return case_seconds(planned, options_); }

  int cases_left(const std::vector<NetworkCase>& plan) const {
    return static_cast<int>(std::ranges::count_if(
        plan, [this](const NetworkCase& planned) { return planned.runs() && !record_.has(planned.id); }));
  }

  /// By how long the work so far took; until a case has ended, by what was predicted.
  double seconds_left() const {
    if (done_work_ <= 0) return all_work_;
    const std::chrono::duration<double> so_far = std::chrono::steady_clock::now() - begin_;
    return so_far.count() / done_work_ * (all_work_ - done_work_);
  }

  std::vector<ReferencePrediction> reference(const NetworkWorkload& workload) {
    return ReferenceNetwork(workload.network(), weights_->weights)
        .predictions(workload.count(), workload.images(), [&](int done) {
          loop_.show(
              fmt::format("{}: float64 reference, image {} of {}", workload.network().name, done, workload.count()));
        });
  }

  NetworkOutcome run_case(const NetworkCase& planned, const std::optional<NetworkWorkload>& workload,
                          const NetworkTruth& truth) {
    NetworkOutcome outcome;
    if (!planned.runs()) {
      const NotRun not_run = why_not_run(planned);
      outcome.status = not_run.status;
      outcome.reason = not_run.reason;
      return outcome;
    }
    const double timeout = network_timeout_seconds(planned, options_);
    const PassWish wish{.chunk = options_.chunk, .overlap = options_.overlap};
    const OpenNetwork open = options_.isolate ? start_network_process(planned, *workload, wish, timeout)
                                              : start_network_here(planned, *workload, wish);
    loop_.before_group(planned.device);
    outcome = run_network_case(planned, options_, truth, *workload, open, loop_.judge(), [&](const char* phase) {
      if (std::string_view(phase) == "measuring") loop_.begin_measuring(planned.id);
      loop_.show(fmt::format("{} {}", phase, planned.id));
    });
    outcome.quality = loop_.quality(planned.id, planned.device, outcome.totals);
    if (outcome.status == Status::ok) check_stages(planned, outcome);
    return outcome;
  }

  /// Has the checkers look at the CUDA stages from outside, each in every layer that it computes, on one image.
  void check_stages(const NetworkCase& planned, NetworkOutcome& outcome) {
    const Network& network = *planned.network;
    for (const auto& [index, stage] : planned.choice.convolutions) {
      const Layer& layer = network.layers[index];
      const PlannedCase of_layer{.id = fmt::format("{}, {}", planned.id, layer.name),
                                 .variant = stage,
                                 .device = planned.device,
                                 .work = {network.name, layer.name, &network, index, layer.size.with_batch(1)},
                                 .skipped = {},
                                 .unsupported = {},
                                 .has_clock = planned.has_clock};
      std::optional<StageFindings> found = loop_.look_at(of_layer);
      if (!found) continue;
      if (found->count() > 0 && outcome.status == Status::ok) {
        end_network_case(outcome, Status::unsafe, fmt::format("{}: {}", layer.name, found->in_one_line()));
      }
      if (!outcome.checkers) outcome.checkers.emplace();
      outcome.checkers->add(*std::move(found));
    }
  }

  const NetworkOptions& options_;
  bool verbose_;
  const ImageSet& images_;
  Record& record_;
  RunOptions limits_;
  CaseLoop loop_;
  std::optional<ChosenWeights> weights_;
  double all_work_ = 0;  ///< of the cases that are run now
  double done_work_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// The cases grouped by network and device; each group shares a table.
std::vector<std::vector<NetworkCase>> by_network(const std::vector<NetworkCase>& plan) {
  std::vector<std::vector<NetworkCase>> groups;
  for (const NetworkCase& planned : plan) {
    auto at = std::ranges::find_if(groups, [&](const auto& group) { return group.front().network == planned.network; });
    if (at == groups.end()) at = groups.insert(groups.end(), std::vector<NetworkCase>());
    at->push_back(planned);
  }
  return groups;
}

/// The results of each device, in the order of the plan.
std::vector<std::pair<std::string, std::vector<NetworkResult>>> by_device(const std::vector<NetworkResult>& results) {
  std::vector<std::pair<std::string, std::vector<NetworkResult>>> devices;
  for (const NetworkResult& result : results) {
    const auto same = std::ranges::find(devices, result.planned.device, &decltype(devices)::value_type::first);
    if (same == devices.end()) {
      devices.emplace_back(result.planned.device, std::vector{result});
    } else {
      same->second.push_back(result);
    }
  }
  return devices;
}

/// Prints every table of every network, for all cases in the record.
void print_tables(const std::vector<NetworkResult>& all, const std::vector<RecordedNetwork>& networks,
                  const std::string& images) {
  for (const RecordedNetwork& of_network : networks) {
    std::vector<NetworkResult> results;
    for (const NetworkResult& result : all) {
      if (result.planned.network == of_network.network) results.push_back(result);
    }
    for (const auto& [device, of_device] : by_device(results))
      fmt::print("{}", network_tables(of_device, of_network.weights, images));
  }
}

/// Notes on the machine and on the choice of cases.
std::vector<std::string> run_notes(const NetworkOptions& options, const std::vector<NetworkResult>& all,
                                   bool is_blind) {
  std::vector<std::string> notes;
  std::vector<Quality> timed;
  std::vector<CheckerLook> looks;
  for (const NetworkResult& result : all) {
    const NetworkOutcome& outcome = result.outcome;
    if (outcome.look) looks.push_back(*outcome.look);
    if (outcome.quality) timed.push_back(*outcome.quality);
  }
  if (is_blind) {
    notes.emplace_back("the load of other programs is unknown (no data in /proc), so only the passes were judged");
  }
  for (std::string& line : checker_lines(looks)) notes.push_back(std::move(line));
  notes.push_back(quality_line(timed, usable_cores(), "network.json"));
  if (options.default_selection)
    notes.emplace_back(options.batches.empty() ? "other stages and batches: --all" : "other stages: --all");
  return notes;
}

void print_summary(const Record& record, const std::vector<NetworkResult>& all,
                   const std::vector<RecordedNetwork>& networks, const std::string& images,
                   const std::vector<std::string>& own_notes, bool verbose) {
  const std::size_t columns = std::min(terminal_columns(STDOUT_FILENO, kTextColumns), kTextColumns);
  if (verbose) print_tables(all, networks, images);
  std::vector<std::string> notes;
  const RecordedMachine machine = read_context(JsonPlace(record.json().at("context"), "context")).machine;
  for (const auto& [device, results] : by_device(all)) {
    const std::vector<NetworkSummary> summaries = network_summaries(results);
    fmt::print("{}", network_summary_text(summaries, machine.title_of(device), images, columns));
    for (std::string& note : network_notes(results, summaries, verbose)) notes.push_back(std::move(note));
  }
  notes.insert(notes.end(), own_notes.begin(), own_notes.end());
  fmt::print("\n");
  for (const RecordedNetwork& one : networks) {
    if (!one.note.empty()) fmt::print("{}", hanging("", one.note, columns));
  }
  for (const std::string& note : notes) {
    // A compiler's message about a stage may be long.
    if (!note.empty()) fmt::print("{}", hanging("", verbose ? note : printable(note, 2 * columns), columns));
  }
}

/// The command line, not checked yet.
struct NetworkArguments {
  NetworkOptions options;
  NetworkSelection selection;
  RecordArguments record;
  bool all = false;
  bool verbose = false;
};

void add_network_options(CLI::App& network, NetworkArguments& a) {
  add_network_choice_options(network, a.options, a.selection);
  add_measuring_options(
      network, a.options,
      {.budget = "seconds of passes for each case, at least one pass (default 2; 1 without --variant)",
       .repetitions = "exactly this many passes of each case",
       .timeout = "seconds for a pass (default 60, and 5 for each GFLOP; on a GPU 30 and more)"});
  add_isolation_option(network, a.options.isolate);
  add_checkers_options(network, a.options.checkers, a.options.schedules);
  network
      .add_flag("--all", a.all,
                "every stage and batch; without it and --variant: the first six stages, the best and the libraries")
      ->group("Which cases");
  add_record_options(network, kNetworkKind, a.record, "only list the cases", "no progress, no table");
  network.add_flag("--verbose", a.verbose, "a line for each case, and all tables of every network")->group("Where");
}

int network_command(NetworkArguments& a, const CommandLine& command_line) {
  NetworkOptions& options = a.options;
  apply_network_selection(a.selection, options);
  if (a.all && !options.variants.empty()) throw UserError("--all cannot be combined with --variant: it names all");
  options.all = a.all;
  options.default_selection = !a.all && options.variants.empty() && options.with.empty() && options.case_filter.empty();
  if (options.default_selection && a.record.command->get_option("--budget")->count() == 0)
    options.budget_seconds = kSelectionBudget;
  std::optional<Record> resumed = record_to_resume(a.record, {"--verbose"}, check_network_record);
  if (resumed) options = read_network_options(resumed->options());
  const std::vector<NetworkCase> plan = planned_networks(options);
  if (a.record.dry_run) {
    print_planned(plan, predicted_text(plan, options));
    return kExitOk;
  }
  const ImageSet images = network_images(options, most_images(plan));
  std::vector<RecordedNetwork> networks;
  for (const std::vector<NetworkCase>& cases : by_network(plan)) {  // a wrong file is reported before anything runs
    const Network& network = *cases.front().network;
    const ChosenWeights weights = network_weights(options, network, images);
    networks.push_back({&network, weights.weights.name, weights.weights.sha256, weights.weights.origin, weights.note});
  }
  Record record =
      begin_record(a.record, std::move(resumed), network_content(options, command_line, images, plan, networks));
  bool is_blind = false;
  {
    NetworkRuns runs(plan, options, images, a.verbose, a.record.quiet ? nullptr : stdout, record);
    for (const std::vector<NetworkCase>& cases : by_network(plan)) runs.run(cases);
    is_blind = runs.is_blind();
  }
  const std::vector<NetworkResult> all = recorded_results(plan, record);
  if (!record.is_complete()) complete_network_record(record, network_summaries(all));
  if (!a.record.quiet) {
    print_summary(record, all, networks, images.name, run_notes(options, all, is_blind), a.verbose);
  }
  fmt::print("{}\n", record.file().string());
  return record.any_failed() ? kExitCasesFailed : kExitOk;
}

const CommandRegistration network_registration(
    {.name = "network",
     .group = CommandGroup::measure,
     .help = "run whole networks with any variant in them",
     .footer = kNetworkFooter,
     .add = command_of<NetworkArguments, add_network_options, network_command>,
     .needs_proc = true});

}  // namespace
}  // namespace convladder

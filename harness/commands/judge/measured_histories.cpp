#include "harness/commands/judge/measured_histories.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <numeric>

#include "harness/commands/judge/duel_setup.hpp"
#include "harness/commands/judge/history_confirm.hpp"
#include "harness/judge/duel/kernels/kernel_side.hpp"
#include "harness/measure/cases/workload.hpp"
#include "harness/measure/isolation/one_cpu.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/statistics/statistics.hpp"
#include "support/errors.hpp"
#include "support/seeded_random.hpp"

namespace convladder {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kHistoryShape = "1,16,16,4,5";
constexpr const char* kCase = "local-accumulation";
constexpr int kSamples = 9;
constexpr std::size_t kSideBySide = 20;  // histories whose samples take turns
constexpr int kCalibratedFor = 5;        // percent of extra work, in a run that only tells how long one takes
constexpr double kTimeout = 60;

}  // namespace

class HistoryBench::Processes {
 public:
  explicit Processes(std::uint64_t seed)
      : seed_(seed),
        self_(ask_program(kThisProgram)),
        plan_(plan()),
        images_(duel_images(plan_, options_)),
        workload_(plan_.front().work, images_, seed) {}

  double seconds_of_run() {
    const auto begin = Clock::now();
    std::vector<Nights> one = {{.percent = kCalibratedFor, .runs = {}}};
    one_night(0, one, {0});
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  std::vector<MeasuredHistory> measure(const std::vector<int>& percents,
                                       const std::function<void(double, std::size_t)>& told) {
    std::vector<Nights> histories;
    for (const int percent : percents) histories.push_back({.percent = percent, .runs = {}});
    std::vector<std::size_t> order(histories.size());
    std::iota(order.begin(), order.end(), 0);
    SeededRandom random(seed_, 1);
    const double groups = std::ceil(static_cast<double>(order.size()) / kSideBySide) * kRunsOfHistory;
    double done = 0;
    for (int night = 0; night < kRunsOfHistory; ++night) {
      shuffle(order, random);
      for (std::size_t first = 0; first < order.size(); first += kSideBySide) {
        const auto begin = order.begin() + static_cast<std::ptrdiff_t>(first);
        const std::size_t count = std::min(kSideBySide, order.size() - first);
        one_night(night, histories, {begin, begin + static_cast<std::ptrdiff_t>(count)});
        told(kNightsShare * ++done / groups, 0);
      }
    }
    std::vector<MeasuredHistory> trials;
    for (Nights& history : histories) {
      trials.push_back(judge(history));
      const auto judged = static_cast<double>(trials.size());
      told(kNightsShare + (1 - kNightsShare) * judged / static_cast<double>(histories.size()), trials.size());
    }
    return trials;
  }

  const std::string& id() const { return the_case().id; }

 private:
  std::vector<KernelGroup> plan() {
    options_.families = {"cpu"};
    options_.variants = {kHistoryAnchor, kCase};
    options_.shapes = {parse_shape(kHistoryShape)};
    options_.batches = {1};
    return plan_kernel_duel(options_, self_, self_, "", "");
  }

  const KernelPair& pair(const char* variant) const {
    const auto& pairs = plan_.front().pairs;
    return *std::ranges::find(pairs, variant, &KernelPair::new_variant);
  }
  const PlannedCase& the_case() const { return pair(kCase).now; }

  /// A history while it is measured.
  struct Nights {
    int percent = 0;
    HistoryRuns runs;
  };

  /// Looks for a change in the runs of a history, and measures again if there seems to be one.
  MeasuredHistory judge(Nights& nights) {
    MeasuredHistory trial{.extra_percent = nights.percent, .ratios = {}, .samples = {}, .again = {}};
    for (const HistoryRun& run : nights.runs.runs) {
      for (const RecordedCase& one : run.run.cases) trial.samples.push_back(one.time->samples);
    }
    HistoryOptions options;
    options.anchor = kHistoryAnchor;
    const History history = make_history(std::move(nights.runs), options);
    for (const HistorySeries& series : history.series) {
      if (series.is_anchor()) continue;
      for (const HistoryPoint& point : series.points) trial.ratios.push_back(point.ratio.value_or(0));
    }
    std::vector<Alarm> alarms = latest_alarms(history, kSuspect);
    if (alarms.empty()) return trial;
    trial.measured_again = true;
    trial.marked = !alarms.front().suspected();
    confirm(history, alarms.front(), trial);
    return trial;
  }

  /// The two processes of one run, and their samples.
  struct Running {
    Nights* history = nullptr;
    SlotLength anchor_length;
    SlotLength length;
    std::unique_ptr<KernelSide> anchor;
    std::unique_ptr<KernelSide> one;
    std::vector<double> anchor_ns;
    std::vector<double> ns;
  };

  /// Takes samples as a run does: a process for each case, and rounds in which each has its turn in a random order.
  /// Slots are equally long in all runs of a history. Adds a run to each of the `chosen` histories.
  void one_night(int night, std::vector<Nights>& histories, const std::vector<std::size_t>& chosen) {
    const OneCpu all(draws_++);
    std::deque<Running> running;  // sides refer to the lengths in it
    for (const std::size_t one : chosen) {
      const int percent = histories[one].percent;
      const auto side = [&](const char* variant, int extra, const SlotLength& length) {
        return std::make_unique<KernelSide>(
            KernelSetting{"run", self_.path, pair(variant).now, workload_, kTimeout, seed_, nullptr, extra}, length);
      };
      Running& run = running.emplace_back();
      run.history = &histories[one];
      run.anchor = side(kHistoryAnchor, 0, run.anchor_length);
      run.one = side(kCase, night < kUnchangedRuns ? 0 : percent, run.length);
      run.anchor_length = run.anchor->calibrated(0);
      run.length = run.one->calibrated(percent);
    }
    SeededRandom random(seed_, draws_);
    std::vector<Running*> order;
    for (Running& run : running) order.push_back(&run);
    for (int sample = 0; sample < kSamples; ++sample) {
      shuffle(order, random);
      for (Running* const run : order) {
        const bool anchor_first = (random.next() >> 63) != 0;
        if (anchor_first) run->anchor_ns.push_back(run->anchor->slot().values.front());
        run->ns.push_back(run->one->slot().values.front());
        if (!anchor_first) run->anchor_ns.push_back(run->anchor->slot().values.front());
      }
    }
    for (Running& run : running) {
      run.anchor->verify_after();
      run.one->verify_after();
      run.history->runs.runs.push_back(record_of(night, run));
    }
  }

  HistoryRun record_of(int night, const Running& running) const {
    HistoryRun run;
    run.date = fmt::format("2026-01-01T00:{:02d}:00Z", night);
    run.commit = "unknown";
    run.host = "here";
    run.run.file = fmt::format("run {}", night);
    run.run.complete = true;
    run.run.cases = {recorded(pair(kHistoryAnchor).now, running.anchor_ns), recorded(the_case(), running.ns)};
    return run;
  }

  static RecordedCase recorded(const PlannedCase& planned, const std::vector<double>& ns) {
    RecordedCase one;
    one.id = planned.id;
    one.variant = planned.variant.info.name;
    one.device = planned.device;
    one.network = "shape";
    one.layer = planned.work.name();
    one.batch = planned.work.shape.batch;
    one.rung = planned.variant.info.rung;
    TimeFigure& time = one.time.emplace();
    time.of = "layer";
    time.median = median(ns);
    time.samples = ns;
    return one;
  }

  void confirm(const History& history, Alarm& alarm, MeasuredHistory& trial) {
    DuelSettings settings = confirming_settings(history, alarm.suspected() ? 2 : 1);
    settings.extra_percent = trial.extra_percent;
    const std::vector<KernelGroup> only = {{plan_.front().work, plan_.front().device, {pair(kCase)}}};
    const DuelResult duel = run_duel(kernel_duel(only, self_, self_, images_, settings), settings,
                                     {.phase = [](const char*, const std::string&, double) {}});
    const DuelCase& one = duel.cases.front();
    if (one.verdict == CaseVerdict::failed) throw UserError(fmt::format("{}: {}", one.id, one.reason));
    settle_alarm(alarm, one.verdict, one.change(), one.reason, !duel.control_outcome || duel.contaminated());
    trial.outcome = alarm.outcome;
    trial.slower = alarm.slower;
    trial.again = differences(one.decisive_rounds());
  }

  std::uint64_t seed_;
  OtherProgram self_;
  RunOptions options_;
  std::vector<KernelGroup> plan_;
  ImageSet images_;
  Workload workload_;
  std::uint64_t draws_ = 0;
};

HistoryBench::HistoryBench(std::uint64_t seed) : processes_(std::make_unique<Processes>(seed)) {}
HistoryBench::~HistoryBench() = default;

const std::string& HistoryBench::id() const { return processes_->id(); }
double HistoryBench::seconds_of_run() { return processes_->seconds_of_run(); }

std::vector<MeasuredHistory> HistoryBench::measure(const std::vector<int>& percents,
                                                   const std::function<void(double, std::size_t)>& told) {
  return processes_->measure(percents, told);
}

}  // namespace convladder

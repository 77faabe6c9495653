// `convladder history --selftest`: histories of real runs whose answer is known, from the first sample to the confirmed
// alarm. docs/history.md
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "harness/cases/google_engine.hpp"
#include "harness/cases/workload.hpp"
#include "harness/commands/judge/duel_setup.hpp"
#include "harness/commands/judge/history_confirm.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/commands/printed.hpp"
#include "harness/isolation/one_cpu.hpp"
#include "harness/plan/shape_argument.hpp"
#include "harness/regression/duel/bursty_neighbour.hpp"
#include "harness/regression/duel/selftest.hpp"
#include "harness/statistics/statistics.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/json_text.hpp"
#include "support/progress.hpp"
#include "support/seeded_random.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr const char* kHistorySelftestGroup = "Selftest";
constexpr const char* kHistoryShape = "1,16,16,4,5";
constexpr const char* kAnchor = "memory-accumulation";
constexpr const char* kCase = "local-accumulation";
constexpr int kRunsOfHistory = 24;
constexpr int kUnchanged = 12;  // runs before the work grows
constexpr int kSamples = 9;
constexpr std::size_t kSideBySide = 20;  // histories whose samples take turns
constexpr double kTimeout = 60;
constexpr double kHistorySeconds = 90;
constexpr double kNightsShare = 0.7;  // of the time, about: the rest is measuring again
constexpr int kShown = 5;             // percent of work that has to be found
constexpr int kEqualHistories = 300;  // 299 without an alarm show at most 1 %
constexpr int kChangedHistories = 100;
constexpr double kWantedShare = 0.95;

/// What became of one history.
struct Trial {
  int extra_percent = 0;
  std::vector<double> ratios;                ///< of its runs
  std::vector<std::vector<double>> samples;  ///< in ns: of each run those of the anchor, then those of the case
  bool measured_again = false;               ///< marked, or only suspected
  bool marked = false;
  AlarmOutcome outcome = AlarmOutcome::not_confirmed;
  bool slower = false;        ///< the mark, or what was measured again
  std::vector<double> again;  ///< differences of the rounds that decided

  /// Whether it is said that something changed; with extra work only what is true counts.
  bool is_alarm() const { return outcome == AlarmOutcome::confirmed && (extra_percent == 0 || slower); }
};

struct Level {
  int extra_percent = 0;
  int histories = 0;
  int marked = 0;
  int suspected = 0;  ///< and not marked
  int alarms = 0;
  int open = 0;
  ProportionInterval bounds;  ///< of alarms, exact, each at 95 %
};

std::vector<Level> levels_of(const std::vector<Trial>& trials) {
  std::map<int, Level> by_percent;
  for (const Trial& trial : trials) {
    Level& level = by_percent[trial.extra_percent];
    level.extra_percent = trial.extra_percent;
    ++level.histories;
    level.marked += trial.marked ? 1 : 0;
    level.suspected += trial.measured_again && !trial.marked ? 1 : 0;
    level.alarms += trial.is_alarm() ? 1 : 0;
    level.open += trial.outcome == AlarmOutcome::open ? 1 : 0;
  }
  std::vector<Level> levels;
  for (auto& [percent, level] : by_percent) {
    level.bounds = exact_proportion_bounds(level.alarms, level.histories);
    levels.push_back(level);
  }
  return levels;
}

class HistorySelftest {
 public:
  explicit HistorySelftest(std::uint64_t seed)
      : seed_(seed),
        self_(ask_program(kThisProgram)),
        plan_(plan()),
        images_(duel_images(plan_, options_)),
        workload_(plan_.front().work, images_, seed) {}

  /// How long a run of one history takes, in seconds: measured.
  double seconds_of_run() {
    const auto begin = Clock::now();
    std::vector<Nights> one = {{.percent = kShown, .runs = {}}};
    one_night(0, one, {0});
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  /// A history for each of these amounts of extra work. `told` gets what is done, 0 to 1, and how many are judged.
  ///
  /// Each night all of them have a run, in groups by chance whose samples take turns. So the samples of a run are
  /// spread over time, as those of a real one are, and what the machine does for some seconds is in one run of a
  /// history only.
  std::vector<Trial> measure(const std::vector<int>& percents, const std::function<void(double, std::size_t)>& told) {
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
    std::vector<Trial> trials;
    for (Nights& history : histories) {
      trials.push_back(judge(history));
      const auto judged = static_cast<double>(trials.size());
      told(kNightsShare + (1 - kNightsShare) * judged / static_cast<double>(histories.size()), trials.size());
    }
    return trials;
  }

  const std::string& id() const { return the_case().id; }

 private:
  std::vector<DuelGroup> plan() {
    options_.families = {"cpu"};
    options_.variants = {kAnchor, kCase};
    options_.shapes = {parse_shape(kHistoryShape)};
    options_.batches = {1};
    return plan_duel(options_, self_, self_, "", "");
  }

  const DuelPair& pair(const char* variant) const {
    const auto& pairs = plan_.front().pairs;
    return *std::ranges::find(pairs, variant, &DuelPair::new_variant);
  }
  const PlannedCase& the_case() const { return pair(kCase).now; }

  /// A history while it is measured.
  struct Nights {
    int percent = 0;
    HistoryRuns runs;
  };

  template <typename T>
  static void shuffle(std::vector<T>& values, SeededRandom& random) {
    for (int last = static_cast<int>(values.size()) - 1; last > 0; --last) {
      std::swap(values[static_cast<std::size_t>(last)], values[static_cast<std::size_t>(random.between(0, last))]);
    }
  }

  /// Looks for a change in the runs of a history, and measures again what looks like one.
  Trial judge(Nights& nights) {
    Trial trial{.extra_percent = nights.percent, .ratios = {}, .samples = {}, .again = {}};
    for (const HistoryRun& run : nights.runs.runs) {
      for (const RecordedCase& one : run.run.cases) trial.samples.push_back(one.time->samples);
    }
    HistoryOptions options;
    options.anchor = kAnchor;
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

  /// The two processes of one run, and what they measured.
  struct Running {
    Nights* history = nullptr;
    std::unique_ptr<DuelSide> anchor;
    std::unique_ptr<DuelSide> one;
    SlotLength anchor_length;
    SlotLength length;
    std::vector<double> anchor_ns;
    std::vector<double> ns;
  };

  /// As a run takes its samples: a process for each case, and rounds in which each has its turn in a random order.
  /// Slots are as long in all runs of a history. Adds a run to each of the `chosen` histories.
  void one_night(int night, std::vector<Nights>& histories, const std::vector<std::size_t>& chosen) {
    const OneCpu all(draws_++);
    std::vector<Running> running;
    for (const std::size_t one : chosen) {
      const int percent = histories[one].percent;
      const auto side = [&](const char* variant, int extra) {
        return std::make_unique<DuelSide>(
            SideSetting{"run", self_.path, pair(variant).now, workload_, kTimeout, seed_, nullptr, extra});
      };
      Running& run = running.emplace_back();
      run.history = &histories[one];
      run.anchor = side(kAnchor, 0);
      run.one = side(kCase, night < kUnchanged ? 0 : percent);
      run.anchor_length = run.anchor->calibrate(0);
      run.length = run.one->calibrate(percent);
    }
    SeededRandom random(seed_, draws_);
    std::vector<Running*> order;
    for (Running& run : running) order.push_back(&run);
    for (int sample = 0; sample < kSamples; ++sample) {
      shuffle(order, random);
      for (Running* const run : order) {
        const bool anchor_first = (random.next() >> 63) != 0;
        if (anchor_first) run->anchor_ns.push_back(run->anchor->slot(run->anchor_length).ns);
        run->ns.push_back(run->one->slot(run->length).ns);
        if (!anchor_first) run->anchor_ns.push_back(run->anchor->slot(run->anchor_length).ns);
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
    run.run.context = ordered_json::object();
    run.run.cases = {recorded(pair(kAnchor).now, running.anchor_ns), recorded(the_case(), running.ns)};
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

  void confirm(const History& history, Alarm& alarm, Trial& trial) {
    DuelSettings settings = confirming_settings(history, alarm.suspected() ? 2 : 1);
    settings.extra_percent = trial.extra_percent;
    const std::vector<DuelGroup> only = {{plan_.front().work, plan_.front().device, {pair(kCase)}}};
    const DuelResult duel =
        run_duel(only, self_, self_, images_, settings, [](const char*, const std::string&, double) {});
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
  std::vector<DuelGroup> plan_;
  ImageSet images_;
  Workload workload_;
  std::uint64_t draws_ = 0;
};

std::string history_table(const std::vector<Level>& levels) {
  const auto column = [](const char* title, const char* unit) {
    return TextColumn{.title = title, .unit = unit, .number = true};
  };
  std::vector<std::vector<std::string>> rows;
  for (const Level& level : levels) {
    rows.push_back({fmt::format("{}", level.extra_percent), fmt::format("{}", level.histories),
                    fmt::format("{}", level.marked), fmt::format("{}", level.suspected),
                    fmt::format("{}", level.alarms), fmt::format("{}", level.open),
                    fmt::format("{:.1f}", 100.0 * level.alarms / level.histories),
                    fmt::format("{:.1f} to {:.1f}", level.bounds.low * 100, level.bounds.high * 100)});
  }
  return text_table(
      {column("extra work", "%"), column("histories", ""), column("marked", ""), column("suspected", ""),
       column("confirmed", ""), column("cannot be told", ""), column("confirmed", "%"), column("exact bounds", "%")},
      rows, kTextColumns);
}

/// What the claims look like after these histories, and the exit code.
std::pair<std::string, int> history_claims(const std::vector<Level>& levels, bool full) {
  constexpr const char* texts[] = {"shown", "too few histories to show or refute it", "REFUTED"};
  std::string text;
  int code = kExitOk;
  for (const Level& level : levels) {
    Claim claim = Claim::open;
    if (level.extra_percent == 0) {
      if (level.bounds.high <= kConfirmAlpha) claim = Claim::shown;
      if (level.bounds.low > kConfirmAlpha) claim = Claim::refuted;
      text += indented(fmt::format("nothing changed: {} of {} with a confirmed alarm, at most {:.2f} % with 95 % "
                                   "confidence; claimed: at most {:g} %: {}",
                                   level.alarms, level.histories, level.bounds.high * 100, kConfirmAlpha * 100,
                                   texts[static_cast<int>(claim)]),
                       0);
    } else if (level.extra_percent == kShown) {
      const bool enough = level.histories >= kChangedHistories;
      if (enough && level.alarms >= kWantedShare * level.histories) claim = Claim::shown;
      if (level.bounds.high < kWantedShare) claim = Claim::refuted;
      text += indented(
          fmt::format("+{} %: {} of {} found and confirmed, at least {:.1f} % with 95 % confidence; claimed: "
                      "95 of 100: {}",
                      kShown, level.alarms, level.histories, level.bounds.low * 100, texts[static_cast<int>(claim)]),
          0);
    } else {
      continue;
    }
    if (claim == Claim::refuted) code = kExitCasesFailed;
    if (claim == Claim::open && full && code == kExitOk) code = kExitInconclusive;
  }
  return {text, code};
}

ordered_json histories_json(const std::vector<Trial>& trials, const std::vector<Level>& levels, const std::string& id,
                            const HistorySelftestArguments& a, double seconds) {
  ordered_json all = ordered_json::array();
  for (const Trial& trial : trials) {
    constexpr const char* names[] = {"confirmed", "not confirmed", "cannot be told"};
    all.push_back(
        {{"extra_percent", trial.extra_percent},
         {"ratios", trial.ratios},
         {"samples_ns", trial.samples},
         {"marked", trial.marked},
         {"suspected", trial.measured_again && !trial.marked},
         {"slower", trial.measured_again ? ordered_json(trial.slower) : ordered_json()},
         {"outcome", trial.measured_again ? ordered_json(names[static_cast<int>(trial.outcome)]) : ordered_json()},
         {"measured_again", trial.again}});
  }
  ordered_json by_level = ordered_json::array();
  for (const Level& level : levels) {
    by_level.push_back({{"extra_percent", level.extra_percent},
                        {"histories", level.histories},
                        {"marked", level.marked},
                        {"suspected", level.suspected},
                        {"confirmed", level.alarms},
                        {"cannot_be_told", level.open},
                        {"confirmed_low", level.bounds.low},
                        {"confirmed_high", level.bounds.high}});
  }
  return {{"schema_version", "1.0"},
          {"kind", "history selftest"},
          {"case", id},
          {"anchor", kAnchor},
          {"runs_of_a_history", kRunsOfHistory},
          {"changed_at", kUnchanged},
          {"neighbour", a.neighbour},
          {"seconds", seconds},
          {"levels", std::move(by_level)},
          {"histories", std::move(all)}};
}

std::vector<std::pair<int, int>> wanted_histories(const HistorySelftestArguments& a) {
  std::vector<int> levels = a.levels.empty() ? std::vector{0, kShown} : a.levels;
  std::ranges::sort(levels);
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  std::vector<std::pair<int, int>> runs;
  for (const int level : levels) {
    runs.emplace_back(level, a.runs > 0 ? a.runs : level == 0 ? kEqualHistories : kChangedHistories);
  }
  return runs;
}

}  // namespace

void add_history_selftest_options(CLI::App& history, HistorySelftestArguments& a) {
  history
      .add_flag("--selftest", a.selftest, "histories whose answer is known: how often is a confirmed alarm wrong here?")
      ->group(kHistorySelftestGroup);
  history.add_flag("--full", a.full, "the proof: 300 histories in which nothing changed, 100 with 5 % more work")
      ->group(kHistorySelftestGroup);
  history.add_option("--levels", a.levels, "extra work of the later runs in percent (default 0,5)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(0, 1000))
      ->group(kHistorySelftestGroup);
  history.add_option("--runs", a.runs, "exactly this many histories of each level")
      ->check(CLI::Range(1, 100000))
      ->group(kHistorySelftestGroup);
  history
      .add_option("--budget", a.budget,
                  "as many histories as fit into so many seconds (default 90; no limit with --full or --runs)")
      ->check(number_between(0.1, 1e6))
      ->group(kHistorySelftestGroup);
  history.add_option("--neighbour", a.neighbour, "none (default), or bursty: other threads that compute in bursts")
      ->check(CLI::IsMember({"none", "bursty"}))
      ->group(kHistorySelftestGroup);
}

int history_selftest(const HistorySelftestArguments& a) {
  check_output_file("--output", a.output);
  initialize_google_benchmark({});
  make_idle_threads_sleep();
  setenv("OMP_NUM_THREADS", "1", 1);  // it is the method that is tested
  const std::uint64_t seed = std::random_device()();
  HistorySelftest selftest(seed);
  const std::unique_ptr<BurstyNeighbour> neighbour =
      a.neighbour == "bursty" ? std::make_unique<BurstyNeighbour>(seed) : nullptr;
  std::vector<int> percents = selftest_order(wanted_histories(a), seed);
  const std::size_t wanted = percents.size();
  double budget = a.full || a.runs > 0 ? 0 : kHistorySeconds;
  if (a.budget > 0) budget = a.budget;
  const auto begin = Clock::now();
  const auto elapsed = [begin] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  if (budget > 0) {
    const double each = selftest.seconds_of_run() * kRunsOfHistory / kNightsShare;
    percents.resize(std::min(wanted, static_cast<std::size_t>(std::max(2.0, budget / each))));
  }
  Progress progress(stderr, 0);
  const std::vector<Trial> trials = selftest.measure(percents, [&](double done, std::size_t judged) {
    const std::string part = judged == 0 ? fmt::format("runs of {} histories", percents.size())
                                         : fmt::format("{} of {} histories", judged, percents.size());
    progress.show_part(part, done, elapsed() * (1 / done - 1));
  });
  const double seconds = elapsed();
  const std::vector<Level> levels = levels_of(trials);
  const auto [text, code] = history_claims(levels, a.full);
  if (!a.output.empty())
    write_file_atomically(a.output, json_text(histories_json(trials, levels, selftest.id(), a, seconds)));
  fmt::print("{} beside {}, 1 thread, {} histories of {} runs in {:.0f} s, measured; neighbour: {}\n\n{}\n{}",
             selftest.id(), kAnchor, trials.size(), kRunsOfHistory, seconds, a.neighbour, history_table(levels), text);
  if (trials.size() < wanted) fmt::print("there was no time for all {} histories: --full measures them\n", wanted);
  return code;
}

}  // namespace convladder

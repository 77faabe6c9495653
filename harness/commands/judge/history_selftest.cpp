// `convladder history --selftest`: histories of real runs whose answer is known, from the first sample to the confirmed
// alarm. docs/history.md
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
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
constexpr double kTimeout = 60;
constexpr double kHistorySeconds = 90;
constexpr int kShown = 5;             // percent of work that has to be found
constexpr int kEqualHistories = 300;  // 299 without an alarm show at most 1 %
constexpr int kChangedHistories = 100;
constexpr double kWantedShare = 0.95;

/// What became of one history.
struct Trial {
  int extra_percent = 0;
  std::vector<double> ratios;  ///< of its runs
  bool marked = false;
  AlarmOutcome outcome = AlarmOutcome::not_confirmed;
  bool slower = false;        ///< the mark
  std::vector<double> again;  ///< differences of the rounds that decided

  /// Whether it is said that something changed; with extra work only what is true counts.
  bool is_alarm() const { return marked && outcome == AlarmOutcome::confirmed && (extra_percent == 0 || slower); }
};

struct Level {
  int extra_percent = 0;
  int histories = 0;
  int marked = 0;
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
    level.alarms += trial.is_alarm() ? 1 : 0;
    level.open += trial.marked && trial.outcome == AlarmOutcome::open ? 1 : 0;
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

  Trial measure(int extra_percent) {
    Trial trial{.extra_percent = extra_percent, .ratios = {}, .again = {}};
    HistoryRuns runs;
    for (int run = 0; run < kRunsOfHistory; ++run)
      runs.runs.push_back(one_run(run, run < kUnchanged ? 0 : extra_percent, extra_percent));
    HistoryOptions options;
    options.anchor = kAnchor;
    const History history = make_history(std::move(runs), options);
    for (const HistorySeries& series : history.series) {
      if (series.is_anchor()) continue;
      for (const HistoryPoint& point : series.points) trial.ratios.push_back(point.ratio.value_or(0));
    }
    std::vector<Alarm> alarms = latest_alarms(history);
    if (alarms.empty()) return trial;
    trial.marked = true;
    trial.slower = alarms.front().slower;
    confirm(history, alarms.front(), extra_percent, trial);
    return trial;
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

  /// As a run takes its samples: a process for each case, and rounds in which each has its turn in a random order.
  /// Slots are as long in all runs of a history, whose extra work is at most `most_extra`.
  HistoryRun one_run(int number, int extra_percent, int most_extra) {
    const OneCpu both(draws_++);
    const auto side = [&](const char* variant, int extra) {
      return std::make_unique<DuelSide>(
          SideSetting{"run", self_.path, pair(variant).now, workload_, kTimeout, seed_, nullptr, extra});
    };
    const std::unique_ptr<DuelSide> anchor = side(kAnchor, 0);
    const std::unique_ptr<DuelSide> one = side(kCase, extra_percent);
    const SlotLength anchor_length = anchor->calibrate(0);
    const SlotLength length = one->calibrate(most_extra);
    std::vector<double> anchor_ns;
    std::vector<double> ns;
    SeededRandom random(seed_, draws_);
    for (int sample = 0; sample < kSamples; ++sample) {
      const bool anchor_first = (random.next() >> 63) != 0;
      if (anchor_first) anchor_ns.push_back(anchor->slot(anchor_length).ns);
      ns.push_back(one->slot(length).ns);
      if (!anchor_first) anchor_ns.push_back(anchor->slot(anchor_length).ns);
    }
    anchor->verify_after();
    one->verify_after();
    HistoryRun run;
    run.date = fmt::format("2026-01-01T00:{:02d}:00Z", number);
    run.commit = "unknown";
    run.host = "here";
    run.run.file = fmt::format("run {}", number);
    run.run.complete = true;
    run.run.context = ordered_json::object();
    run.run.cases = {recorded(pair(kAnchor).now, anchor_ns), recorded(the_case(), ns)};
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

  void confirm(const History& history, Alarm& alarm, int extra_percent, Trial& trial) {
    DuelSettings settings = confirming_settings(history, 1);
    settings.extra_percent = extra_percent;
    const std::vector<DuelGroup> only = {{plan_.front().work, plan_.front().device, {pair(kCase)}}};
    const DuelResult duel =
        run_duel(only, self_, self_, images_, settings, [](const char*, const std::string&, double) {});
    const DuelCase& one = duel.cases.front();
    if (one.verdict == CaseVerdict::failed) throw UserError(fmt::format("{}: {}", one.id, one.reason));
    settle_alarm(alarm, one.verdict, one.change(), one.reason, !duel.control_outcome || duel.contaminated());
    trial.outcome = alarm.outcome;
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
                    fmt::format("{}", level.marked), fmt::format("{}", level.alarms), fmt::format("{}", level.open),
                    fmt::format("{:.1f}", 100.0 * level.alarms / level.histories),
                    fmt::format("{:.1f} to {:.1f}", level.bounds.low * 100, level.bounds.high * 100)});
  }
  return text_table({column("extra work", "%"), column("histories", ""), column("marked", ""), column("confirmed", ""),
                     column("cannot be told", ""), column("confirmed", "%"), column("exact bounds", "%")},
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
    all.push_back({{"extra_percent", trial.extra_percent},
                   {"ratios", trial.ratios},
                   {"marked", trial.marked},
                   {"slower", trial.marked ? ordered_json(trial.slower) : ordered_json()},
                   {"outcome", trial.marked ? ordered_json(names[static_cast<int>(trial.outcome)]) : ordered_json()},
                   {"measured_again", trial.again}});
  }
  ordered_json by_level = ordered_json::array();
  for (const Level& level : levels) {
    by_level.push_back({{"extra_percent", level.extra_percent},
                        {"histories", level.histories},
                        {"marked", level.marked},
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
                  "seconds after which no new history begins (default 90; no limit with --full or --runs)")
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
  const std::vector<int> order = selftest_order(wanted_histories(a), seed);
  double budget = a.full || a.runs > 0 ? 0 : kHistorySeconds;
  if (a.budget > 0) budget = a.budget;

  std::vector<Trial> trials;
  const auto begin = Clock::now();
  double seconds = 0;
  {
    Progress progress(stderr, 0);
    for (const int percent : order) {
      trials.push_back(selftest.measure(percent));
      seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      const double left =
          seconds / static_cast<double>(trials.size()) * static_cast<double>(order.size() - trials.size());
      const double shown_left = budget > 0 ? std::min(left, std::max(0.0, budget - seconds)) : left;
      progress.show_part(fmt::format("{} histories", trials.size()), seconds / (seconds + shown_left), shown_left);
      if (budget > 0 && seconds >= budget) break;
    }
  }
  const std::vector<Level> levels = levels_of(trials);
  const auto [text, code] = history_claims(levels, a.full);
  if (!a.output.empty())
    write_file_atomically(a.output, json_text(histories_json(trials, levels, selftest.id(), a, seconds)));
  fmt::print("{} beside {}, 1 thread, {} histories of {} runs in {:.0f} s, measured; neighbour: {}\n\n{}\n{}",
             selftest.id(), kAnchor, trials.size(), kRunsOfHistory, seconds, a.neighbour, history_table(levels), text);
  if (trials.size() < order.size())
    fmt::print("time ran out before all histories were measured: --full measures them all\n");
  return code;
}

}  // namespace convladder

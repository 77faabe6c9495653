// `convladder history --selftest`: histories of real runs whose answer is known, from the first sample to the confirmed
// alarm. docs/use/history.md
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>

#include "harness/commands/judge/duel_setup.hpp"
#include "harness/commands/judge/history_confirm.hpp"
#include "harness/commands/judge/measured_histories.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/commands/printed.hpp"
#include "harness/judge/duel/bursty_neighbour.hpp"
#include "harness/judge/duel/selftest.hpp"
#include "harness/judge/history/history_json.hpp"
#include "harness/measure/cases/google_engine.hpp"
#include "harness/measure/statistics/statistics.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/progress.hpp"

namespace convladder {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kHistorySelftestGroup = "Selftest";
constexpr double kHistorySeconds = 90;
constexpr int kShown = 5;             // percent of work that has to be found
constexpr int kEqualHistories = 300;  // 299 without an alarm show at most 1 %
constexpr int kChangedHistories = 100;
constexpr double kWantedShare = 0.95;

ReportTable history_table(const std::vector<HistoryLevel>& levels) {
  std::vector<std::vector<std::string>> rows;
  for (const HistoryLevel& level : levels) {
    rows.push_back({fmt::format("{}", level.extra_percent), fmt::format("{}", level.histories),
                    fmt::format("{}", level.marked), fmt::format("{}", level.suspected),
                    fmt::format("{}", level.alarms), fmt::format("{}", level.open),
                    fmt::format("{:.1f}", 100.0 * level.alarms / level.histories),
                    fmt::format("{:.1f} to {:.1f}", level.bounds.low * 100, level.bounds.high * 100)});
  }
  return {{right("extra work", "%"), right("histories"), right("marked"), right("suspected"), right("confirmed"),
           right("cannot be told"), right("confirmed", "%"), right("exact bounds", "%")},
          std::move(rows)};
}

/// The claims after these histories, and the exit code.
std::pair<std::vector<std::string>, int> history_claims(const std::vector<HistoryLevel>& levels, bool full) {
  constexpr const char* texts[] = {"shown", "too few histories to show or refute it", "REFUTED"};
  std::vector<std::string> claims;
  int code = kExitOk;
  for (const HistoryLevel& level : levels) {
    Claim claim = Claim::open;
    if (level.extra_percent == 0) {
      if (level.bounds.high <= kConfirmAlpha) claim = Claim::shown;
      if (level.bounds.low > kConfirmAlpha) claim = Claim::refuted;
      claims.push_back(fmt::format(
          "nothing changed: {} of {} with a confirmed alarm, at most {:.2f} % with 95 % "
          "confidence; claimed: at most {:g} %: {}",
          level.alarms, level.histories, level.bounds.high * 100, kConfirmAlpha * 100, texts[static_cast<int>(claim)]));
    } else if (level.extra_percent == kShown) {
      const bool enough = level.histories >= kChangedHistories;
      if (enough && level.alarms >= kWantedShare * level.histories) claim = Claim::shown;
      if (level.bounds.high < kWantedShare) claim = Claim::refuted;
      claims.push_back(
          fmt::format("+{} %: {} of {} found and confirmed, at least {:.1f} % with 95 % confidence; claimed: "
                      "95 of 100: {}",
                      kShown, level.alarms, level.histories, level.bounds.low * 100, texts[static_cast<int>(claim)]));
    } else {
      continue;
    }
    if (claim == Claim::refuted) code = kExitCasesFailed;
    if (claim == Claim::open && full && code == kExitOk) code = kExitInconclusive;
  }
  return {std::move(claims), code};
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
  history.add_flag("--full", a.full, "the whole trial: 300 histories in which nothing changed, 100 with 5 % more work")
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
  setenv("OMP_NUM_THREADS", "1", 1);  // the method is under test
  const std::uint64_t seed = std::random_device()();
  HistoryBench bench(seed);
  const std::unique_ptr<BurstyNeighbour> neighbour =
      a.neighbour == "bursty" ? std::make_unique<BurstyNeighbour>(seed) : nullptr;
  std::vector<int> percents = selftest_order(wanted_histories(a), seed);
  const std::size_t wanted = percents.size();
  double budget = a.full || a.runs > 0 ? 0 : kHistorySeconds;
  if (a.budget > 0) budget = a.budget;
  const auto begin = Clock::now();
  const auto elapsed = [begin] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  if (budget > 0) {
    const double each = bench.seconds_of_run() * kRunsOfHistory / kNightsShare;
    percents.resize(std::min(wanted, static_cast<std::size_t>(std::max(2.0, budget / each))));
  }
  Progress progress(stderr, 0);
  HistorySelftest selftest{.id = bench.id(), .neighbour = a.neighbour, .seconds = 0, .histories = {}};
  selftest.histories = bench.measure(percents, [&](double done, std::size_t judged) {
    const std::string part = judged == 0 ? fmt::format("runs of {} histories", percents.size())
                                         : fmt::format("{} of {} histories", judged, percents.size());
    progress.show_part(part, done, elapsed() * (1 / done - 1));
  });
  selftest.seconds = elapsed();
  const std::vector<HistoryLevel> levels = selftest.levels();
  const auto [claims, code] = history_claims(levels, a.full);
  if (!a.output.empty()) write_file_atomically(a.output, history_selftest_json_text(selftest));
  Report report;
  report.section(fmt::format("{} beside {}, 1 thread, {} histories of {} runs in {:.0f} s, measured; neighbour: {}",
                             selftest.id, kHistoryAnchor, selftest.histories.size(), kRunsOfHistory, selftest.seconds,
                             a.neighbour));
  report.section().blocks.emplace_back(history_table(levels));
  ReportSection& section = report.section();
  for (const std::string& claim : claims) section.paragraph(claim);
  if (selftest.histories.size() < wanted) {
    section.paragraph(fmt::format("there was no time for all {} histories: --full measures them", wanted));
  }
  print_as({}, report);
  return code;
}

}  // namespace convladder

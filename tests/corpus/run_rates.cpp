#include <algorithm>
#include <array>
#include <cmath>

#include "corpus/naive_methods.hpp"
#include "corpus/rates.hpp"
#include "corpus/replay.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

constexpr std::size_t kRunsOfHistory = 16;
const char* const kTarget = "work-100-b";

std::vector<const RunTrace*> chosen(const std::vector<const RunTrace*>& runs, const std::string& name,
                                    const std::string& build) {
  std::vector<const RunTrace*> result;
  std::ranges::copy_if(runs, std::back_inserter(result),
                       [&](const RunTrace* run) { return run->name == name && run->build == build; });
  return result;
}

/// Every run is in one pair of a row at most, so no two pairs share a measurement.
std::vector<RunPair> one_after_the_other(const std::vector<const RunTrace*>& runs) {
  std::vector<RunPair> pairs;
  for (std::size_t i = 0; i + 1 < runs.size(); i += 2) pairs.push_back({runs[i], runs[i + 1]});
  return pairs;
}
std::vector<RunPair> far_apart(const std::vector<const RunTrace*>& runs) {
  std::vector<RunPair> pairs;
  for (std::size_t i = 0; i < runs.size() / 2; ++i) pairs.push_back({runs[i], runs[i + runs.size() / 2]});
  return pairs;
}
std::vector<RunPair> each_with_each(const std::vector<const RunTrace*>& base, const std::vector<const RunTrace*>& now) {
  std::vector<RunPair> pairs;
  for (std::size_t i = 0; i < std::min(base.size(), now.size()); ++i) pairs.push_back({base[i], now[i]});
  return pairs;
}

/// Pairs of runs that differ in one thing.
struct Series {
  std::string machine;
  std::string loads;
  std::string what;
  std::vector<RunPair> pairs;
  std::vector<int> changes;  ///< that are planted, in percent
  std::vector<std::string> controls;
};

std::vector<Series> all_series(const RunsByLoad& runs) {
  std::vector<Series> series;
  const auto add = [&series](Series one) {
    if (!one.pairs.empty()) series.push_back(std::move(one));
  };
  const std::vector<int> every{1, 2, 3, 5, 10};
  for (const auto& [place, all] : runs) {
    const auto& [machine, load] = place;
    const auto work = chosen(all, "known-work", "first");
    const auto first = chosen(all, "convolution", "first");
    add({machine, load, "at once", one_after_the_other(work), every, {}});
    add({machine, load, "later", far_apart(work), {5, 10}, {}});
    add({machine, load, "later, --control", far_apart(work), {5, 10}, {"work-100-a"}});
    add({machine, load, "short calls, later", far_apart(chosen(all, "short-work", "first")), {}, {}});
    add({machine, load, "convolution, later", far_apart(first), {}, {}});
    add({machine,
         load,
         "convolution, relinked",
         each_with_each(first, chosen(all, "convolution", "relinked")),
         {},
         {}});
    for (const auto& [other, others] : runs) {
      if (other.first != machine || other.second == load) continue;
      const auto now = chosen(others, "known-work", "first");
      add({machine, fmt::format("{}, {}", load, other.second), "other load", each_with_each(work, now), {}, {}});
    }
  }
  return series;
}

struct Change {
  int percent;
  std::optional<Planted> planted;
};

std::vector<Change> changes_of(const std::vector<int>& percents) {
  std::vector<Change> changes{{0, std::nullopt}};
  for (const int percent : percents) {
    changes.push_back({percent, Planted{kTarget, fmt::format("work-{}", 100 + percent)}});
  }
  return changes;
}

bool is_change(CaseVerdict verdict) { return verdict == CaseVerdict::regressed || verdict == CaseVerdict::improved; }

std::string change_name(int percent) { return percent == 0 ? "equal" : fmt::format("+{} %", percent); }

std::string share_text(int count, int all) {
  return all == 0 ? "-" : fmt::format("{} ({:.0f} %)", count, 100.0 * count / all);
}

std::vector<std::string> comparison_row(const Series& series, const Change& change) {
  std::map<CaseVerdict, int> verdicts;
  int cases = 0;
  int wrong = 0;
  int elsewhere = 0;
  for (const RunPair& pair : series.pairs) {
    bool called = false;
    bool called_elsewhere = false;
    for (const ComparedCase& one : replay_comparison(pair, series.controls, change.planted)) {
      const bool target = !change.planted || one.variant == change.planted->variant;
      if (!target) {
        called_elsewhere |= is_change(one.verdict);
        continue;
      }
      ++cases;
      ++verdicts[one.verdict];
      called |=
          truth_of(change.percent) == Truth::equal ? is_change(one.verdict) : one.verdict == CaseVerdict::regressed;
    }
    wrong += called ? 1 : 0;
    elsewhere += called_elsewhere ? 1 : 0;
  }
  const int pairs = static_cast<int>(series.pairs.size());
  const int found = verdicts[CaseVerdict::regressed];
  return {series.loads,
          series.what,
          change_name(change.percent),
          std::to_string(pairs),
          std::to_string(cases),
          std::to_string(found),
          std::to_string(verdicts[CaseVerdict::improved]),
          std::to_string(verdicts[CaseVerdict::pass]),
          std::to_string(verdicts[CaseVerdict::inconclusive]),
          change.planted ? std::to_string(elsewhere) : "",
          bound_text(truth_of(change.percent), wrong, found, pairs)};
}

/// How many cases of a row a method calls changed; of planted ones, slower.
struct Called {
  int cases = 0;
  int welch = 0;
  int mann_whitney = 0;
  int fastest = 0;
  int ratio = 0;
  int noise = 0;
  int compare = 0;
};

void add_naive(Called& called, std::span<const double> base, std::span<const double> now, bool only_slower) {
  constexpr double significant = 0.05;
  const double limit = std::log1p(0.02);
  const bool slower = median(now) > median(base);
  const double fastest = change_of_fastest(base, now);
  ++called.cases;
  called.welch += welch_p(base, now) < significant && (slower || !only_slower) ? 1 : 0;
  called.mann_whitney += mann_whitney_p(base, now) < significant && (slower || !only_slower) ? 1 : 0;
  called.fastest += fastest > limit || (!only_slower && -fastest > limit) ? 1 : 0;
  const double ratio = change_of_means(base, now);
  called.ratio += ratio > 0.05 || (!only_slower && ratio < -0.07) ? 1 : 0;  // red and cyan of compare.py
  called.noise += exceeds_smaller_noise(base, now) && (ratio > 0 || !only_slower) ? 1 : 0;
}

Called called_of(const Series& series, const Change& change) {
  Called called;
  for (const RunPair& pair : series.pairs) {
    for (const ComparedCase& one : replay_comparison(pair, series.controls, change.planted)) {
      if (change.planted && one.variant != change.planted->variant) continue;
      add_naive(called, samples_of(*pair.base, one.variant),
                samples_of(*pair.now, change.planted ? change.planted->taken_from : one.variant),
                change.planted.has_value());
      called.compare += one.verdict == CaseVerdict::regressed || (!change.planted && is_change(one.verdict)) ? 1 : 0;
    }
  }
  return called;
}

struct HistoryTally {
  int histories = 0;
  int series = 0;
  int with_mark = 0;
  int found = 0;
  int elsewhere = 0;
};

/// A mark at the planted place, up to a run or two beside it.
bool is_found(const HistorySeries& series, const History& history) {
  return std::ranges::any_of(series.changes, [&](const ChangePoint& change) {
    const auto place = static_cast<int>(series.points[change.first].run);
    return history.marked(change) && change.shift > 0 && std::abs(place - static_cast<int>(kRunsOfHistory / 2)) <= 2;
  });
}

HistoryTally histories_of(const std::vector<std::vector<const RunTrace*>>& blocks, const Change& change) {
  HistoryTally tally;
  for (const std::vector<const RunTrace*>& block : blocks) {
    const History history = replay_history(block, change.planted, kRunsOfHistory / 2);
    bool mark = false;
    bool found = false;
    bool elsewhere = false;
    for (const HistorySeries& series : history.series) {
      const bool marked = std::ranges::any_of(series.changes, [&](const ChangePoint& c) { return history.marked(c); });
      mark |= marked;
      if (change.planted && series.variant == change.planted->variant) {
        found |= is_found(series, history);
      } else {
        elsewhere |= marked;
      }
    }
    ++tally.histories;
    tally.series = history.judged;
    tally.with_mark += mark ? 1 : 0;
    tally.found += found ? 1 : 0;
    tally.elsewhere += elsewhere ? 1 : 0;
  }
  return tally;
}

std::vector<std::string> history_row(const std::string& load, const Change& change, const HistoryTally& tally) {
  const Truth truth = truth_of(change.percent);
  const bool planted = change.planted.has_value();
  // Of a change below tau a mark at its place is no error: it is there.
  const bool has_bound = truth == Truth::equal || truth == Truth::slower;
  return {load,
          change_name(change.percent),
          std::to_string(tally.histories),
          std::to_string(tally.series),
          std::to_string(tally.with_mark),
          planted ? std::to_string(tally.found) : "",
          planted ? std::to_string(tally.elsewhere) : "",
          has_bound ? bound_text(truth, tally.with_mark, tally.found, tally.histories) : ""};
}

/// Disjoint, in the order of time.
std::vector<std::vector<const RunTrace*>> blocks_of(const std::vector<const RunTrace*>& runs, std::size_t size) {
  std::vector<std::vector<const RunTrace*>> blocks;
  for (std::size_t i = 0; i + size <= runs.size(); i += size) {
    blocks.emplace_back(runs.begin() + static_cast<std::ptrdiff_t>(i),
                        runs.begin() + static_cast<std::ptrdiff_t>(i + size));
  }
  return blocks;
}

std::vector<std::string> machines_of(const RunsByLoad& runs) {
  std::vector<std::string> machines;
  for (const auto& [place, all] : runs) {
    if (machines.empty() || machines.back() != place.first) machines.push_back(place.first);
  }
  return machines;
}

}  // namespace

RunsByLoad runs_by_load(const std::vector<TraceSession>& sessions) {
  RunsByLoad runs;
  for (const TraceSession& session : sessions) {
    for (const RunTrace& run : session.runs) runs[{session.machine, session.load}].push_back(&run);
  }
  for (auto& [place, all] : runs) std::ranges::stable_sort(all, {}, &RunTrace::date);
  return runs;
}

std::string comparison_rates(const RunsByLoad& runs) {
  std::string text;
  for (const std::string& machine : machines_of(runs)) {
    std::vector<std::vector<std::string>> rows;
    for (const Series& series : all_series(runs)) {
      if (series.machine != machine) continue;
      for (const Change& change : changes_of(series.changes)) rows.push_back(comparison_row(series, change));
    }
    text += fmt::format("\ncompare, {}\n\n{}", machine,
                        text_table({{"load", "", false},
                                    {"new run", "", false},
                                    {"case", "", false},
                                    {"pairs", "", true},
                                    {"cases", "", true},
                                    {"regressed", "", true},
                                    {"improved", "", true},
                                    {"pass", "", true},
                                    {"inconclusive", "", true},
                                    {"elsewhere", "", true},
                                    {"exact bound", "", false}},
                                   rows, kWidth));
  }
  return text;
}

std::string naive_rates(const RunsByLoad& runs) {
  std::string text;
  for (const std::string& machine : machines_of(runs)) {
    std::vector<std::vector<std::string>> rows;
    for (const Series& series : all_series(runs)) {
      if (series.machine != machine || !series.controls.empty()) continue;
      for (const Change& change : changes_of(series.changes)) {
        if (change.percent != 0 && change.percent != 5) continue;
        const Called called = called_of(series, change);
        rows.push_back({series.loads, series.what, change_name(change.percent), std::to_string(called.cases),
                        share_text(called.welch, called.cases), share_text(called.mann_whitney, called.cases),
                        share_text(called.fastest, called.cases), share_text(called.ratio, called.cases),
                        share_text(called.noise, called.cases), share_text(called.compare, called.cases)});
      }
    }
    text += fmt::format("\nother methods on the pairs of compare, {}\n\n{}", machine,
                        text_table({{"load", "", false},
                                    {"new run", "", false},
                                    {"case", "", false},
                                    {"cases", "", true},
                                    {"Welch", "p < 5 %", true},
                                    {"Mann-Whitney", "p < 5 %", true},
                                    {"fastest", "by 2 %", true},
                                    {"mean", "+5, -7 %", true},
                                    {"mean", "by a noise", true},
                                    {"compare", "", true}},
                                   rows, kWidth));
  }
  return text;
}

std::string history_rates(const RunsByLoad& runs) {
  std::string text;
  for (const std::string& machine : machines_of(runs)) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& [place, all] : runs) {
      if (place.first != machine) continue;
      const auto work = blocks_of(chosen(all, "known-work", "first"), kRunsOfHistory);
      for (const Change& change : changes_of({1, 2, 3, 5, 10})) {
        if (!work.empty()) rows.push_back(history_row(place.second, change, histories_of(work, change)));
      }
      for (const char* const name : {"short-work", "convolution"}) {
        const auto equal = blocks_of(chosen(all, name, "first"), kRunsOfHistory);
        if (equal.empty()) continue;
        const HistoryTally tally = histories_of(equal, {0, std::nullopt});
        rows.push_back(history_row(place.second, {0, std::nullopt}, tally));
        rows.back()[1] = fmt::format("equal, {}", name);
      }
    }
    if (rows.empty()) continue;
    text += fmt::format("\nhistory, {}\n\n{}", machine,
                        text_table({{"load", "", false},
                                    {"case", "", false},
                                    {"histories", "", true},
                                    {"series each", "", true},
                                    {"any mark", "", true},
                                    {"found", "", true},
                                    {"elsewhere", "", true},
                                    {"exact bound", "", false}},
                                   rows, kWidth));
  }
  return text;
}

}  // namespace convladder

// Finds where a series changes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "harness/judge/history/history.hpp"

namespace convladder {
namespace {

std::vector<double> anchor_times(const HistorySeries& series) {
  std::vector<double> times;
  for (const HistoryPoint& point : series.points) {
    if (point.ratio) times.push_back(std::log(point.anchor_ns));
  }
  return times;
}

/// The largest ln(anchor's time) of a quiet run; `times` are those of all runs.
double quiet_limit(std::vector<double> times, std::size_t fewest) {
  const double usual = lower_quartile(times) + std::log1p(kSlowAnchor);
  const std::size_t kept = std::min(times.size(), std::max(fewest, (times.size() + 1) / 2));
  std::ranges::sort(times);
  return std::max(usual, times[kept - 1]);
}

/// Whether enough of the latest runs are quiet to show what changed in them.
bool sees_the_latest(const std::vector<double>& times, double limit) {
  const auto latest = std::span(times).last(static_cast<std::size_t>(kFewestRuns));
  return std::ranges::count_if(latest, [limit](double time) { return time <= limit; }) >=
         static_cast<std::ptrdiff_t>(kShortestLevel);
}

void find_quiet_runs(HistorySeries& series, const History& history) {
  const std::vector<double> times = anchor_times(series);
  const double limit = quiet_limit(times, static_cast<std::size_t>(history.fewest));
  if (!sees_the_latest(times, limit)) return;
  for (HistoryPoint& point : series.points) point.quiet = !point.ratio || std::log(point.anchor_ns) <= limit;
}

/// Moves the beginning of a change back: a run before it that was not judged belongs to the new level if its ratio is
/// there, within half of the change. It shows nothing by itself, but tells where the change began.
void begin_with_runs_not_judged(HistorySeries& series) {
  const auto level = [&series](std::size_t begin, std::size_t end) {
    std::vector<double> values;
    for (std::size_t i = begin; i < end; ++i) {
      if (series.points[i].judged()) values.push_back(std::log(*series.points[i].ratio));
    }
    return median(values);
  };
  for (std::size_t i = 0; i < series.changes.size(); ++i) {
    std::size_t& first = series.changes[i].first;
    const std::size_t end = i + 1 < series.changes.size() ? series.changes[i + 1].first : series.points.size();
    const double before = level(i == 0 ? 0 : series.changes[i - 1].first, first);
    const double after = level(first, end);
    while (!series.points[first - 1].judged()) {
      const std::optional<double>& ratio = series.points[first - 1].ratio;
      if (!ratio || std::fabs(std::log(*ratio) - after) >= std::fabs(after - before) / 2) break;
      --first;
    }
  }
}

}  // namespace

void judge_series(HistorySeries& series, const History& history, std::uint64_t seed) {
  if (!series.not_judged.empty()) return;
  const auto runs = std::ranges::count_if(series.points, [](const HistoryPoint& one) { return one.ratio.has_value(); });
  if (runs < history.fewest) {
    series.not_judged = fmt::format("{} runs; at least {} are needed to show a change among {} series", runs,
                                    history.fewest, history.judged);
    return;
  }
  find_quiet_runs(series, history);
  std::vector<std::size_t> places;
  std::vector<double> values;
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    if (!series.points[i].judged()) continue;
    values.push_back(std::log(*series.points[i].ratio));
    places.push_back(i);
  }
  series.changes = change_points(values, history.series_alpha, seed);
  for (ChangePoint& change : series.changes) change.first = places[change.first];
  begin_with_runs_not_judged(series);
  const auto is_marked = [&history](const ChangePoint& change) { return history.marked(change); };
  if (std::ranges::none_of(series.changes, is_marked)) series.p = change_p(values, history.series_alpha, seed);
}

}  // namespace convladder

#include "harness/judge/history/history_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "harness/judge/compare/change_text.hpp"
#include "support/reasons.hpp"
#include "support/units.hpp"

namespace convladder {

namespace {

std::string series_name(const HistorySeries& series) {
  return series.number == 1 ? series.id : fmt::format("{} #{}", series.id, series.number);
}

/// A series' name in words between which a table can break lines: "memory-accumulation lenet72.conv2/1000 cpu #2".
std::string series_words(const HistorySeries& series) {
  return fmt::format("{} {}.{}/{} {}{}", series.variant, series.network, series.layer, series.batch, series.device,
                     series.number == 1 ? std::string() : fmt::format(" #{}", series.number));
}

/// A ratio with three significant digits.
std::string ratio_text(double ratio) {
  if (ratio < 0.1 || ratio >= 1e5) return fmt::format("{:.3g}", ratio);
  return fmt::format("{:.{}f}", ratio, ratio < 0.9995 ? 3 : ratio < 9.995 ? 2 : ratio < 99.95 ? 1 : 0);
}

std::string percent_text(double logarithm) { return fmt::format("{:+.1f}", percent(logarithm)); }

std::vector<const ChangePoint*> marked(const History& history, const HistorySeries& series) {
  std::vector<const ChangePoint*> result;
  for (const ChangePoint& change : series.changes) {
    if (history.marked(change)) result.push_back(&change);
  }
  return result;
}

const ChangePoint* greatest(const std::vector<const ChangePoint*>& changes) {
  const auto most = std::ranges::max_element(changes, {}, [](const ChangePoint* one) { return std::fabs(one->shift); });
  return most == changes.end() ? nullptr : *most;
}

/// The latest ratio relative to the median of those before it: observed, it shows nothing by itself.
std::optional<double> latest_against_before(const HistorySeries& series) {
  std::vector<double> ratios;
  for (const HistoryPoint& point : series.points) {
    if (point.ratio) ratios.push_back(std::log(*point.ratio));
  }
  if (ratios.size() < 2) return std::nullopt;
  return ratios.back() - median(std::span(ratios).first(ratios.size() - 1));
}

std::string change_text(const History& history, const HistorySeries& series, const ChangePoint& change) {
  const HistoryRun& after = history.run(series.points[change.first]);
  const HistoryRun& before = history.run_before(series, change);
  const auto index = static_cast<std::size_t>(&change - series.changes.data());
  return fmt::format(
      "{}% from {}, commit {} (before it {}, commit {}), p = {:.2g}; the anchor's own time changed by {}%",
      percent_text(change.shift), after.date, after.commit_text(), before.date, before.commit_text(), change.p,
      percent_text(History::anchor_shift(series, index)));
}

std::vector<std::string> row(const History& history, const HistorySeries& series) {
  const std::vector<const ChangePoint*> changes = marked(history, series);
  const ChangePoint* const most = greatest(changes);
  const HistoryPoint& latest = series.points.back();
  const std::optional<double> moved = latest_against_before(series);
  std::string ratio = latest.ratio ? ratio_text(*latest.ratio) : std::string();
  if (series.is_anchor()) ratio = "anchor";
  return {series_words(series),
          fmt::format("{}", series.points.size()),
          time_text(latest.median_ns),
          ratio,
          moved ? percent_text(*moved) : std::string(),
          most == nullptr ? std::string() : percent_text(most->shift),
          most == nullptr ? std::string() : history.run(series.points[most->first]).commit_text()};
}

const std::vector<TextColumn>& columns() {
  static const std::vector<TextColumn> all = {{.title = "case", .unit = "", .number = false},
                                              {.title = "runs", .unit = "", .number = true},
                                              {.title = "latest", .unit = "", .number = true},
                                              {.title = "of anchor", .unit = "×", .number = true},
                                              {.title = "latest to before", .unit = "%", .number = true},
                                              {.title = "changed", .unit = "%", .number = true},
                                              {.title = "since", .unit = "", .number = false}};
  return all;
}

std::string summary(const History& history) {
  const std::vector<HistoryRun>& runs = history.from.runs;
  std::vector<std::string> commits;
  for (const HistoryRun& run : runs) commits.push_back(run.commit_text());
  std::ranges::sort(commits);
  commits.erase(std::unique(commits.begin(), commits.end()), commits.end());
  std::size_t changes = 0;
  for (const HistorySeries& series : history.series) changes += marked(history, series).size();
  return fmt::format("{} of {} from {} to {}: {}, measured; {} marked", plural(runs.size(), "run"),
                     plural(commits.size(), "commit"), runs.front().date, runs.back().date,
                     plural(history.series.size(), "series", "series"), plural(changes, "change"));
}

/// An anchor's times: "onednn beside lenet28.conv1/10 on cpu: 510 µs to 530 µs over 12 runs, latest 515 µs".
std::string anchor_text(const HistorySeries& series) {
  std::vector<double> medians;
  for (const HistoryPoint& point : series.points) medians.push_back(point.median_ns);
  const auto [low, high] = std::ranges::minmax(medians);
  return fmt::format("{}: {} to {} over {}, latest {}", series_name(series), time_text(low), time_text(high),
                     plural(medians.size(), "run"), time_text(medians.back()));
}

/// The sections of marked changes, of the anchors' own times, of new series and of files that could not be read.
void add_parts(Report& report, const History& history) {
  ReportSection changed{"changed"};
  ReportSection anchors{"anchors, their own times"};
  ReportSection anew{"new series, because it cannot be compared with the runs before"};
  ReportSection unreadable{"not read"};
  Reasons splits;
  for (const HistorySeries& series : history.series) {
    std::vector<std::string> changes;
    for (const ChangePoint* const one : marked(history, series)) changes.push_back(change_text(history, series, *one));
    if (!changes.empty()) changed.entry(fmt::format("{}, beside {}", series_name(series), series.anchor), changes);
    if (series.is_anchor()) anchors.entry(anchor_text(series), {});
    if (series.split.empty()) continue;
    const HistoryRun& first = history.run(series.points.front());
    splits.add(fmt::format("since {}, commit {}: {}", first.date, first.commit_text(), fmt::join(series.split, "; ")),
               series_name(series));
  }
  for (const auto& [reason, ids] : splits.groups()) anew.entry(fmt::format("{}", fmt::join(ids, ", ")), {reason});
  for (const std::string& line : history.from.unreadable) unreadable.entry(line, {});
  for (ReportSection* const one : {&changed, &anchors, &anew, &unreadable}) {
    if (!one->blocks.empty()) report.sections.push_back(std::move(*one));
  }
}

}  // namespace

std::vector<std::string> history_notes(const History& history) {
  std::vector<std::string> lines;
  const double tau = history.options.tau * 100;
  if (history.judged > 0) {
    lines.push_back(fmt::format(
        "a change is marked if its permutation test has p of at most {:.2g} (alpha {:g} shared by {} judged series), "
        "and "
        "if it is {:g}% or more; that takes {} runs. Among runs of the same program, a mark appears in "
        "{:g}% "
        "of histories at most, as long as the ratios do not depend on the order of the runs",
        history.series_alpha, history.options.alpha, history.judged, tau, history.fewest, history.options.alpha * 100));
  }
  std::size_t small = 0;
  for (const HistorySeries& series : history.series) small += series.changes.size() - marked(history, series).size();
  if (small > 0) {
    lines.push_back(fmt::format("{} below {:g}% not marked", plural(small, "change is", "changes are"), tau));
  }
  std::map<std::string, std::size_t> not_judged;
  for (const HistorySeries& series : history.series) {
    if (!series.not_judged.empty() && !series.is_anchor()) ++not_judged[series.not_judged];
  }
  for (const auto& [why, count] : not_judged) {
    lines.push_back(fmt::format("{} not judged: {}", plural(count, "series", "series"), why));
  }
  std::size_t points = 0;
  std::size_t slow = 0;
  for (const HistorySeries& series : history.series) {
    for (const HistoryPoint& point : series.points) {
      points += point.ratio && series.not_judged.empty() ? 1 : 0;
      slow += point.quiet ? 0 : 1;
    }
  }
  if (slow > 0) {
    lines.push_back(
        fmt::format("{} of {} ratios not judged: the anchor took over {:g}% more in that run than it usually "
                    "does, so something else slowed the machine",
                    slow, points, kSlowAnchor * 100));
  }
  const auto incomplete =
      std::ranges::count_if(history.from.runs, [](const HistoryRun& one) { return !one.run.complete; });
  if (incomplete > 0) {
    lines.push_back(fmt::format("{} not complete: interrupted or still running",
                                plural(static_cast<std::size_t>(incomplete), "run is", "runs are")));
  }
  const auto dirty = std::ranges::any_of(history.from.runs, &HistoryRun::dirty);
  if (dirty) lines.emplace_back("+ after a commit: the tree had uncommitted changes");
  std::ranges::copy(history.from.repeated, std::back_inserter(lines));
  return lines;
}

Report history_report(const History& history) {
  Report report;
  report.section().paragraph("", "", summary(history));
  const std::vector<std::string> notes = history_notes(history);
  report.section("", Shown::in_markdown).notes(notes);
  std::vector<std::vector<std::string>> rows;
  for (const HistorySeries& series : history.series) rows.push_back(row(history, series));
  report.section().table(columns(), std::move(rows));
  add_parts(report, history);
  report.section("", Shown::in_text).notes(notes);
  return report;
}

}  // namespace convladder

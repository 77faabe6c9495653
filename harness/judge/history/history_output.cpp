#include "harness/judge/history/history_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "harness/judge/compare/change_text.hpp"
#include "harness/measure/statistics/interval_json.hpp"
#include "support/json_null.hpp"
#include "support/markdown.hpp"
#include "support/text_table.hpp"
#include "support/units.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

/// A run's commit: "012345678", with a "+" where the tree was changed.
std::string commit_text(const HistoryRun& run) { return run.commit.substr(0, 9) + (run.dirty ? "+" : ""); }

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

std::string percent_text(double logarithm) { return fmt::format("{:+.1f}", std::expm1(logarithm) * 100); }

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

/// The latest ratio relative to the median of those before it: observed, nothing is proved by it.
std::optional<double> latest_against_before(const HistorySeries& series) {
  std::vector<double> ratios;
  for (const HistoryPoint& point : series.points) {
    if (point.ratio) ratios.push_back(std::log(*point.ratio));
  }
  if (ratios.size() < 2) return std::nullopt;
  return ratios.back() - median(std::span(ratios).first(ratios.size() - 1));
}

/// The run before a change: the last one that was judged.
const HistoryRun& run_before(const History& history, const HistorySeries& series, const ChangePoint& change) {
  std::size_t before = change.first;
  do --before;
  while (before > 0 && !series.points[before].judged());
  return history.run(series.points[before]);
}

std::string change_text(const History& history, const HistorySeries& series, const ChangePoint& change) {
  const HistoryRun& after = history.run(series.points[change.first]);
  const HistoryRun& before = run_before(history, series, change);
  const auto index = static_cast<std::size_t>(&change - series.changes.data());
  return fmt::format(
      "{}% from {}, commit {} (before it {}, commit {}), p = {:.2g}; the anchor's own time changed by {}%",
      percent_text(change.shift), after.date, commit_text(after), before.date, commit_text(before), change.p,
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
          most == nullptr ? std::string() : commit_text(history.run(series.points[most->first]))};
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
  for (const HistoryRun& run : runs) commits.push_back(commit_text(run));
  std::ranges::sort(commits);
  commits.erase(std::unique(commits.begin(), commits.end()), commits.end());
  std::size_t changes = 0;
  for (const HistorySeries& series : history.series) changes += marked(history, series).size();
  return fmt::format("{} of {} from {} to {}: {}, measured; {} marked", plural(runs.size(), "run"),
                     plural(commits.size(), "commit"), runs.front().date, runs.back().date,
                     plural(history.series.size(), "series", "series"), plural(changes, "change"));
}

std::vector<std::string> notes(const History& history) {
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

/// An anchor's times: "onednn beside lenet28.conv1/10 on cpu: 510 µs to 530 µs over 12 runs, latest 515 µs".
std::string anchor_text(const HistorySeries& series) {
  std::vector<double> medians;
  for (const HistoryPoint& point : series.points) medians.push_back(point.median_ns);
  const auto [low, high] = std::ranges::minmax(medians);
  return fmt::format("{}: {} to {} over {}, latest {}", series_name(series), time_text(low), time_text(high),
                     plural(medians.size(), "run"), time_text(medians.back()));
}

/// The series that began anew, grouped by reason: "since DATE, commit C: reason", and the ids.
IdsByReason splits(const History& history) {
  IdsByReason all;
  for (const HistorySeries& series : history.series) {
    if (series.split.empty()) continue;
    const HistoryRun& first = history.run(series.points.front());
    add_id(all, fmt::format("since {}, commit {}: {}", first.date, commit_text(first), fmt::join(series.split, "; ")),
           series_name(series));
  }
  return all;
}

ordered_json point_json(const HistoryPoint& point) {
  return {{"run", point.run},
          {"median_ns", point.median_ns},
          {"anchor_lower_quartile_ns", point.ratio ? ordered_json(point.anchor_ns) : ordered_json()},
          {"interval_ns", interval_json(point.interval)},
          {"samples", point.samples},
          {"ratio", or_null(point.ratio)},
          {"ratio_interval", interval_json(point.ratio_interval)},
          {"quiet", point.quiet}};
}

ordered_json series_json(const History& history, const HistorySeries& series) {
  ordered_json points = ordered_json::array();
  for (const HistoryPoint& point : series.points) points.push_back(point_json(point));
  ordered_json changes = ordered_json::array();
  for (std::size_t i = 0; i < series.changes.size(); ++i) {
    const ChangePoint& change = series.changes[i];
    changes.push_back({{"point", change.first},
                       {"run", series.points[change.first].run},
                       {"change", std::expm1(change.shift)},
                       {"anchor_change", std::expm1(History::anchor_shift(series, i))},
                       {"p", change.p},
                       {"marked", history.marked(change)}});
  }
  return {{"id", series.id},
          {"number", series.number},
          {"device", series.device},
          {"network", series.network},
          {"layer", series.layer},
          {"batch", series.batch},
          {"variant", series.variant},
          {"rung", series.rung == 0 ? ordered_json() : ordered_json(series.rung)},
          {"of", series.of},
          {"cache", text_or_null(series.cache)},
          {"hardware", series.hardware},
          {"host", text_or_null(series.host)},
          {"anchor", text_or_null(series.anchor)},
          {"split", series.split},
          {"not_judged", text_or_null(series.not_judged)},
          {"p", or_null(series.p)},
          {"points", std::move(points)},
          {"changes", std::move(changes)}};
}

}  // namespace

std::string history_text(const History& history) {
  std::string text = indented(summary(history), 0) + '\n';
  std::vector<std::vector<std::string>> rows;
  for (const HistorySeries& series : history.series) rows.push_back(row(history, series));
  text += text_table(columns(), rows, kTextColumns);
  const auto section = [&text](const char* title, const std::string& lines) {
    if (!lines.empty()) text += fmt::format("\n{}\n{}", title, lines);
  };
  std::string changes;
  std::string anchors;
  for (const HistorySeries& series : history.series) {
    const std::vector<const ChangePoint*> of_series = marked(history, series);
    if (!of_series.empty()) changes += indented(fmt::format("{}, beside {}", series_name(series), series.anchor), 2);
    for (const ChangePoint* const change : of_series) changes += indented(change_text(history, series, *change), 6);
    if (series.is_anchor()) anchors += indented(anchor_text(series), 2);
  }
  section("changed", changes);
  section("anchors, their own times", anchors);
  std::string anew;
  for (const auto& [reason, ids] : splits(history)) {
    anew += indented(fmt::format("{}", fmt::join(ids, ", ")), 2) + indented(reason, 6);
  }
  section("new series, because it cannot be compared with the runs before", anew);
  std::string unreadable;
  for (const std::string& line : history.from.unreadable) unreadable += indented(line, 2);
  section("not read", unreadable);
  text += '\n';
  text += notes_text(notes(history));
  return text;
}

std::string history_markdown(const History& history) {
  std::string text = fmt::format("**{}**\n\n", markdown_text(summary(history)));
  text += markdown_list(notes(history));
  std::vector<std::vector<std::string>> rows;
  for (const HistorySeries& series : history.series) rows.push_back(row(history, series));
  text += '\n' + markdown_table(columns(), rows);
  const auto section = [&text](const char* title, const std::vector<std::string>& lines) {
    if (!lines.empty()) text += fmt::format("\n{}\n\n{}", title, markdown_list(lines));
  };
  std::vector<std::string> changes;
  std::vector<std::string> anchors;
  for (const HistorySeries& series : history.series) {
    for (const ChangePoint* const change : marked(history, series)) {
      changes.push_back(
          fmt::format("{}, beside {}: {}", series_name(series), series.anchor, change_text(history, series, *change)));
    }
    if (series.is_anchor()) anchors.push_back(anchor_text(series));
  }
  section("Changed:", changes);
  section("Anchors, their own times:", anchors);
  std::vector<std::string> anew;
  for (const auto& [reason, ids] : splits(history)) {
    anew.push_back(fmt::format("{}: {}", fmt::join(ids, ", "), reason));
  }
  section("New series, because these cannot be compared with the runs before:", anew);
  section("Not read:", history.from.unreadable);
  return text;
}

ordered_json history_json(const History& history) {
  ordered_json runs = ordered_json::array();
  for (const HistoryRun& run : history.from.runs) {
    runs.push_back({{"file", run.run.file},
                    {"date", run.date},
                    {"commit", run.commit},
                    {"dirty", run.dirty},
                    {"host", run.host},
                    {"complete", run.run.complete}});
  }
  ordered_json series = ordered_json::array();
  for (const HistorySeries& one : history.series) series.push_back(series_json(history, one));
  return {{"kind", "history"},        {"alpha", history.options.alpha}, {"series_alpha", history.series_alpha},
          {"judged", history.judged}, {"tau", history.options.tau},     {"fewest_runs", history.fewest},
          {"runs", std::move(runs)},  {"series", std::move(series)},    {"unreadable", history.from.unreadable},
          {"notes", notes(history)}};
}

}  // namespace convladder

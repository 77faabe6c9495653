#include "harness/judge/history/history_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/judge/history/history_output.hpp"
#include "harness/measure/cases/figures_json.hpp"
#include "harness/measure/records/case_json.hpp"
#include "harness/measure/records/record_context_json.hpp"
#include "support/errors.hpp"
#include "support/json_place.hpp"
#include "support/json_text.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

ordered_json kept_case(const RecordedCase& one) {
  ordered_json json = {{"id", one.id},          {"variant", one.variant}, {"rung", or_null(one.rung)},
                       {"device", one.device},  {"network", one.network}, {"layer", one.layer},
                       {"batch", one.batch},    {"status", one.status},   {"reason", one.reason},
                       {"input", one.input},    {"choice", one.choice},   {"shape", shape_json(one.shape)},
                       {"session", one.session}};
  if (!one.leaves_out.empty()) json["leaves_out"] = one.leaves_out;
  if (one.time) json["time"] = {{"of", one.time->of}, {"cache", one.time->cache}, {"samples", one.time->samples}};
  return json;
}

/// A run as a record with the fields that a history needs.
ordered_json kept_record(const RecordedRun& run) {
  ordered_json cases = ordered_json::array();
  for (const RecordedCase& one : run.cases) cases.push_back(kept_case(one));
  return {{"schema_version", kRunSchemaVersion},
          {"kind", "run"},
          {"complete", run.complete},
          {"context", context_json(run.context)},
          {"cases", std::move(cases)}};
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
  return {{"kind", "history"},
          {"alpha", history.options.alpha},
          {"series_alpha", history.series_alpha},
          {"judged", history.judged},
          {"tau", history.options.tau},
          {"fewest_runs", history.fewest},
          {"runs", std::move(runs)},
          {"series", std::move(series)},
          {"unreadable", history.from.unreadable},
          {"notes", history_notes(history)}};
}

ordered_json alarms_json(const History& history, const ConfirmedAlarms& confirmed) {
  ordered_json alarms = ordered_json::array();
  for (const Alarm& alarm : confirmed.alarms) {
    const HistorySeries& series = alarm.in(history);
    alarms.push_back({{"id", series.id},
                      {"number", series.number},
                      {"slower", alarm.slower},
                      {"marked", alarm.suspected() ? ordered_json() : ordered_json(std::expm1(*alarm.mark(history)))},
                      {"p", alarm.suspected() ? *series.p : series.changes[*alarm.change].p},
                      {"outcome", outcome_name(alarm.outcome)},
                      {"reason", text_or_null(alarm.reason)},
                      {"measured_again", change_json(alarm.change_again)},
                      {"base_commit", alarm.before(history).commit},
                      {"new_commit", alarm.latest(history).commit}});
  }
  return {{"alpha", kConfirmAlpha}, {"alarms", std::move(alarms)}, {"notes", confirmed.notes}};
}

ordered_json measured_history_json(const MeasuredHistory& one) {
  const ordered_json none;
  return {{"extra_percent", one.extra_percent},
          {"ratios", one.ratios},
          {"samples_ns", one.samples},
          {"marked", one.marked},
          {"suspected", one.only_suspected()},
          {"slower", one.measured_again ? ordered_json(one.slower) : none},
          {"outcome", one.measured_again ? ordered_json(outcome_name(one.outcome)) : none},
          {"measured_again", one.again}};
}

}  // namespace

IndexLine parse_index_line(std::string_view line) {
  if (!line.starts_with(kIndexBeginning)) throw UserError("index: expected a line of an index");
  const ordered_json json = parse_record_json(line, "index");
  const JsonPlace place(json, "index");
  FileState state{.path = place.at("path").text(),
                  .size = place.at("size").whole<std::uint64_t>(),
                  .modified_ns = place.at("modified_ns").whole<std::int64_t>(),
                  .inode = place.at("inode").whole<std::uint64_t>()};
  RecordedRun run = recorded_run_of(place.at("record").json(), state.path);
  return {.state = std::move(state), .run = std::move(run)};
}

std::string index_line(const FileState& state, const RecordedRun& run) {
  const ordered_json line = {{"convladder_history_index", 1},    {"path", state.path},   {"size", state.size},
                             {"modified_ns", state.modified_ns}, {"inode", state.inode}, {"record", kept_record(run)}};
  return json_line(line) + '\n';  // with a name that is not UTF-8 it is never found again
}

std::string kept_text(const RecordedRun& run) { return json_line(kept_record(run)); }

std::string history_json_text(const History& history, const std::optional<ConfirmedAlarms>& confirmed) {
  ordered_json json = history_json(history);
  if (confirmed) json["confirmed"] = alarms_json(history, *confirmed);
  return json_text(json);
}

std::string history_selftest_json_text(const HistorySelftest& selftest) {
  ordered_json levels = ordered_json::array();
  for (const HistoryLevel& level : selftest.levels()) {
    levels.push_back({{"extra_percent", level.extra_percent},
                      {"histories", level.histories},
                      {"marked", level.marked},
                      {"suspected", level.suspected},
                      {"confirmed", level.alarms},
                      {"cannot_be_told", level.open},
                      {"confirmed_low", level.bounds.low},
                      {"confirmed_high", level.bounds.high}});
  }
  ordered_json histories = ordered_json::array();
  for (const MeasuredHistory& one : selftest.histories) histories.push_back(measured_history_json(one));
  return json_text({{"schema_version", "1.0"},
                    {"kind", "history selftest"},
                    {"case", selftest.id},
                    {"anchor", kHistoryAnchor},
                    {"runs_of_a_history", kRunsOfHistory},
                    {"changed_at", kUnchangedRuns},
                    {"neighbour", selftest.neighbour},
                    {"seconds", selftest.seconds},
                    {"levels", std::move(levels)},
                    {"histories", std::move(histories)}});
}

}  // namespace convladder

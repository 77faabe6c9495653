#include "harness/judge/ranking/rank_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/measure/plan/not_run.hpp"
#include "harness/measure/records/case_json.hpp"
#include "harness/measure/records/recorded_run.hpp"
#include "harness/measure/statistics/interval_json.hpp"
#include "harness/measure/statistics/statistics.hpp"
#include "harness/measure/sweep/sweep_score.hpp"
#include "support/json_null.hpp"
#include "support/printable.hpp"
#include "support/sha256.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr NumberRange kTimes{.least = kAboveZero, .most = 1e18, .unit = "ns"};

/// The settings of measuring, without those that cannot change a figure.
ordered_json settings_json(const RankOptions& options) {
  const RunOptions& run = options.run;
  return {{"seed", run.seed},
          {"budget_seconds", run.budget_seconds},
          {"sample_milliseconds", run.sample_milliseconds},
          {"rounds", run.max_samples},
          {"fewest_rounds", run.fewest_samples},
          {"timeout_seconds", or_null(run.timeout_seconds)},
          {"limit_seconds", options.limit_seconds},
          {"gpu", options.gpu}};
}

ordered_json time_of(const CaseOutcome* outcome) {
  if (outcome == nullptr || outcome->status != Status::ok || outcome->times.empty()) return nullptr;
  const TimeSeries& series = outcome->times.front();
  ordered_json json = measured_json(series.of, series.samples);
  json["iterations_per_sample"] = series.iterations;
  return json;
}

/// The predicted range on that GPU; null where there is no prediction, or it cannot be launched there.
ordered_json predicted_on(const std::string& gpu, const std::vector<PredictedFigure>& predictions) {
  const auto found = std::ranges::find(predictions, gpu, &PredictedFigure::gpu);
  if (found == predictions.end() || !found->runs()) return nullptr;
  return {{"gpu", gpu},
          {"unit", "ns"},
          {"low", *found->low_ns},
          {"high", *found->high_ns},
          {"binding_low", found->binding_low},
          {"binding_high", found->binding_high}};
}

ordered_json counted_json(const std::optional<CaseCounters>& counters) {
  if (!counters) return nullptr;
  ordered_json totals = ordered_json::object();
  for (const auto& [name, value] : counters->totals) totals[name] = value;
  return {{"cycles", multiprocessor_cycles(counters->totals)}, {"totals", std::move(totals)}};
}

/// The figure that tables show for a case: nanoseconds or cycles.
std::optional<double> figure_of(const RankCase& one, const std::string& figures, bool has_samples) {
  if (one.status != Status::ok) return std::nullopt;
  if (has_samples) return one.samples.empty() ? std::nullopt : std::optional(median(one.samples));
  if (figures == "counted") return one.cycles;
  if (!one.predicted) return std::nullopt;
  return std::sqrt(one.predicted->low * one.predicted->high);
}

/// The speed on one size, relative to the baseline's time: the one measured beside it, otherwise that of the baseline's
/// case.
RankedSize size_of(const RankCase& one, const RankCase* yardstick, const std::string& figures, bool has_samples,
                   double level) {
  RankedSize size;
  size.figure = figure_of(one, figures, has_samples);
  if (!size.figure) return size;
  if (has_samples) {
    const std::vector<double>& beside = one.beside.empty() ? one.samples : one.beside;  // the baseline is beside itself
    const auto speed = measured_speed(beside, one.samples, level);
    if (!speed) return size;
    size.speed = speed->log;
    size.level = speed->level;
    size.rounds = speed->rounds;
    size.yardstick_figure = median(beside);
    return size;
  }
  size.yardstick_figure = yardstick == nullptr ? std::nullopt : figure_of(*yardstick, figures, false);
  if (!size.yardstick_figure) return size;
  if (figures == "counted") {
    const double log = std::log(*size.yardstick_figure / *size.figure);
    size.speed = LogSpeed{log, log, log};
  } else {
    size.speed = modelled_speed(*yardstick->predicted, *one.predicted);
  }
  return size;
}

const RankCase* find_case(const RankCases& cases, const RankEntry& entry, std::size_t size) {
  if (size >= entry.cases.size()) return nullptr;
  const auto found = cases.find(entry.cases[size].id);
  return found == cases.end() ? nullptr : &found->second;
}

/// Sets the row's status: that of the first failure, or without one, that of the first size that was not run.
void take_status(RankRow& row, const RankingPlan& plan, const RankCases& cases) {
  const RankEntry& entry = *row.entry;
  if (!entry.broken.empty()) {
    row.status = Status::does_not_compile;
    row.reason = entry.broken;
    return;
  }
  std::size_t missing = 0;
  for (const bool failures : {true, false}) {
    for (std::size_t i = 0; i < plan.sizes.size(); ++i) {
      const RankCase* const one = find_case(cases, entry, i);
      if (one == nullptr) continue;
      if (one->status == Status::ok || is_failure(one->status) != failures) continue;
      if (++missing > 1) continue;
      row.status = one->status;
      row.reason = plan.sizes.size() > 1 ? fmt::format("{}: {}", plan.sizes[i].layer, one->reason) : one->reason;
    }
    if (missing > 0) return;
  }
}

ordered_json speed_json(const std::optional<LogSpeed>& speed) {
  if (!speed) return nullptr;
  return {{"value", std::exp(speed->estimate)}, {"low", std::exp(speed->low)}, {"high", std::exp(speed->high)}};
}

ordered_json row_json(const RankRow& row, const RankResult& result) {
  ordered_json sizes = ordered_json::array();
  for (std::size_t i = 0; i < row.sizes.size(); ++i) {
    const RankedSize& one = row.sizes[i];
    sizes.push_back({{"size", result.plan->sizes[i].layer},
                     {"figure", or_null(one.figure)},
                     {"yardstick_figure", or_null(one.yardstick_figure)},
                     {"speed", speed_json(one.speed)},
                     {"level", one.rounds > 0 ? ordered_json(one.level) : ordered_json()},
                     {"rounds", one.rounds > 0 ? ordered_json(one.rounds) : ordered_json()}});
  }
  return {{"rank", or_null(row.rank)},
          {"shared", row.shares_rank},
          {"name", row.entry->name},
          {"role", role_name(row.entry->role)},
          {"is_yardstick", row.is_yardstick},
          {"file", row.entry->file},
          {"content", text_or_null(row.entry->content)},
          {"same_as", text_or_null(row.same_as)},
          {"status", row.status},
          {"reason", text_or_null(row.reason)},
          {"speed", speed_json(row.speed)},
          {"sizes", std::move(sizes)}};
}

}  // namespace

ordered_json made_of_json(const RankPlan& plan, const RankEntry& entry, const std::string& yardstick,
                          const RankOptions& options) {
  const std::string settings = settings_json(options).dump();
  return {{"source", entry.content},
          {"problem", plan.problem_hash},
          {"yardstick", text_or_null(yardstick)},
          {"settings", sha256_hex(settings)}};
}

ordered_json rank_case_json(const RankEntry& entry, const PlannedCase& planned, const RankedOutcome& ranked,
                            ordered_json made_of, const std::string& gpu) {
  const CaseOutcome& outcome = *ranked.outcome;
  const RecordedCase figures = recorded_case(planned, outcome);
  return {{"id", planned.id},
          {"name", entry.name},
          {"role", role_name(entry.role)},
          {"family", planned.variant.info.family},
          {"device", planned.device},
          {"size", planned.work.layer},
          {"status", outcome.status},
          {"reason", text_or_null(printable(outcome.reason))},
          {"made_of", std::move(made_of)},
          {"keep", ranked.keep},
          {"seconds", ranked.seconds},
          {"verification", verification_json(outcome.verification)},
          {"time", time_of(&outcome)},
          {"yardstick", text_or_null(ranked.yardstick)},
          {"yardstick_time", time_of(ranked.beside)},
          {"predicted", predicted_on(gpu, figures.predictions)},
          {"counted", counted_json(figures.counters)},
          {"quality", quality_json(outcome.quality)}};
}

RankCase read_rank_case(const JsonPlace& place) {
  RankCase one;
  one.status = read_status(place.at("status"));
  one.reason = printable(place.at("reason").text_or_empty());
  const auto samples = [&](const char* field) {
    return place.has(field) ? place.at(field).at("samples").numbers(kTimes) : std::vector<double>();
  };
  one.samples = samples("time");
  one.beside = samples("yardstick_time");
  if (place.has("predicted")) {
    const JsonPlace predicted = place.at("predicted");
    one.predicted = FigureRange{predicted.at("low").number(kTimes), predicted.at("high").number(kTimes)};
  }
  if (place.has("counted")) one.cycles = place.at("counted").at("cycles").number({.least = kAboveZero});
  static_cast<void>(place.at("made_of").object());
  static_cast<void>(place.at("keep").truth());
  return one;
}

void check_rank_record(const ordered_json& record, const std::string& file) {
  const JsonPlace json(record, file);
  for (const JsonPlace& one : json.at("cases").list()) static_cast<void>(read_rank_case(one));
  static_cast<void>(json.at("context").at("sessions").list());
}

RankCases rank_cases(const Record& record) {
  RankCases cases;
  for (const auto& [id, json] : record.cases_by_id())
    cases.emplace(id, read_rank_case(JsonPlace(*json, printable(id))));
  return cases;
}

RankResult result_of(const RankingPlan& plan, const std::optional<Yardstick>& yardstick, const RankCases& cases,
                     double tau) {
  RankResult result;
  result.plan = &plan;
  result.figures = yardstick ? yardstick->figures : plan.figures();
  if (yardstick) {
    const auto& entries = yardstick->role == RankRole::submission ? plan.submissions : plan.own;
    result.yardstick = &entries[yardstick->entry];
  }
  const double level = level_of_each(kRankLevel, plan.sizes.size());
  std::vector<RankRow> rows;
  std::vector<Contender> contenders;
  std::map<std::string, std::string> seen;  // by content, the submission that had it first
  for (const RankEntry& entry : plan.submissions) {
    RankRow row;
    row.entry = &entry;
    row.is_yardstick = &entry == result.yardstick;
    take_status(row, plan, cases);
    if (!entry.content.empty()) {
      const auto [first, is_new] = seen.try_emplace(entry.content, entry.name);
      if (!is_new) row.same_as = first->second;
    }
    Contender contender{.name = entry.name, .sizes = {}, .has_failed = is_failure(row.status)};
    for (std::size_t i = 0; i < plan.sizes.size(); ++i) {
      const RankCase* const one = find_case(cases, entry, i);
      const RankCase* const beside = result.yardstick == nullptr ? nullptr : find_case(cases, *result.yardstick, i);
      row.sizes.push_back(one == nullptr || result.yardstick == nullptr
                              ? RankedSize()
                              : size_of(*one, beside, result.figures, plan.has_clock, level));
      contender.sizes.push_back(row.sizes.back().speed);
    }
    rows.push_back(std::move(row));
    contenders.push_back(std::move(contender));
  }
  for (const RankedContender& one : ranked(contenders, tau)) {
    RankRow& row = rows[one.contender];
    row.rank = one.rank;
    row.shares_rank = one.shares_rank;
    row.speed = one.speed;
    result.rows.push_back(std::move(row));
  }
  if (result.yardstick == nullptr || result.yardstick->role == RankRole::submission) return result;
  // Adds a line for the baseline, where it belongs.
  RankRow row;
  row.entry = result.yardstick;
  row.is_yardstick = true;
  row.speed = LogSpeed{};
  for (std::size_t i = 0; i < plan.sizes.size(); ++i) {
    const RankCase* const own = find_case(cases, *result.yardstick, i);
    RankedSize size;
    if (own != nullptr) size.figure = size.yardstick_figure = figure_of(*own, result.figures, plan.has_clock);
    size.speed = LogSpeed{};
    row.sizes.push_back(size);
  }
  const auto slower = std::ranges::find_if(
      result.rows, [](const RankRow& other) { return !other.rank || !(other.speed->estimate > 0); });
  result.rows.insert(slower, std::move(row));
  return result;
}

ordered_json rankings_json(const std::vector<RankResult>& results, const RankOptions& options) {
  ordered_json list = ordered_json::array();
  for (const RankResult& result : results) {
    ordered_json sizes = ordered_json::array();
    for (const LayerWork& size : result.plan->sizes) sizes.push_back(size.layer);
    ordered_json yardstick;
    if (result.yardstick != nullptr) {
      yardstick = {{"name", result.yardstick->name},
                   {"role", role_name(result.yardstick->role)},
                   {"file", result.yardstick->file}};
    }
    ordered_json rows = ordered_json::array();
    for (const RankRow& row : result.rows) rows.push_back(row_json(row, result));
    const bool is_time = result.figures != "counted";
    list.push_back({{"family", result.plan->family},
                    {"device", result.plan->device},
                    {"figures", result.figures},
                    {"unit", is_time ? "ns" : "cycles"},
                    {"gpu", !result.plan->has_clock && is_time ? ordered_json(options.gpu) : ordered_json()},
                    {"yardstick", std::move(yardstick)},
                    {"sizes", std::move(sizes)},
                    {"level", kRankLevel},
                    {"tau", options.tau},
                    {"rows", std::move(rows)}});
  }
  return list;
}

}  // namespace convladder

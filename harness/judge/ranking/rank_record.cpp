#include "harness/judge/ranking/rank_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "harness/measure/cases/figures_json.hpp"
#include "harness/measure/plan/options_json.hpp"
#include "harness/measure/records/case_json.hpp"
#include "harness/measure/records/recorded_run.hpp"
#include "harness/measure/sweep/sweep_score.hpp"
#include "support/errors.hpp"
#include "support/json_place.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"
#include "support/sha256.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr NumberRange kTimes{.least = kAboveZero, .most = 1e18, .unit = "ns"};

/// The settings of measuring and checking, without those that cannot change a figure or a status.
ordered_json settings_json(const RankOptions& options) {
  const RunOptions& run = options.run;
  ordered_json json = {{"seed", run.seed},
                       {"budget_seconds", run.budget_seconds},
                       {"sample_milliseconds", run.sample_milliseconds},
                       {"rounds", run.max_samples},
                       {"fewest_rounds", run.fewest_samples},
                       {"timeout_seconds", or_null(run.timeout_seconds)},
                       {"limit_seconds", options.limit_seconds},
                       {"gpu", options.gpu}};
  if (run.schedules > 0) json["schedules"] = run.schedules;
  return json;
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

/// A speed as a ratio. `level` is of a measured one; 0 for one round.
ordered_json speed_json(const std::optional<LogSpeed>& speed, double level, const std::string& figures) {
  if (!speed) return nullptr;
  Ratio ratio{.value = std::exp(speed->estimate), .low = std::exp(speed->low), .high = std::exp(speed->high)};
  ratio.by = figures == "measured" ? RatioBy::rounds : figures == "counted" ? RatioBy::counts : RatioBy::ranges;
  if (figures == "measured" && level > 0) ratio.level = level;
  if (figures == "measured" && !(level > 0)) ratio.low = ratio.high = std::nullopt;
  return ratio_json(ratio);
}

ordered_json row_json(const RankRow& row, const RankResult& result) {
  ordered_json sizes = ordered_json::array();
  for (std::size_t i = 0; i < row.sizes.size(); ++i) {
    const RankedSize& one = row.sizes[i];
    sizes.push_back({{"size", result.plan->sizes[i].layer},
                     {"figure", or_null(one.figure)},
                     {"baseline_figure", or_null(one.baseline_figure)},
                     {"speed", speed_json(one.speed, one.level, result.figures)},
                     {"rounds", one.rounds > 0 ? ordered_json(one.rounds) : ordered_json()}});
  }
  return {{"rank", or_null(row.rank)},
          {"shared", row.shares_rank},
          {"name", row.entry->name},
          {"role", role_name(row.entry->role)},
          {"is_baseline", row.is_baseline},
          {"file", row.entry->file},
          {"content", text_or_null(row.entry->content)},
          {"same_as", text_or_null(row.same_as)},
          {"status", row.status},
          {"reason", text_or_null(row.reason)},
          {"speed", speed_json(row.speed, kRankLevel, result.figures)},
          {"sizes", std::move(sizes)}};
}

MadeOf made_of(const RankPlan& plan, const RankEntry& entry, const std::string& baseline, const RankOptions& options) {
  return {.source = entry.content,
          .problem = plan.problem_hash,
          .baseline = baseline,
          .settings = sha256_hex(json_line(settings_json(options)))};
}

ordered_json made_of_json(const MadeOf& made_of) {
  return {{"source", made_of.source},
          {"problem", made_of.problem},
          {"baseline", text_or_null(made_of.baseline)},
          {"settings", made_of.settings}};
}

ordered_json rank_case_json(const RankEntry& entry, const PlannedCase& planned, const RankedOutcome& ranked,
                            const MadeOf& made_of, const std::string& gpu) {
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
          {"made_of", made_of_json(made_of)},
          {"keep", ranked.keep},
          {"seconds", ranked.seconds},
          {"verification", verification_json(outcome.verification)},
          {"time", time_of(&outcome)},
          {"baseline", text_or_null(ranked.baseline)},
          {"baseline_time", time_of(ranked.beside)},
          {"predicted", predicted_on(gpu, figures.predictions)},
          {"counted", counted_json(figures.counters)},
          {"quality", quality_json(outcome.quality)}};
}

RankCase read_rank_case(const JsonPlace& place) {
  RankCase one;
  one.id = place.at("id").text();
  one.status = read_status(place.at("status"));
  one.reason = printable(place.at("reason").text_or_empty());
  const auto samples = [&](const char* field) {
    return place.has(field) ? place.at(field).at("samples").numbers(kTimes) : std::vector<double>();
  };
  one.samples = samples("time");
  one.beside = samples("baseline_time");
  if (place.has("predicted")) {
    const JsonPlace predicted = place.at("predicted");
    one.predicted = FigureRange{predicted.at("low").number(kTimes), predicted.at("high").number(kTimes)};
  }
  if (place.has("counted")) one.cycles = place.at("counted").at("cycles").number({.least = kAboveZero});
  if (place.has("quality")) one.quality = read_quality(place.at("quality"));
  const JsonPlace made_of = place.at("made_of");
  one.made_of = {.source = made_of.at("source").text_or_empty(),
                 .problem = made_of.at("problem").text_or_empty(),
                 .baseline = made_of.at("baseline").text_or_empty(),
                 .settings = made_of.at("settings").text_or_empty()};
  one.keep = place.at("keep").truth();
  return one;
}

void check_rank_record(const ordered_json& record, const std::string& file) {
  const JsonPlace json(record, file);
  for (const JsonPlace& one : json.at("cases").list()) static_cast<void>(read_rank_case(one));
  static_cast<void>(json.at("context").at("sessions").list());
}

ordered_json rankings_json(const std::vector<RankResult>& results, const RankOptions& options) {
  ordered_json list = ordered_json::array();
  for (const RankResult& result : results) {
    ordered_json sizes = ordered_json::array();
    for (const LayerWork& size : result.plan->sizes) sizes.push_back(size.layer);
    ordered_json baseline;
    if (result.baseline != nullptr) {
      baseline = {
          {"name", result.baseline->name}, {"role", role_name(result.baseline->role)}, {"file", result.baseline->file}};
    }
    ordered_json rows = ordered_json::array();
    for (const RankRow& row : result.rows) rows.push_back(row_json(row, result));
    const bool is_time = result.figures != "counted";
    list.push_back({{"family", result.plan->family},
                    {"device", result.plan->device},
                    {"figures", result.figures},
                    {"unit", is_time ? "ns" : "cycles"},
                    {"gpu", !result.plan->has_clock && is_time ? ordered_json(options.gpu) : ordered_json()},
                    {"baseline", std::move(baseline)},
                    {"sizes", std::move(sizes)},
                    {"level", kRankLevel},
                    {"tau", options.tau},
                    {"rows", std::move(rows)}});
  }
  return list;
}

RecordContent content_of(const RankPlan& plan, const RankOptions& options, const std::vector<std::string>& command_line,
                         const ImageSet& images) {
  return {.command_line = command_line,
          .options = record_part(options_json(options)),
          .seed = options.run.seed,
          .dataset = record_part(dataset_json(images)),
          .planned = planned_ids(plan),
          .fields = record_part({{"problem", {{"name", plan.problem->name()}, {"title", plan.problem->title()}}},
                                 {"ladder", options.run.ladder},
                                 {"submissions", options.submissions},
                                 {"left_alone", plan.left_alone}}),
          .behind = record_part({{"rankings", ordered_json::array()}})};
}

/// Whether nothing has changed of what the case is made of. The baseline that it was measured beside is checked later,
/// when today's is known.
bool is_as_it_was(const RankCase& one, const RankPlan& plan, const RankOptions& options) {
  if (!one.keep) return false;
  for (const RankingPlan& ranking : plan.rankings) {
    for (const auto* const entries : {&ranking.own, &ranking.submissions}) {
      for (const RankEntry& entry : *entries) {
        if (std::ranges::find(entry.cases, one.id, &PlannedCase::id) == entry.cases.end()) continue;
        return made_of(plan, entry, one.made_of.baseline, options) == one.made_of;
      }
    }
  }
  return false;
}

/// Opens a record to go on with. Measurements by another build or on another machine cannot stand in the same ranking.
Record opened(const std::filesystem::path& folder) {
  try {
    return Record::open(folder, kRankKind, check_rank_record);
  } catch (const UserError& error) {
    std::string what = error.what();
    const std::string advice = "start a new run";
    if (const std::size_t at = what.find(advice); at != std::string::npos) {
      what.replace(at, advice.size(),
                   fmt::format("another --output than {} starts a new ranking", printable(folder.string())));
    }
    throw UserError(what);
  }
}

Record begun(const std::filesystem::path& folder, const RankPlan& plan, const RankOptions& options,
             const RecordContent& content, bool again) {
  const std::filesystem::path file = folder / kRankKind.file();
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::symlink_status(file, error))) {
    return Record::create(folder, kRankKind, content);
  }
  Record record = opened(folder);
  const JsonPlace then(record.json(), record.file().string());
  if (then.at("submissions").text() != options.submissions || then.at("ladder").text() != options.run.ladder) {
    throw UserError(fmt::format("{} is the ranking of {} by {}: another --output starts a new one", file.string(),
                                printable(then.at("submissions").text()), printable(then.at("ladder").text())));
  }
  record.plan_anew(content, [&](const ordered_json& one) {
    return !again && is_as_it_was(read_rank_case(JsonPlace(one, record.file().string())), plan, options);
  });
  return record;
}

}  // namespace

RankRecord::RankRecord(const std::filesystem::path& folder, const RankPlan& plan, const RankOptions& options,
                       const std::vector<std::string>& command_line, const ImageSet& images, bool again)
    : plan_(plan),
      options_(options),
      record_(begun(folder, plan, options, content_of(plan, options, command_line, images), again)) {
  for (const auto& [id, json] : record_.cases_by_id()) {
    cases_.emplace(id, read_rank_case(JsonPlace(*json, printable(id))));
  }
}

const RankCase& RankRecord::add(const RankEntry& entry, const PlannedCase& planned, const RankedOutcome& ranked,
                                const std::string& baseline) {
  ordered_json json = rank_case_json(entry, planned, ranked, made_of(plan_, entry, baseline, options_), options_.gpu);
  RankCase one = read_rank_case(JsonPlace(json, planned.id));
  record_.add(std::move(json), {{"rankings", ordered_json::array()}});
  return cases_[planned.id] = std::move(one);
}

void RankRecord::drop(const std::function<bool(const RankCase&)>& unwanted) {
  std::erase_if(cases_, [&unwanted](const auto& one) { return unwanted(one.second); });
  record_.drop([this](const std::string& id) { return !cases_.contains(id); });
}

void RankRecord::complete(const std::vector<RankResult>& results) {
  record_.complete({{"rankings", rankings_json(results, options_)}});
}

std::string RankRecord::text() const { return json_text(record_.json()); }

std::optional<std::uint64_t> recorded_seed(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kRankKind.file();
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return std::nullopt;
  const ordered_json record = read_record_json(file.string());
  return JsonPlace(record, file.string()).at("context").at("seed").whole<std::uint64_t>();
}

}  // namespace convladder

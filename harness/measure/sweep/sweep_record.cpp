#include "harness/measure/sweep/sweep_record.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/measure/cases/figures_json.hpp"
#include "harness/measure/plan/options_json.hpp"
#include "harness/measure/records/case_json.hpp"
#include "harness/measure/records/recorded_case.hpp"
#include "harness/measure/records/recorded_run.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

ordered_json parameters_json(const Configuration& configuration) {
  ordered_json json = ordered_json::object();
  for (const Parameter& parameter : configuration.parameters()) json[parameter.name] = parameter.value;
  return json;
}

/// The quantity that the score measures, and its unit.
ordered_json scoring_json(const Sweep& sweep) {
  const bool counted = sweep.kind == ScoreKind::counted;
  const char* of = "time";
  if (sweep.kind == ScoreKind::predicted) of = "middle of the range of the op time";
  if (counted) of = "cycles of one multiprocessor";
  return {
      {"kind", sweep.kind_text()}, {"of", of}, {"unit", counted ? "cycles" : "ns"}, {"gpu", text_or_null(sweep.gpu)}};
}

ordered_json score_json(const std::optional<Score>& score) {
  if (!score) return nullptr;
  return {{"value", score->value}, {"low", score->low}, {"high", score->high}};
}

/// The prediction for the GPU of the score; null without one.
ordered_json prediction_of(const Sweep& sweep, const ordered_json& recorded) {
  const ordered_json& prediction = recorded.at("prediction");
  if (sweep.gpu.empty() || prediction.is_null()) return nullptr;
  for (const ordered_json& one : prediction.at("gpus")) {
    if (one.at("gpu") == sweep.gpu) return one;
  }
  return nullptr;
}

/// The scores over the default's, by configuration; only for those that have both.
ordered_json of_default_json(const Sweep& sweep) {
  ordered_json json = ordered_json::object();
  const SweptConfiguration* const standard = sweep.default_result();
  if (standard == nullptr) return json;
  for (const SweptConfiguration& one : sweep.results) {
    if (one.score) json[one.configuration.text()] = ratio_json(sweep.ratio(one, *standard));
  }
  return json;
}

/// A finalist's time over that of the model's choice.
Ratio of_model_choice(const ChangeBounds& change) {
  return {.value = std::exp(change.estimate),
          .low = std::exp(change.low),
          .high = std::exp(change.high),
          .level = 1 - 2 * Finalist::kAlpha,
          .by = RatioBy::rounds};
}

/// The finalists' times over that of the model's choice, round by round; null where there was no final.
ordered_json finals_json(const Sweep& sweep) {
  if (!sweep.finals) return nullptr;
  ordered_json list = ordered_json::array();
  for (const Finalist& one : *sweep.finals) {
    ordered_json of_model;
    if (one.change) {
      of_model = ratio_json(of_model_choice(*one.change));
    }
    list.push_back({{"configuration", one.configuration.text()}, {"of_model", of_model}});
  }
  return {{"rounds", Finalist::kRounds}, {"alpha", Finalist::kAlpha}, {"finalists", list}};
}

ordered_json text_of(const SweptConfiguration* one) {
  return one == nullptr ? ordered_json() : ordered_json(one->configuration.text());
}

ordered_json sweep_json(const Sweep& sweep) {
  const PlannedCase& planned = sweep.planned;
  return {{"id", planned.id},
          {"family", planned.variant.info.family},
          {"variant", planned.variant.info.name},
          {"device", planned.device},
          {"network", planned.work.network},
          {"layer", planned.work.layer},
          {"shape", size_name(planned.work.shape)},
          {"batch", planned.work.shape.batch},
          {"work", {{"flop", planned.work.shape.flop()}, {"minimum_bytes", planned.work.shape.minimum_bytes()}}},
          {"scoring", scoring_json(sweep)},
          {"possible", sweep.found.possible},
          {"tried", sweep.results.size()},
          {"default", sweep.found.candidates.front().text()},
          {"by_model", sweep.found.by_model.text()},
          {"final", finals_json(sweep)},
          {"best", text_of(sweep.winner())},
          {"of_default", of_default_json(sweep)}};
}

}  // namespace

std::string configuration_id(const Sweep& sweep, const Configuration& configuration) {
  return fmt::format("{}/{}", sweep.planned.id, configuration.text());
}

std::vector<std::string> planned_ids(const std::vector<Sweep>& sweeps) {
  std::vector<std::string> ids;
  for (const Sweep& sweep : sweeps) {
    for (const SweptConfiguration& one : sweep.results) ids.push_back(configuration_id(sweep, one.configuration));
  }
  return ids;
}

ordered_json configuration_json(const Sweep& sweep, const PlannedCase& planned, const CaseOutcome& outcome) {
  const Configuration configuration = Configuration::parse(planned.configuration);
  const ordered_json recorded = case_json(planned, outcome);
  const std::optional<Score> score = score_of(sweep.kind, sweep.gpu, recorded_case(planned, outcome));
  const bool cannot_launch = !score && outcome.status == Status::ok;
  ordered_json json{
      {"id", planned.id},
      {"sweep", sweep.planned.id},
      {"configuration", parameters_json(configuration)},
      {"text", configuration.text()},
      {"status", outcome.status},
      {"reason", text_or_null(cannot_launch ? fmt::format("cannot be launched on {}", sweep.gpu) : outcome.reason)},
      {"score", score_json(score)}};
  for (const char* const name : {"choice", "verification", "time", "counters", "resources"}) {
    json[name] = recorded.at(name);
  }
  json["prediction"] = prediction_of(sweep, recorded);
  if (recorded.contains("wave")) json["wave"] = recorded.at("wave");
  return json;
}

void read_back(const JsonPlace& one_case, SweptConfiguration& one) {
  one.status = read_status(one_case.at("status"));
  one.reason = printable(one_case.at("reason").text_or_empty());
  if (const JsonPlace score = one_case.at("score"); !score.is_null()) {
    one.score = Score{score.at("value").number(), score.at("low").number(), score.at("high").number()};
  }
  one.time = read_time(one_case.at("time"));
  if (one.time) one.time->wave = one_case.at("wave").text_or_empty();
  if (one_case.has("counters")) one.counted = one_case.at("counters").at("totals").numbers_by_name();
  if (one_case.has("prediction")) one.occupancy = read_prediction(one_case.at("prediction")).occupancy;
}

void add_configuration(Record& record, const Sweep& sweep, const PlannedCase& planned, const CaseOutcome& outcome,
                       SweptConfiguration& one) {
  ordered_json recorded = configuration_json(sweep, planned, outcome);
  read_back(JsonPlace(recorded, planned.id), one);
  record.add(std::move(recorded), {{"sweeps", ordered_json::array()}});
}

void read_back(const Record& record, std::vector<Sweep>& sweeps) {
  const auto by_id = record.cases_by_id();
  for (Sweep& sweep : sweeps) {
    for (SweptConfiguration& one : sweep.results) {
      const auto found = by_id.find(configuration_id(sweep, one.configuration));
      if (found != by_id.end()) read_back(JsonPlace(*found->second, found->first), one);
    }
  }
}

void check_sweep_record(const ordered_json& record, const std::string& file) {
  SweptConfiguration ignored;
  for (const JsonPlace& one : JsonPlace(record, file).at("cases").list()) read_back(one, ignored);
}

RecordContent sweep_content(const SweepOptions& options, const std::vector<std::string>& command_line,
                            const ImageSet& images, const std::vector<Sweep>& sweeps) {
  return {.command_line = command_line,
          .options = record_part(options_json(options)),
          .seed = options.run.seed,
          .dataset = record_part(dataset_json(images)),
          .planned = planned_ids(sweeps),
          .behind = record_part({{"sweeps", ordered_json::array()}})};
}

void complete_sweep_record(Record& record, const std::vector<Sweep>& sweeps) {
  ordered_json list = ordered_json::array();
  for (const Sweep& sweep : sweeps) list.push_back(sweep_json(sweep));
  record.complete({{"sweeps", std::move(list)}});
}

}  // namespace convladder

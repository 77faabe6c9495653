#include "harness/sweep/sweep_record.hpp"

#include <fmt/format.h>

#include "harness/machine/environment.hpp"
#include "harness/records/case_json.hpp"
#include "support/json_null.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr const char* kSweepSchemaVersion = "1.0";

ordered_json configuration_json(const Configuration& configuration) {
  ordered_json json = ordered_json::object();
  for (const Parameter& parameter : configuration.parameters()) json[parameter.name] = parameter.value;
  return json;
}

/// What the score is of, and its unit.
ordered_json scoring_json(const Sweep& sweep) {
  const bool counted = sweep.kind == ScoreKind::counted;
  const char* of = "time";
  if (sweep.kind == ScoreKind::predicted) of = "middle of the range of the op time";
  if (counted) of = "cycles of one multiprocessor";
  return {{"kind", kind_text(sweep.kind)},
          {"of", of},
          {"unit", counted ? "cycles" : "ns"},
          {"gpu", text_or_null(sweep.gpu)}};
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

ordered_json result_json(const Sweep& sweep, const SweptConfiguration& one) {
  const SweptConfiguration* const standard = sweep.default_result();
  const bool comparable = standard != nullptr && one.score.has_value();
  ordered_json json{{"configuration", configuration_json(one.configuration)},
                    {"text", one.configuration.text()},
                    {"status", one.status ? status_name(*one.status) : "not run"},
                    {"reason", text_or_null(one.reason)},
                    {"score", score_json(one.score)},
                    {"of_default", comparable ? ordered_json(one.score->value / standard->score->value) : nullptr}};
  for (const char* const name : {"choice", "verification", "time", "counters", "resources"}) {
    json[name] = one.recorded.is_null() ? ordered_json() : one.recorded.at(name);
  }
  json["prediction"] = one.recorded.is_null() ? ordered_json() : prediction_of(sweep, one.recorded);
  return json;
}

ordered_json text_of(const SweptConfiguration* one) {
  return one == nullptr ? ordered_json() : ordered_json(one->configuration.text());
}

}  // namespace

ordered_json sweep_json(const Sweep& sweep) {
  const PlannedCase& planned = sweep.planned;
  ordered_json results = ordered_json::array();
  for (const SweptConfiguration& one : sweep.results) results.push_back(result_json(sweep, one));
  return {{"id", planned.id},
          {"family", planned.variant.info.family},
          {"variant", planned.variant.info.name},
          {"device", planned.device},
          {"network", planned.work.network},
          {"layer", planned.work.layer},
          {"shape", shape_name(planned.work.shape)},
          {"batch", planned.work.shape.batch},
          {"work", {{"flop", planned.work.shape.flop()}, {"minimum_bytes", planned.work.shape.minimum_bytes()}}},
          {"scoring", scoring_json(sweep)},
          {"possible", sweep.found.possible},
          {"tried", sweep.results.size()},
          {"default", sweep.found.candidates.front().text()},
          {"by_model", sweep.found.by_model.text()},
          {"best", text_of(sweep.winner())},
          {"configurations", std::move(results)}};
}

SweepRecord::SweepRecord(const std::filesystem::path& folder, const RunOptions& options,
                         const std::vector<std::string>& command_line, const ImageSet& images)
    : file_(RecordFile::create(folder / "sweep.json", "another --output starts a new sweep")) {
  ordered_json context = environment_json();
  context["command_line"] = command_line;
  context["options"] = options_to_json(options);
  context["seed"] = options.seed;
  context["date"] = utc_now();
  context["dataset"] = dataset_json(images);
  context["sessions"] = ordered_json::array({ordered_json{{"started", utc_now()}}});
  json_ = {{"schema_version", kSweepSchemaVersion},
           {"kind", "sweep"},
           {"complete", false},
           {"context", std::move(context)},
           {"sweeps", {}}};
}

void SweepRecord::write(const std::vector<Sweep>& sweeps, bool complete) {
  json_["complete"] = complete;
  json_["sweeps"] = ordered_json::array();
  for (const Sweep& sweep : sweeps) json_["sweeps"].push_back(sweep_json(sweep));
  // Bytes that are no UTF-8, in a host name or a file name, must not cost the record.
  file_.write(json_.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace convladder

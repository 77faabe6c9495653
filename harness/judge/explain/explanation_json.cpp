#include "harness/judge/explain/explanation_json.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>

#include "harness/measure/records/case_json.hpp"
#include "harness/measure/records/record_context_json.hpp"
#include "harness/measure/records/recorded_run.hpp"
#include "harness/measure/runs/run_record.hpp"
#include "support/errors.hpp"
#include "support/json_place.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kLongestId = 1024;  // bytes: the matcher of a regular expression recurses over it

ordered_json prediction_of(const PredictedFigure& one) {
  return {{"gpu", one.gpu},
          {"kind", "predicted"},
          {"unit", "ns"},
          {"low", or_null(one.low_ns)},
          {"high", or_null(one.high_ns)},
          {"binding_low", one.binding_low},
          {"binding_high", one.binding_high},
          {"occupancy", one.occupancy},
          {"limited_by", one.limited_by}};
}

ordered_json stage_json(const ExplainedStage& stage, const std::vector<std::string>& gpus) {
  ordered_json predicted = ordered_json::array();
  for (const std::string& gpu : gpus) {
    if (const PredictedFigure* const one = stage.prediction_on(gpu)) predicted.push_back(prediction_of(*one));
  }
  ordered_json changes = ordered_json::array();
  for (const ExplainedChange& change : stage.changes)
    changes.push_back({{"counter", change.title}, {"ratio", change.ratio}});
  const ordered_json none;
  return {{"variant", stage.variant},
          {"title", stage.title},
          {"builds_on", text_or_null(stage.builds_on)},
          {"predictions", std::move(predicted)},
          {"counters_against_builds_on", std::move(changes)},
          {"measured", stage.measured ? ordered_json{{"kind", "measured"},
                                                     {"of", stage.measured_of},
                                                     {"unit", "ns"},
                                                     {"median", stage.measured->value},
                                                     {"low", or_null(stage.measured->low)},
                                                     {"high", or_null(stage.measured->high)}}
                                      : none},
          {"why_not", text_or_null(stage.why_not)}};
}

ordered_json steps_json(const std::vector<ExplainedLadder>& ladders) {
  ordered_json list = ordered_json::array();
  for (const ExplainedLadder& one : ladders) {
    ordered_json& json = list.emplace_back(place_json(*one.ladder.of));
    json["steps"] = ordered_json::array();
    for (const Step& step : one.ladder.steps) json["steps"].push_back(step_json(step));
  }
  return list;
}

}  // namespace

ExplainedRun read_explained_run(const std::string& file, const std::string& gpu) {
  const ordered_json record = read_record_json(file);
  const JsonPlace place(record, file);
  if (const std::string from = text_at(record, "/context/imported/from"); !from.empty()) {
    throw UserError(
        fmt::format("{}: measured by {}: nothing says which of its benchmarks builds on which", printable(file), from));
  }
  require_run(place);
  ExplainedRun run;
  run.context = read_context(place.at("context"));
  run.cases = read_whole_cases(place.at("cases"));
  run.variants = read_variants(place.at("variants"));
  run.gpu = gpu;
  for (const RecordedCase& one : run.cases) {
    if (one.id.size() > kLongestId) place.at("cases").fail(fmt::format("an id of more than {} bytes", kLongestId));
  }
  const std::vector<RecordedLadder> ladders = read_ladders(place.at("ladders"));
  for (LadderSteps& steps : steps_of(run.cases, run.variants, ladders, gpu)) {
    ExplainedLadder& one = run.ladders.emplace_back();
    one.ladder = std::move(steps);
    const RecordedLadder* const recorded = find_ladder(ladders, *one.ladder.of);
    if (recorded == nullptr) continue;
    one.floor_operations_ns = recorded->floor_operations_ns;
    one.floor_bytes_ns = recorded->floor_bytes_ns;
    one.best = recorded->best;
  }
  return run;
}

std::string explanation_json_text(const std::vector<ExplainedGroup>& groups, const std::vector<std::string>& gpus,
                                  const std::vector<ExplainedLadder>& ladders) {
  ordered_json list = ordered_json::array();
  for (const ExplainedGroup& group : groups) {
    ordered_json stages = ordered_json::array();
    for (const ExplainedStage& stage : group.stages) stages.push_back(stage_json(stage, gpus));
    ordered_json published = ordered_json::array();
    for (const ExplainedPublished& one : group.published) {
      published.push_back({{"source", one.source},
                           {"stage", one.stage},
                           {"variant", one.variant},
                           {"what", one.what},
                           {"gpu", one.gpu},
                           {"batch", one.batch},
                           {"ns", one.ns},
                           {"predicted_low", one.low_ns},
                           {"predicted_high", one.high_ns}});
    }
    list.push_back({{"network", group.network},
                    {"layer", group.layer},
                    {"batch", group.batch},
                    {"measured_on", text_or_null(group.real_gpu)},
                    {"stages", std::move(stages)},
                    {"published", std::move(published)}});
  }
  return json_text({{"kind", "explanation"}, {"groups", std::move(list)}, {"ladders", steps_json(ladders)}});
}

}  // namespace convladder

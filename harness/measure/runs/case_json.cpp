#include "harness/measure/runs/case_json.hpp"

#include "harness/measure/runs/unchanged_cases.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/measure/cases/case_session.hpp"
#include "harness/measure/cases/counters.hpp"
#include "harness/measure/plan/device_argument.hpp"
#include "harness/measure/plan/shape_json.hpp"
#include "harness/measure/records/launch_resources.hpp"
#include "harness/measure/records/prediction.hpp"
#include "harness/measure/statistics/interval_json.hpp"
#include "harness/measure/statistics/statistics.hpp"
#include "support/json_null.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

ordered_json rung_json(const VariantInfo& info) { return info.rung ? ordered_json(*info.rung) : ordered_json(); }

/// Adds the idea that a variant leaves out, if it leaves out any.
void add_leaves_out(ordered_json& json, const VariantInfo& info) {
  if (!info.leaves_out.empty()) json["leaves_out"] = info.leaves_out;
}

/// The size's dimensions by name, and the values that follow from them.
ordered_json shape_json(const ProblemSize& size) {
  ordered_json json = ordered_json::object();
  const std::vector<Dimension> dimensions = size.problem->dimensions();
  for (std::size_t i = 0; i < dimensions.size(); ++i) json[std::string(dimensions[i].name)] = size.values[i];
  for (const auto& [name, value] : size.problem->derived_values(size)) json[std::string(name)] = value;
  return json;
}

ordered_json time_json(const PlannedCase& planned, const TimeSeries& series, const std::string& stopped_because) {
  ordered_json json = measured_json(series.of, series.samples);
  if (find_device_kind(planned.device).clock_is_virtual()) json["kind"] = "predicted";
  if (!series.cache.empty()) json["cache"] = series.cache;
  json["iterations_per_sample"] = series.iterations;
  if (series.replayed) json["replayed"] = true;
  if (!series.clock_mhz.empty()) json["clock_mhz"] = median(series.clock_mhz);
  if (!series.enqueue_ns.empty()) json["enqueue_ns"] = median(series.enqueue_ns);
  json["stopped_because"] = stopped_because;
  return json;
}

ordered_json other_times_json(const PlannedCase& planned, const CaseOutcome& outcome) {
  ordered_json list = ordered_json::array();
  for (std::size_t i = 1; i < outcome.times.size(); ++i) {
    list.push_back(time_json(planned, outcome.times[i], outcome.stopped_because));
  }
  if (outcome.prepare_ns && !outcome.times.empty()) {
    list.push_back(time_json(planned, {time_of::kPrepare, "", 1, {*outcome.prepare_ns}}, "once"));
  }
  return list;
}

/// The counters of a case; empty where nothing was counted.
CountedFigures counted_figures(const PlannedCase& planned, const CaseOutcome& outcome) {
  if (outcome.status != Status::ok || outcome.counters.is_null()) return {};
  return read_counters(JsonPlace(outcome.counters, planned.id + ": counters"));
}

}  // namespace

ordered_json dataset_json(const ImageSet& images) {
  return {{"name", images.name},     {"source", images.source}, {"images", images.count},
          {"height", images.height}, {"width", images.width},   {"sha256", images.sha256}};
}

ordered_json variant_json(const VariantInfo& info) {
  ordered_json json = {{"family", info.family},
                       {"rung", rung_json(info)},
                       {"name", info.name},
                       {"title", info.title},
                       {"builds_on", text_or_null(info.builds_on)},
                       {"hypothesis", info.hypothesis}};
  add_leaves_out(json, info);
  return json;
}

ordered_json case_json(const PlannedCase& planned, const CaseOutcome& outcome) {
  const VariantInfo& info = planned.variant.info;
  const ProblemSize& shape = planned.work.shape;
  const CountedFigures counted = counted_figures(planned, outcome);
  const std::vector<LaunchResources> resources = resources_of(planned, counted.kernels);
  ordered_json json = {
      {"id", planned.id},
      {"variant", info.name},
      {"family", info.family},
      {"rung", rung_json(info)},
      {"device", planned.device},
      {"network", planned.work.network},
      {"layer", planned.work.layer},
      {"shape", shape_json(shape)},
      {"batch", shape.batch},
      {"status", outcome.status},
      {"reason", text_or_null(outcome.reason)},
      {"input", outcome.input_kind},
      {"work", {{"flop", shape.flop()}, {"minimum_bytes", shape.minimum_bytes()}}},
      {"verification", outcome.verification},
      {"time",
       outcome.times.empty() ? ordered_json() : time_json(planned, outcome.times.front(), outcome.stopped_because)},
      {"other_times", other_times_json(planned, outcome)},
      {"counters", outcome.counters},
      {"resources", resources_json(resources)},
      {"prediction", prediction_json(predict(counted, resources))},
      {"choice", text_or_null(outcome.choice)},
      {"device_state", outcome.device_state},
      {"quality", outcome.quality}};
  add_leaves_out(json, info);
  if (!shape.problem->is_default()) json["problem"] = shape.problem->name();
  if (std::string hash = made_of(planned); !hash.empty()) json["made_of"] = std::move(hash);
  return json;
}

}  // namespace convladder

#include "harness/fused/fused_record.hpp"

#include <algorithm>

#include "harness/plan/shape_json.hpp"
#include "harness/records/case_json.hpp"
#include "harness/statistics/statistics.hpp"
#include "support/json_null.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

ordered_json layer_time_json(const std::vector<double>& samples) {
  return samples.empty() ? ordered_json() : measured_json("layer", samples);
}

ordered_json separate_json(const FusedResult& result) {
  const FusedOutcome& outcome = result.outcome;
  ordered_json list = ordered_json::array();
  for (std::size_t i = 0; i < result.planned.steps.size(); ++i) {
    const SeparateStep& step = result.planned.steps[i];
    list.push_back({{"name", step.name},
                    {"type", step.type},
                    {"implementation", step.implementation},
                    {"time", outcome.separate.empty() ? ordered_json() : layer_time_json(outcome.separate[i])},
                    {"counters", outcome.counters.empty() ? ordered_json() : outcome.counters[i]}});
  }
  return list;
}

/// The sum of the separate operators over the fused variant, round by round.
ordered_json ratio_json(const FusedOutcome& outcome) {
  if (outcome.fused.empty()) return nullptr;
  ordered_json json = measured_json("sum of the separate operators / fused", outcome.ratios());
  json["unit"] = nullptr;
  return json;
}

}  // namespace

ordered_json fused_case_json(const FusedResult& result, const std::string& input_kind) {
  const FusedCase& planned = result.planned;
  const FusedOutcome& outcome = result.outcome;
  return {{"id", planned.id},
          {"network", planned.work.network},
          {"layer", planned.work.layer},
          {"shape", shape_to_list(planned.shape.convolution)},
          {"pooling", {planned.shape.pool_size, planned.shape.pool_stride}},
          {"minimum_bytes", planned.shape.minimum_bytes()},
          {"device", planned.device},
          {"batch", planned.shape.convolution.batch},
          {"variant", planned.fused.info.name},
          {"status", outcome.status},
          {"reason", text_or_null(outcome.reason)},
          {"input", text_or_null(input_kind)},
          {"verification", outcome.verification},
          {"separate", separate_json(result)},
          {"sum", layer_time_json(outcome.sums())},
          {"fused",
           {{"choice", text_or_null(outcome.choice)},
            {"time", layer_time_json(outcome.fused)},
            {"counters", outcome.fused_counters}}},
          {"ratio", ratio_json(outcome)},
          {"stopped_because", text_or_null(outcome.stopped_because)}};
}

ordered_json fused_options_json(const FusedOptions& o) {
  return {{"networks", o.networks},
          {"layers", o.layers},
          {"variants", o.variants},
          {"devices", o.devices},
          {"batches", o.batches},
          {"data_folder", o.data_folder},
          {"seed", o.seed},
          {"budget_seconds", o.budget_seconds},
          {"repetitions", or_null(o.repetitions)},
          {"sample_milliseconds", o.sample_milliseconds}};
}

ordered_json fused_variants_json(const std::vector<FusedCase>& plan) {
  ordered_json list = ordered_json::array();
  for (const FusedCase& planned : plan) {
    for (const VariantInfo& info : {planned.convolution.info, planned.fused.info}) {
      ordered_json json = variant_json(info);
      if (std::ranges::find(list, json) == list.end()) list.push_back(std::move(json));
    }
  }
  return list;
}

}  // namespace convladder

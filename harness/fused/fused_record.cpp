#include "harness/fused/fused_record.hpp"

#include <algorithm>

#include "harness/machine/environment.hpp"
#include "harness/plan/shape_json.hpp"
#include "harness/records/case_json.hpp"
#include "harness/statistics/statistics.hpp"
#include "support/json_null.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr const char* kFusedSchemaVersion = "1.0";

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

/// The fused variants of the plan and the stages they build on.
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

}  // namespace

FusedRecord::FusedRecord(const std::filesystem::path& folder, const FusedOptions& options,
                         const std::vector<std::string>& command_line, const std::vector<FusedCase>& plan,
                         const ImageSet& images)
    : file_(RecordFile::create(folder / "fused.json")) {
  ordered_json context = environment_json();
  context["command_line"] = command_line;
  context["options"] = fused_options_json(options);
  context["seed"] = options.seed;
  context["date"] = utc_now();
  context["dataset"] = dataset_json(images);
  ordered_json planned_ids = ordered_json::array();
  for (const FusedCase& planned : plan) planned_ids.push_back(planned.id);
  json_ = {{"schema_version", kFusedSchemaVersion},
           {"kind", "fused"},
           {"complete", false},
           {"context", std::move(context)},
           {"variants", fused_variants_json(plan)},
           {"planned", std::move(planned_ids)},
           {"cases", ordered_json::array()}};
  write();
}

void FusedRecord::add(const FusedResult& result, const std::string& input_kind) {
  json_.at("cases").push_back(fused_case_json(result, input_kind));
  write();
}

void FusedRecord::complete() {
  json_["complete"] = true;
  write();
}

void FusedRecord::write() {
  // Bytes that are no UTF-8, in a host name or a file name, must not cost the record.
  file_.write(json_.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace convladder

#include "harness/measure/runs/derived_ladders.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/measure/records/case_json.hpp"
#include "support/json_text.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

DerivedLadder& ladder_at(std::vector<DerivedLadder>& ladders, const RecordedCase& one) {
  const auto found =
      std::ranges::find_if(ladders, [&one](const DerivedLadder& ladder) { return ladder.of->place() == one.place(); });
  return found != ladders.end() ? *found : ladders.emplace_back(DerivedLadder{.of = &one, .kind = "counted"});
}

/// The ladders as they will be read from the record.
std::vector<RecordedLadder> as_recorded(const std::vector<DerivedLadder>& ladders) {
  std::vector<RecordedLadder> list;
  for (const DerivedLadder& one : ladders) {
    RecordedLadder& recorded = list.emplace_back(RecordedLadder{.device = one.of->device,
                                                                .family = one.of->family,
                                                                .network = one.of->network,
                                                                .layer = one.of->layer,
                                                                .batch = one.of->batch,
                                                                .floor_operations_ns = {},
                                                                .floor_bytes_ns = {},
                                                                .best = {}});
    if (one.floor) {
      recorded.floor_operations_ns = one.floor->operations_ns;
      recorded.floor_bytes_ns = one.floor->bytes_ns;
    }
    if (one.summary && one.summary->best != nullptr) recorded.best = one.summary->best->variant;
  }
  return list;
}

ordered_json floor_json(const std::optional<Floor>& floor) {
  if (!floor) return nullptr;
  return {{"kind", "predicted"},
          {"unit", "ns"},
          {"value", floor->value()},
          {"bound", floor->bytes_bind() ? "bytes" : "operations"},
          {"operations", floor->operations_ns},
          {"bytes", or_null(floor->bytes_ns)},
          {"flop", floor->flop},
          {"bytes_read", floor->bytes_read},
          {"bytes_written", floor->bytes_written}};
}

ordered_json roofline_json(const std::optional<CaseRoofline>& roofline) {
  if (!roofline) return nullptr;
  return {{"work", "derived"},
          {"flop", roofline->flop},
          {"bytes", roofline->bytes},
          {"flop_per_byte", roofline->intensity()},
          {"gflop_per_s", roofline->gflop_per_s},
          {"gb_per_s", roofline->gb_per_s},
          {"roof_gflop_per_s", roofline->roof_gflop_per_s},
          {"bound", roofline->bytes_bind ? "bytes" : "operations"}};
}

ordered_json row_json(const LadderRow& row) {
  const RecordedCase& one_case = *row.of;
  const std::optional<TimeFigure>& time = one_case.time;
  return {{"case", one_case.id},
          {"variant", one_case.variant},
          {"rung", or_null(one_case.rung)},
          {"of", time ? ordered_json(time->of) : ordered_json()},
          {"status", one_case.status},
          {"median_ns", time ? ordered_json(time->median) : ordered_json()},
          {"low_ns", time ? or_null(time->low) : ordered_json()},
          {"high_ns", time ? or_null(time->high) : ordered_json()},
          {"gflop_per_s", or_null(row.gflop_per_s)},
          {"layer_median_ns", or_null(row.layer_median)},
          {"x_previous", or_null(row.x_previous)},
          {"x_baseline", or_null(row.x_baseline)},
          {"percent_of_library", or_null(row.percent_of_library)},
          {"percent_of_library_op", or_null(row.percent_of_library_op)},
          {"percent_of_floor", or_null(row.percent_of_floor)},
          {"roofline", roofline_json(row.roofline)},
          {"quality", one_case.quality ? ordered_json(quality_name(one_case.quality->mark)) : ordered_json()}};
}

ordered_json name_or_null(const RecordedCase* one) {
  return one == nullptr ? ordered_json() : ordered_json(one->variant);
}

ordered_json summary_json(const LadderSummary& summary) {
  ordered_json loses = ordered_json::array();
  for (const StageThatLoses& one : summary.loses) {
    loses.push_back({{"variant", one.variant}, {"builds_on", one.builds_on}, {"x", one.x}});
  }
  return {{"baseline", name_or_null(summary.baseline)},
          {"sixth", name_or_null(summary.sixth)},
          {"best", name_or_null(summary.best)},
          {"best_by", text_or_null(summary.best_by)},
          {"gpu", text_or_null(summary.gpu)},
          {"library", name_or_null(summary.library)},
          {"overlaps_best", summary.overlaps_best},
          {"faster_less_accurate", summary.faster_less_accurate},
          {"sixth_x_baseline", or_null(summary.sixth_x_baseline)},
          {"best_x_baseline", or_null(summary.best_x_baseline)},
          {"best_x_sixth", or_null(summary.best_x_sixth)},
          {"best_percent_of_library", or_null(summary.best_percent_of_library)},
          {"best_percent_of_floor", or_null(summary.best_percent_of_floor)},
          {"loses", std::move(loses)}};
}

ordered_json ladder_json(const DerivedLadder& ladder) {
  ordered_json json = place_json(*ladder.of);
  json["kind"] = ladder.kind;
  json["floor"] = floor_json(ladder.floor);
  json["rows"] = ordered_json::array();
  for (const LadderRow& row : ladder.rows) json["rows"].push_back(row_json(row));
  if (ladder.summary) json["summary"] = summary_json(*ladder.summary);
  json["steps"] = ordered_json::array();
  for (const Step& step : ladder.steps) json["steps"].push_back(step_json(step));
  if (ladder.kind_of_machine) json["kind_of_machine"] = *ladder.kind_of_machine;
  return json;
}

ordered_json left_out_json(const LeftOutRow& row) {
  const std::optional<TimeFigure>& time = row.of->time;
  return {{"case", row.of->id},
          {"variant", row.of->variant},
          {"leaves_out", text_or_null(row.of->leaves_out)},
          {"status", row.of->status},
          {"reason", text_or_null(row.of->reason)},
          {"instructions_per_multiply_add", or_null(row.instructions)},
          {"shared_wavefronts_per_32_multiply_adds", or_null(row.shared_wavefronts)},
          {"load_sectors_per_32_multiply_adds", or_null(row.load_sectors)},
          {"dram_over_minimum", or_null(row.dram_over_minimum)},
          {"predicted", row.predicted ? ordered_json{{"gpu", row.predicted->gpu},
                                                     {"low_ns", *row.predicted->low_ns},
                                                     {"high_ns", *row.predicted->high_ns}}
                                      : ordered_json()},
          {"median_ns", time ? ordered_json(time->median) : ordered_json()},
          {"low_ns", time ? or_null(time->low) : ordered_json()},
          {"high_ns", time ? or_null(time->high) : ordered_json()},
          {"x_instructions", or_null(row.x_instructions)},
          {"x_predicted", or_null(row.x_predicted)},
          {"x_time", or_null(row.x_time)}};
}

}  // namespace

std::vector<DerivedLadder> derived_ladders(const std::vector<RecordedCase>& cases,
                                           const std::vector<RecordedVariant>& variants, const Ceilings& ceilings) {
  std::vector<DerivedLadder> derived;
  for (Ladder& ladder : ladders_of(cases, variants, ceilings)) {
    DerivedLadder& one = derived.emplace_back(DerivedLadder{.of = ladder.rows.front().of, .kind = kind_of(ladder)});
    one.summary = summary_of(ladder);
    one.floor = ladder.floor;
    one.rows = std::move(ladder.rows);
  }
  for (const CountedLadder& counted : counted_ladders_of(cases, variants)) {
    ladder_at(derived, *counted.cases.front()).summary = counted.summary;
  }
  for (LadderSteps& steps : steps_of(cases, variants, as_recorded(derived))) {
    ladder_at(derived, *steps.of).steps = std::move(steps.steps);
  }
  return derived;
}

ordered_json step_json(const Step& step) {
  return {{"variant", step.variant}, {"builds_on", text_or_null(step.builds_on)}, {"x", or_null(step.x)},
          {"kind", step.kind},       {"relieved", text_or_null(step.relieved)},   {"binds", text_or_null(step.binds)}};
}

ordered_json ladders_json(const std::vector<DerivedLadder>& ladders) {
  ordered_json list = ordered_json::array();
  for (const DerivedLadder& one : ladders) list.push_back(ladder_json(one));
  return list;
}

std::vector<RecordedLadder> read_ladders(const JsonPlace& ladders) {
  std::vector<RecordedLadder> list;
  if (ladders.is_null()) return list;
  for (const JsonPlace& one : ladders.list()) {
    RecordedLadder& ladder = list.emplace_back();
    ladder.device = one.at("device").text();
    ladder.family = one.at("family").text();
    ladder.network = one.at("network").text();
    ladder.layer = one.at("layer").text();
    ladder.batch = one.at("batch").count();
    if (one.has("floor")) {
      ladder.floor_operations_ns = one.at("floor").at("operations").number(kNotNegative);
      ladder.floor_bytes_ns = one.at("floor").at("bytes").number_or_none(kNotNegative);
    }
    if (one.has("summary")) ladder.best = one.at("summary").at("best").text_or_empty();
  }
  return list;
}

ordered_json leave_one_out_json(const std::vector<LeaveOneOut>& views) {
  ordered_json list = ordered_json::array();
  for (const LeaveOneOut& view : views) {
    ordered_json& json = list.emplace_back(place_json(*view.rows.front().of));
    json["kind"] = view.counted ? "counted" : "measured";
    json["best"] = view.best;
    for (const LeftOutRow& row : view.rows) json["rows"].push_back(left_out_json(row));
  }
  return list;
}

}  // namespace convladder

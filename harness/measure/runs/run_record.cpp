#include "harness/measure/runs/run_record.hpp"

#include <algorithm>

#include "harness/measure/cases/ceilings.hpp"
#include "harness/measure/records/recorded_run.hpp"
#include "harness/measure/runs/case_json.hpp"
#include "harness/measure/runs/ladder.hpp"
#include "harness/measure/runs/ladder_story.hpp"
#include "harness/measure/runs/leave_one_out.hpp"
#include "harness/measure/runs/steps.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

ordered_json variants_json(const RunOptions& options, const std::vector<CaseGroup>& plan) {
  ordered_json list = ordered_json::array();
  for (const ProblemVariant& registered : planned_variants(options)) {
    const auto appears = [&registered](const CaseGroup& group) {
      return std::ranges::any_of(group.cases, [&registered](const PlannedCase& planned) {
        return planned.variant.variant == registered.variant;
      });
    };
    if (std::ranges::any_of(plan, appears)) list.push_back(variant_json(registered.info));
  }
  return list;
}

std::vector<std::string> planned_ids(const std::vector<CaseGroup>& plan) {
  std::vector<std::string> ids;
  for (const CaseGroup& group : plan) {
    for (const PlannedCase& planned : group.cases) ids.push_back(planned.id);
  }
  return ids;
}

/// The fields after the cases until the last one comes, with which those derived from all cases are added.
Record::Fields fields_behind(const ordered_json& ceilings) {
  return {{"ceilings", ceilings}, {"ladders", ordered_json::array()}};
}

}  // namespace

RecordContent RunRecord::content(const RunOptions& options, const std::vector<std::string>& command_line,
                                 const std::vector<CaseGroup>& plan, const ImageSet& images) {
  return {.command_line = command_line,
          .options = options_to_json(options),
          .seed = options.seed,
          .dataset = dataset_json(images),
          .planned = planned_ids(plan),
          .fields = {{"variants", variants_json(options, plan)}},
          .behind = fields_behind(ordered_json::array())};
}

void RunRecord::check(const ordered_json& json, const std::string& file) {
  static_cast<void>(recorded_run_of(json, file));  // checks every field of it
  const JsonPlace ceilings = JsonPlace(json, file).at("ceilings");
  if (ceilings.is_null()) return;
  for (const JsonPlace& one : ceilings.list()) static_cast<void>(one.at("device").text());
  CeilingSampler({}, {}, ceilings.json());
}

ordered_json derived_ladders(const std::vector<CaseFigures>& cases, const std::vector<VariantFigures>& variants,
                             const ordered_json& ceilings) {
  ordered_json ladders = ladders_json(ladders_of(cases, variants, ceilings));
  add_counted_stories(ladders, counted_ladders_of(cases, variants));
  add_steps(ladders, cases, variants);
  return ladders;
}

RunFigures run_figures(const ordered_json& record, const std::string& file) {
  const JsonPlace place(record, file);
  return {.cases = case_figures(place.at("cases")),
          .variants = variant_figures(place.at("variants")),
          .ceilings = place.at("ceilings").json(),
          .context = place.at("context").json()};
}

RunRecord::RunRecord(Record record) : record_(std::move(record)) {
  if (json().contains("ceilings")) ceilings_ = json().at("ceilings");
  if (json().contains("sentinels")) sentinels_ = json().at("sentinels");
}

Record::Fields RunRecord::behind_cases() const {
  Record::Fields fields = fields_behind(ceilings_);
  if (!sentinels_.is_null()) fields["sentinels"] = sentinels_;
  return fields;
}

void RunRecord::add_sentinel(const char* when, const PlannedCase& planned, const CaseOutcome& outcome) {
  const ordered_json json = case_json(planned, outcome);
  sentinels_.push_back({{"session", record_.session()},
                        {"when", when},
                        {"case", planned.id},
                        {"status", json.at("status")},
                        {"reason", json.at("reason")},
                        {"time", json.at("time")},
                        {"quality", json.at("quality")}});
}

void RunRecord::add(const PlannedCase& planned, const CaseOutcome& outcome) {
  record_.add(case_json(planned, outcome), behind_cases());
}

void RunRecord::take_over(ordered_json one_case) {
  one_case.erase("session");
  record_.add(std::move(one_case), behind_cases());
}

Record::Fields RunRecord::derived() const {
  if (json().value("kind", "") == kShardKind.kind) return behind_cases();  // the other shards are not known here
  const std::vector<CaseFigures> of_cases = cases();
  Record::Fields fields{{"ceilings", ceilings_}, {"ladders", derived_ladders(of_cases, variants(), ceilings_)}};
  const std::vector<LeaveOneOut> views = leave_one_out_of(of_cases, variants());
  if (!views.empty()) fields["leave_one_out"] = leave_one_out_json(views);
  if (!sentinels_.is_null()) fields["sentinels"] = sentinels_;
  return fields;
}

std::vector<CaseFigures> RunRecord::cases() const {
  const ordered_json cases = record_.cases_as_planned();
  return case_figures(JsonPlace(cases, file().string() + ": cases"));
}

std::vector<VariantFigures> RunRecord::variants() const {
  return variant_figures(JsonPlace(json(), file().string()).at("variants"));
}

void RunRecord::complete() {
  if (!record_.is_complete()) record_.complete(derived());
}

}  // namespace convladder

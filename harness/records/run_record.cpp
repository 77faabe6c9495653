#include "harness/records/run_record.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/records/case_json.hpp"
#include "harness/records/ladder.hpp"
#include "harness/records/leave_one_out.hpp"
#include "harness/records/recorded_run.hpp"
#include "support/errors.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

ordered_json variants_json(const std::vector<CaseGroup>& plan) {
  ordered_json list = ordered_json::array();
  const Problem& problem = plan.empty() ? convolution_problem() : *plan.front().work.shape.problem;
  for (const ProblemVariant& registered : problem.variants()) {
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

}  // namespace

RunRecord::RunRecord(Record record) : record_(std::move(record)) {
  if (json().contains("ceilings")) ceilings_ = json().at("ceilings");
}

RunRecord RunRecord::create(const std::filesystem::path& folder, const RunOptions& options,
                            const std::vector<std::string>& command_line, const std::vector<CaseGroup>& plan,
                            const ImageSet& images) {
  return RunRecord(Record::create(
      folder, kRunKind, {command_line, options_to_json(options), options.seed, dataset_json(images)}, planned_ids(plan),
      {{"variants", variants_json(plan)}}, {{"ceilings", ordered_json::array()}, {"ladders", ordered_json::array()}}));
}

RunRecord RunRecord::open(const std::filesystem::path& folder) {
  return RunRecord(Record::open(folder, kRunKind, [](const ordered_json& json, const std::string& file) {
    static_cast<void>(recorded_run_of(json, file));  // all of it is what it has to be
  }));
}

RunOptions RunRecord::options() const {
  return options_from_json(JsonPlace(json(), file().string()).at("context").at("options"));
}

void RunRecord::resume(const std::vector<CaseGroup>& plan, const ImageSet& images) {
  record_.go_on(planned_ids(plan), dataset_json(images), behind());
}

void RunRecord::add(const PlannedCase& planned, const CaseOutcome& outcome) {
  record_.add(case_json(planned, outcome, record_.session()), behind());
}

std::vector<CaseFigures> RunRecord::cases() const {
  const ordered_json cases = record_.cases_as_planned();
  return case_figures(JsonPlace(cases, file().string() + ": cases"));
}

std::vector<VariantFigures> RunRecord::variants() const {
  return variant_figures(JsonPlace(json(), file().string()).at("variants"));
}

void RunRecord::complete() {
  if (record_.is_complete()) return;
  const std::vector<CaseFigures> of_cases = cases();
  ordered_json derived{{"ceilings", ceilings_}, {"ladders", ladders_json(ladders_of(of_cases, variants(), ceilings_))}};
  const std::vector<LeaveOneOut> views = leave_one_out_of(of_cases, variants());
  if (!views.empty()) derived["leave_one_out"] = leave_one_out_json(views);
  record_.complete(derived);
}

}  // namespace convladder

// run.json: the record of `convladder run`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/measure/cases/measurement.hpp"
#include "harness/measure/plan/plan.hpp"
#include "harness/measure/records/case_figures.hpp"
#include "harness/measure/records/record.hpp"

namespace convladder {

/// `ladders` of the record, with their stories and steps, from its cases, variants and ceilings.
nlohmann::ordered_json derived_ladders(const std::vector<CaseFigures>& cases,
                                       const std::vector<VariantFigures>& variants,
                                       const nlohmann::ordered_json& ceilings);

/// The typed figures of a run's record.
struct RunFigures {
  std::vector<CaseFigures> cases;  ///< in the order of the plan
  std::vector<VariantFigures> variants;
  nlohmann::ordered_json ceilings;
  nlohmann::ordered_json context;
};

/// The figures of a record whose cases are in the order of the plan. Throws UserError.
RunFigures run_figures(const nlohmann::ordered_json& record, const std::string& file);

class RunRecord {
 public:
  /// The contents of the record from the start, which a record has to hold to be gone on with (Record::create,
  /// Record::go_on).
  static RecordContent content(const RunOptions& options, const std::vector<std::string>& command_line,
                               const std::vector<CaseGroup>& plan, const ImageSet& images);
  /// Throws UserError where a record is not as this program writes it (Record::open).
  static void check(const nlohmann::ordered_json& json, const std::string& file);
  explicit RunRecord(Record record);

  bool has(const std::string& id) const { return record_.has(id); }
  /// The measurements of the devices' ceilings so far.
  const nlohmann::ordered_json& ceilings() const { return ceilings_; }
  /// Sets the ceilings: they are in the file as soon as a case is added or the run is complete.
  void set_ceilings(nlohmann::ordered_json ceilings) { ceilings_ = std::move(ceilings); }
  /// Adds, to a shard, the outcome of the case that was its session's sentinel, "before" or "after" its cases; it is in
  /// the file with the next of them.
  void add_sentinel(const char* when, const PlannedCase& planned, const CaseOutcome& outcome);
  /// Adds a finished case to the file.
  void add(const PlannedCase& planned, const CaseOutcome& outcome);
  /// Adds a case that another record has (unchanged_cases.hpp) to the file.
  void take_over(nlohmann::ordered_json one_case);
  /// Completes the run when all planned cases have a status: derives the ladders and the views without one idea, and
  /// writes all of it.
  void complete();
  /// Derives the ladders and views of an interrupted run from its recorded cases; it can still be gone on with.
  void derive() { record_.derive(derived()); }

  /// The figures of the record's cases and variants, in the order of the plan.
  std::vector<CaseFigures> cases() const;
  std::vector<VariantFigures> variants() const;
  RunFigures figures() const { return {cases(), variants(), ceilings_, json().at("context")}; }

  bool any_failed() const { return record_.any_failed(); }
  const std::filesystem::path& file() const { return record_.file(); }
  const nlohmann::ordered_json& json() const { return record_.json(); }

 private:
  Record::Fields derived() const;
  Record::Fields behind_cases() const;

  Record record_;
  nlohmann::ordered_json ceilings_ = nlohmann::ordered_json::array();
  nlohmann::ordered_json sentinels_;  ///< null except for a shard
};

}  // namespace convladder

// run.json: the record of `convladder run`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/cases/measurement.hpp"
#include "harness/plan/plan.hpp"
#include "harness/records/case_figures.hpp"
#include "harness/records/record.hpp"

namespace convladder {

class RunRecord {
 public:
  /// A new run; an interrupted one. Both throw as Record's do.
  static RunRecord create(const std::filesystem::path& folder, const RunOptions& options,
                          const std::vector<std::string>& command_line, const std::vector<CaseGroup>& plan,
                          const ImageSet& images);
  static RunRecord open(const std::filesystem::path& folder);

  /// The settings the run was started with.
  RunOptions options() const;
  /// Checks that a resumed run matches the one that was started, and adds a session (Record::go_on).
  void resume(const std::vector<CaseGroup>& plan, const ImageSet& images);

  bool has(const std::string& id) const { return record_.has(id); }
  /// What was measured of the devices' ceilings so far; empty in records of older versions.
  const nlohmann::ordered_json& ceilings() const { return ceilings_; }
  /// From now on, in the file as soon as a case is added or the run is complete.
  void set_ceilings(nlohmann::ordered_json ceilings) { ceilings_ = std::move(ceilings); }
  /// Adds a finished case to the file.
  void add(const PlannedCase& planned, const CaseOutcome& outcome);
  /// All planned cases have a status: derives the ladders and the views without one idea, and writes all of it.
  void complete();

  /// What the record says of its cases and variants, in the order of the plan.
  std::vector<CaseFigures> cases() const;
  std::vector<VariantFigures> variants() const;

  bool any_failed() const { return record_.any_failed(); }
  const std::filesystem::path& file() const { return record_.file(); }
  const nlohmann::ordered_json& json() const { return record_.json(); }

 private:
  /// What is derived from the cases comes with the last one.
  Record::Fields behind() const { return {{"ceilings", ceilings_}, {"ladders", nlohmann::ordered_json::array()}}; }
  explicit RunRecord(Record record);

  Record record_;
  nlohmann::ordered_json ceilings_ = nlohmann::ordered_json::array();
};

}  // namespace convladder

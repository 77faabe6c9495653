// run.json: the record of `convladder run`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/measure/cases/case_outcome.hpp"
#include "harness/measure/plan/plan.hpp"
#include "harness/measure/records/record.hpp"
#include "harness/measure/records/record_context.hpp"
#include "harness/measure/records/recorded_case.hpp"
#include "harness/measure/runs/derived_ladders.hpp"

namespace convladder {

/// The typed figures of a run's record.
struct RunFigures {
  std::vector<RecordedCase> cases;  ///< in the order of the plan
  std::vector<RecordedVariant> variants;
  Ceilings ceilings;
  RecordContext context;
};

/// The figures of a record whose cases are in the order of the plan. Throws UserError.
RunFigures run_figures(const nlohmann::ordered_json& record, const std::string& file);
/// As `run_figures`, for a file, which has to be a run of single layers of this program's.
RunFigures read_run_figures(const std::string& file);
/// Throws UserError for a record that is none.
void require_run(const JsonPlace& record);

/// The options of the run in that file, with which its cases can be measured again. Throws UserError.
RunOptions recorded_options(const std::string& file);

/// `ladders` of the record, and what is read back of it. Reading throws UserError.
nlohmann::ordered_json ladders_json(const std::vector<DerivedLadder>& ladders);
/// A document of its own: {"kind": "ladders", "ladders"}.
std::string ladders_json_text(const std::vector<DerivedLadder>& ladders);
std::vector<RecordedLadder> read_ladders(const JsonPlace& ladders);
nlohmann::ordered_json step_json(const Step& step);

/// `leave_one_out` of the record.
nlohmann::ordered_json leave_one_out_json(const std::vector<LeaveOneOut>& views);

class RunRecord {
 public:
  /// The contents of the record from the start, which a record has to hold to be gone on with (Record::create,
  /// Record::go_on).
  static RecordContent content(const RunOptions& options, const std::vector<std::string>& command_line,
                               const std::vector<CaseGroup>& plan, const ImageSet& images);
  /// Throws UserError where a record is not as this program writes it (Record::open).
  static void check(const nlohmann::ordered_json& json, const std::string& file);
  /// Throws UserError where the record is not as this program writes it.
  explicit RunRecord(Record record);

  bool has(const std::string& id) const { return record_.has(id); }
  /// The measurements of the devices' ceilings so far.
  const Ceilings& ceilings() const { return figures_.ceilings; }
  /// Sets the ceilings: they are in the file as soon as a case is added or the run is complete.
  void set_ceilings(Ceilings ceilings) { figures_.ceilings = std::move(ceilings); }
  /// Adds, to a shard, the outcome of the case that was its session's sentinel, "before" or "after" its cases; it is in
  /// the file with the next of them.
  void add_sentinel(const char* when, const PlannedCase& planned, const CaseOutcome& outcome);
  /// Adds a finished case to the file.
  void add(const PlannedCase& planned, const CaseOutcome& outcome);
  /// Adds a case that another record has to the file.
  void take_over(nlohmann::ordered_json one_case);
  /// Completes the run when all planned cases have a status: derives the ladders and the views without one idea, and
  /// writes all of it.
  void complete();
  /// Derives the ladders and views of an interrupted run from its recorded cases; it can still be gone on with.
  void derive();

  /// The figures of the record so far, with the cases in the order of the plan.
  const RunFigures& figures() const { return figures_; }

  std::size_t planned() const { return places_.size(); }
  bool is_complete() const { return record_.is_complete(); }
  bool any_failed() const { return record_.any_failed(); }
  const std::filesystem::path& file() const { return record_.file(); }
  const nlohmann::ordered_json& json() const { return record_.json(); }

 private:
  Record::Fields derived() const;
  Record::Fields behind_cases() const;

  void remember(RecordedCase one);

  Record record_;
  std::map<std::string, std::size_t> places_;  ///< in the plan, by the case's id
  RunFigures figures_;
  std::shared_ptr<nlohmann::ordered_json> sentinels_;  ///< null except for a shard
};

/// Adds to a new record the cases of the ladder's last run that were right and have not changed since: made of the
/// same, with the same settings, by the same build on the same machine. Returns where they come from, or an empty path,
/// and how many.
struct TakenOver {
  std::filesystem::path from;
  int cases = 0;
};
TakenOver take_over_unchanged(RunRecord& record, const std::vector<CaseGroup>& plan, const RunOptions& options);

/// From now on `record` is the ladder's last run.
void remember_run(const std::filesystem::path& record, const RunOptions& options);

}  // namespace convladder

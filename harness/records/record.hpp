// The record of a run: run.json, complete and readable at every moment.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/cases/measurement.hpp"
#include "harness/plan/plan.hpp"
#include "harness/records/record_folder.hpp"

namespace convladder {

class RunRecord {
 public:
  /// A new run. Creates the folder; throws UserError if it cannot, if it holds a run already, or if another program
  /// writes into it.
  static RunRecord create(const std::filesystem::path& folder, const RunOptions& options,
                          const std::vector<std::string>& command_line, const std::vector<CaseGroup>& plan,
                          const ImageSet& images);
  /// An interrupted run. Throws UserError if there is none, or it is damaged, or of another schema version, or if
  /// another program writes into its folder.
  static RunRecord open(const std::filesystem::path& folder);

  /// The settings the run was started with.
  RunOptions options() const;
  /// Checks that a resumed run matches the one that was started: same program, host, plan and data. Throws UserError
  /// that names what differs. Adds a session.
  void resume(const std::vector<CaseGroup>& plan, const ImageSet& images);

  bool has(const std::string& id) const { return recorded_.contains(id); }
  /// What was measured of the devices' ceilings so far; empty in records of older versions.
  const nlohmann::ordered_json& ceilings() const;
  /// From now on, in the file as soon as that is written next.
  void set_ceilings(nlohmann::ordered_json ceilings) { json_["ceilings"] = std::move(ceilings); }
  /// Adds a finished case and writes the file.
  void add(const PlannedCase& planned, const CaseOutcome& outcome);
  /// All planned cases have a status: marks the run as complete and writes the file.
  void complete();

  const std::filesystem::path& file() const { return file_.path(); }
  const nlohmann::ordered_json& json() const { return json_; }

 private:
  explicit RunRecord(RecordFile file) : file_(std::move(file)) {}
  void write();

  RecordFile file_;
  nlohmann::ordered_json json_;
  std::set<std::string> recorded_;
};

}  // namespace convladder

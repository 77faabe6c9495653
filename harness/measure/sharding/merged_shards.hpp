// The contents of all shards of a plan: read once, case by case, and compared with the plan.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/machine/device_ceilings.hpp"
#include "harness/measure/records/record_reader.hpp"
#include "harness/measure/sharding/run_plan.hpp"
#include "harness/measure/sharding/sentinels.hpp"

namespace convladder {

/// Where a planned case is recorded.
struct CaseOfShard {
  std::size_t reader = 0;   ///< index of the shard's record
  std::size_t number = 0;   ///< of the case in that record
  std::size_t session = 0;  ///< among all sessions of all shards
  bool timed = false;       ///< or would have been timed: it was run, and nothing was counted
};

/// A machine that cases come from.
struct MachineOfShards {
  nlohmann::ordered_json about;  ///< machine_json()
  int kind = 0;                  ///< machines of the same number have the same machine_kind()
  MachineVerdict verdict;
  std::string node() const;
};

class MergedShards {
 public:
  /// Reads every DIR/shards/*/shard.json of the plan. Throws UserError for a damaged file; a shard that is only
  /// missing, or there twice, becomes a problem.
  MergedShards(const RunPlan& plan, double sentinel_limit);

  const RunPlan& plan() const { return *plan_; }
  /// The planned cases in the order of the plan; none for those that no shard has.
  const std::vector<std::optional<CaseOfShard>>& cases() const { return cases_; }
  /// The case with its session among all sessions.
  nlohmann::ordered_json case_json(const CaseOfShard& one) const;

  const std::vector<MachineOfShards>& machines() const { return machines_; }
  int kinds() const;
  /// `context.sessions` of the merged record.
  const nlohmann::ordered_json& sessions() const { return sessions_; }
  std::size_t machine_of(const CaseOfShard& one) const;
  const nlohmann::ordered_json& sentinels() const { return sentinels_; }
  /// `ceilings` of all machines of a kind together.
  const Ceilings& ceilings(int kind) const;

  /// Shards of another plan, shards and cases that occur twice, cases that nobody planned, groups that two machines
  /// measured: a line each. Shards with any of these cannot be merged.
  const std::vector<std::string>& contradictions() const { return contradictions_; }
  /// Shards that are missing or not finished: a line each.
  const std::vector<std::string>& holes() const { return holes_; }
  /// Machines that are off and hold timed cases: a line each, with the shards.
  std::vector<std::string> machines_off() const;
  /// Kinds of machines with too few machines to tell which one is off: a line each.
  std::vector<std::string> doubts() const;
  /// Leaves out the timed cases of machines that are off.
  void leave_out_machines_off();

 private:
  void read_shard(const std::filesystem::path& file);
  std::vector<std::size_t> take_sessions(const RecordReader& reader, int shard);
  void take_cases(std::size_t reader, int shard, const std::vector<std::size_t>& sessions);
  std::size_t number_of_machine(const nlohmann::ordered_json& machine);
  void find_holes();
  void find_divided_groups();
  void judge();

  const RunPlan* plan_;
  double sentinel_limit_;
  std::map<std::string, std::size_t, std::less<>> planned_;  ///< the number of a case by its id
  std::vector<int> shard_of_case_;
  std::vector<std::optional<CaseOfShard>> cases_;
  std::vector<RecordReader> readers_;
  std::map<int, std::string> read_shards_;  ///< shard numbers, and the file of each
  std::vector<MachineOfShards> machines_;
  std::vector<nlohmann::ordered_json> kinds_;
  std::map<int, Ceilings> ceilings_;  ///< by kind
  nlohmann::ordered_json sessions_ = nlohmann::ordered_json::array();
  nlohmann::ordered_json sentinels_ = nlohmann::ordered_json::array();
  std::vector<std::string> contradictions_;
  std::vector<std::string> holes_;
};

}  // namespace convladder

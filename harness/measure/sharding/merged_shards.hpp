// The contents of all shards of a plan: read once, case by case, and compared with the plan.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/machine/device_ceilings.hpp"
#include "harness/measure/sharding/run_plan.hpp"
#include "harness/measure/sharding/sentinels.hpp"
#include "harness/measure/sharding/shard_json.hpp"

namespace convladder {

/// Where a planned case is recorded.
struct CaseOfShard {
  std::size_t reader = 0;   ///< index of the shard's record
  std::size_t number = 0;   ///< of the case in that record
  std::size_t session = 0;  ///< among all sessions of all shards
  bool timed = false;       ///< or would have been timed: it was run, and nothing was counted
  bool failed = false;
};

class MergedShards {
 public:
  /// Reads every DIR/shards/*/shard.json of the plan. Throws UserError for a damaged file; a shard that is only
  /// missing, or there twice, becomes a problem.
  MergedShards(const RunPlan& plan, double sentinel_limit);

  const RunPlan& plan() const { return *plan_; }
  /// The planned cases in the order of the plan; none for those that no shard has.
  const std::vector<std::optional<CaseOfShard>>& cases() const { return cases_; }
  /// The record that holds the case.
  const ShardReader& reader_of(const CaseOfShard& one) const { return readers_.at(one.reader); }

  const std::vector<MachineOfShards>& machines() const { return machines_; }
  int kinds() const { return kinds_; }
  const std::vector<SessionOfShards>& sessions() const { return sessions_; }
  std::size_t machine_of(const CaseOfShard& one) const { return sessions_.at(one.session).machine; }
  const std::vector<SentinelOfShards>& sentinels() const { return sentinels_; }
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
  std::vector<std::size_t> take_sessions(const ShardReader& reader, int shard);
  void take_cases(std::size_t reader, int shard, const std::vector<std::size_t>& sessions);
  std::size_t number_of_machine(MachineOfShards machine);
  void find_holes();
  void find_divided_groups();
  void judge();

  const RunPlan* plan_;
  double sentinel_limit_;
  std::map<std::string, std::size_t, std::less<>> planned_;  ///< the number of a case by its id
  std::vector<int> shard_of_case_;
  std::vector<std::optional<CaseOfShard>> cases_;
  std::vector<ShardReader> readers_;
  std::map<int, std::string> read_shards_;  ///< shard numbers, and the file of each
  std::vector<MachineOfShards> machines_;
  int kinds_ = 0;
  std::map<int, Ceilings> ceilings_;  ///< by kind
  std::vector<SessionOfShards> sessions_;
  std::vector<SentinelOfShards> sentinels_;
  std::vector<std::string> contradictions_;
  std::vector<std::string> holes_;
};

}  // namespace convladder

// plan.json: a run in parts that may be measured on many machines. It is written once; every shard and the merge
// compare their data with it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/measure/plan/options.hpp"

namespace convladder {

inline constexpr int kMostShards = 1'000'000;

/// Cases that are compared: they stay in one shard, so that one process on one machine measures them side by side.
struct GroupOfPlan {
  std::string id;                ///< "cpu/lenet28.conv1/10"
  int shard = 0;                 ///< shard_of(id)
  double predicted_seconds = 0;  ///< as predicted by the machine that planned
  std::vector<std::string> cases;
};

/// Everything that the merged record takes from the plan unchanged is JSON in a text, which shard_json.hpp makes and
/// reads.
struct RunPlan {
  std::filesystem::path file;
  std::string id;       ///< SHA-256 of everything else in the plan's file, known or not
  std::string program;  ///< JSON: context.program, with the checksum of its file in "sha256"
  RunOptions options;
  std::string dataset;   ///< JSON: context.dataset
  std::string variants;  ///< JSON: `variants` of a run
  std::string made_of;   ///< SHA-256 of the sources of a ladder's folder; empty without one
  int shards = 1;
  std::vector<std::string> sentinels;  ///< ids of cases that every machine measures (sentinels.hpp)
  std::vector<GroupOfPlan> groups;     ///< in the order of the plan

  std::filesystem::path folder() const;
  /// The folder of that shard's record.
  std::filesystem::path shard_folder(int shard) const;
};

/// The first 16 hex digits of SHA-256 of the group's id as a number, modulo the number of shards: the same on every
/// machine, whatever else is in the plan.
int shard_of(std::string_view group, int shards);

/// The text of plan.json.
std::string run_plan_text(const RunPlan& plan);

/// Reads DIR/plan.json, or DIR. Throws UserError, one line: no such file, not a plan, an id that does not follow from
/// the rest (somebody changed, added, dropped or repeated a field), a field of the wrong kind.
RunPlan read_run_plan(const std::filesystem::path& file);
/// As `read_run_plan`, for the text of a plan; `file` is its name in messages.
RunPlan parse_run_plan(std::string_view text, const std::filesystem::path& file);

/// The plan's `id`: SHA-256 of everything else in it.
std::string id_of_plan(const RunPlan& plan);

/// Predicted seconds of all shards, and of the longest.
struct SecondsOfPlan {
  double all = 0;
  double longest = 0;
};
SecondsOfPlan seconds_of(const RunPlan& plan);

}  // namespace convladder

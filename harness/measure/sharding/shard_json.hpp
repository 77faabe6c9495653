// The JSON of a shard's record, and of the run.json that is merged of shards: read and written here. A machine, a
// session and a case are handed on between files as they stand there: as JSON in a text.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/measure/records/record.hpp"
#include "harness/measure/records/record_file.hpp"
#include "harness/measure/records/recorded_case.hpp"
#include "harness/measure/runs/derived_ladders.hpp"
#include "harness/measure/runs/leave_one_out.hpp"
#include "harness/measure/sharding/run_plan.hpp"
#include "harness/measure/sharding/sentinels.hpp"

namespace convladder {

// ---- A plan's texts

/// The build of this program as a plan has it: `context.program`, and the checksum of the program's file, without which
/// a build with other processor flags would describe itself in the same way.
std::string planned_program();
/// `context.dataset` of a run on these images, and its `variants`.
std::string dataset_text(const ImageSet& images);
std::string variants_text(const RecordContent& run);

/// Throws UserError unless this is the program with which the plan was made.
void require_planned_program(const RunPlan& plan);
/// The difference between two data sets, in one line; empty if there is none.
std::string data_difference(const std::string& then, const std::string& now);

// ---- A shard on its machine

/// Adds the plan, the shard's number and this session's machine and scheduler to the contents of a shard's record.
void describe_shard(RecordContent& content, const RunPlan& plan, int shard);

/// Whether an opened record is that shard of that plan.
bool is_shard_of(const Record& record, const RunPlan& plan, int shard);

/// A recorded case, and where it was measured.
struct CaseOnMachine {
  std::string id;
  std::string node;      ///< fit for a message
  bool here = false;     ///< on this machine
  bool was_run = false;  ///< whether it was run, to its end or not
  bool counted = false;
};
/// The cases of an opened shard. Throws UserError.
std::vector<CaseOnMachine> cases_on_machines(const Record& record);

// ---- Shards that are merged

/// A machine that cases come from.
struct MachineOfShards {
  std::string about;     ///< machine_json()
  std::string likeness;  ///< machine_kind()
  std::string node;
  int kind = 0;  ///< machines of the same number have the same likeness
  MachineVerdict verdict = {};
};

struct SessionOfShards {
  std::string about;    ///< as the shard has it
  std::string started;  ///< its date; empty if it has none
  std::size_t machine = 0;
  int shard = 0;
};

struct SentinelOfShards {
  std::string about;  ///< as the shard has it
  SentinelRun run;
  std::size_t session = 0;
};

/// The parts of a shard beside its cases. Machines and sessions are numbered as in the shard.
struct ShardParts {
  std::vector<MachineOfShards> machines;
  std::vector<SessionOfShards> sessions;
  std::vector<SentinelOfShards> sentinels;
  Ceilings ceilings;
};

/// shard.json, a part at a time. Everything here throws UserError for a part that is not as this program writes it.
class ShardReader {
 public:
  explicit ShardReader(const std::filesystem::path& file);

  std::string name() const { return record_.file().string(); }
  /// Whether the end is missing.
  bool is_cut() const { return record_.is_cut(); }
  /// The id of its plan, and its number there.
  std::string plan() const;
  int number(int shards) const;
  /// Whether it was measured by the program that made the plan.
  bool is_by_program_of(const RunPlan& plan) const;
  ShardParts parts() const;

  std::size_t cases() const { return record_.cases(); }
  /// The place of a case in messages.
  std::string name_of_case(std::size_t number) const;
  RecordedCase case_at(std::size_t number) const;
  RecordedCase whole_case_at(std::size_t number) const;
  /// The text of a case in a record, with another number for its session.
  std::string case_text(std::size_t number, std::size_t session) const;

 private:
  JsonPlace place() const { return {record_.fields(), name()}; }

  RecordReader record_;
};

/// The id of the plan whose merged record the file is; empty for any other. Throws UserError for a file that is no
/// record.
std::string plan_of_merged(const std::filesystem::path& file);

/// The text of a merged record before its cases.
std::string text_before_cases(const RunPlan& plan, const std::vector<MachineOfShards>& machines,
                              const std::vector<SessionOfShards>& sessions,
                              const std::vector<std::string>& command_line, bool complete);

/// The text of an element of a list after the cases.
std::string listed_text(const DeviceCeilings& ceilings);
std::string listed_text(const DerivedLadder& ladder);
std::string listed_text(const LeaveOneOut& view);
std::string listed_text(const SentinelOfShards& sentinel);

/// The variants of a plan.
std::vector<RecordedVariant> variants_of(const RunPlan& plan);

}  // namespace convladder

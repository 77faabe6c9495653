// A plan made of the cases to be run; and a shard of one: which it is that this process is to run, and its record, with
// which any machine can go on.
#pragma once

#include <string>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/measure/plan/options.hpp"
#include "harness/measure/plan/plan.hpp"
#include "harness/measure/records/record.hpp"
#include "harness/measure/sharding/run_plan.hpp"

namespace convladder {

/// "cpu/lenet28.conv1/10"
std::string group_id(const CaseGroup& group);

/// Makes the plan. Its `id` follows from the rest. `seconds` are predicted, one for each group.
RunPlan make_run_plan(const RunOptions& options, const std::vector<CaseGroup>& plan, const std::vector<double>& seconds,
                      const ImageSet& images, int shards);

/// The shard number in "3/64", or "3"; for an empty text the number that Slurm gives an array's task, or a step's.
/// Throws UserError for a number that is no shard of the plan, and where no number is given.
int shard_number(const std::string& text, const RunPlan& plan);

/// Throws UserError, naming the difference, unless this machine plans the same cases, of the same sources and data.
void require_as_planned(const RunPlan& plan, const std::vector<CaseGroup>& now, const ImageSet& images);

struct OpenedShard {
  Record record;
  std::vector<std::string> notes;  ///< the cases that are measured again, and why
};

/// Opens the record of that shard, new or to be gone on with. Cases stay as they are, except those that one of
/// `not_from` measured (names of nodes), and the timed ones of a group that another machine left unfinished: cases that
/// are compared are measured on one machine. Throws UserError: another process works on the shard, its record is of
/// another plan, this machine is one of `not_from`.
OpenedShard open_shard(const RunPlan& plan, int shard, const std::vector<CaseGroup>& groups, RecordContent content,
                       const std::vector<std::string>& not_from);

}  // namespace convladder

// A shard of a plan: which one this process is to run, and its record, with which any machine can go on.
#pragma once

#include <string>
#include <vector>

#include "harness/measure/plan/plan.hpp"
#include "harness/measure/records/record.hpp"
#include "harness/measure/sharding/run_plan.hpp"

namespace convladder {

/// The shard number in "3/64", or "3"; for an empty text the number that Slurm gives an array's task, or a step's.
/// Throws UserError for a number that is no shard of the plan, and where no number is given.
int shard_number(const std::string& text, const RunPlan& plan);

/// Throws UserError unless this is the program with which the plan was made.
void require_planned_program(const RunPlan& plan);

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

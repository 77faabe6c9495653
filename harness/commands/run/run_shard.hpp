// `convladder run --plan`: runs one shard of a plan, on whichever machine this is.
#pragma once

#include <string>
#include <vector>

#include "harness/commands/run/run_cases.hpp"

namespace CLI {
class App;
}

namespace convladder {

struct ShardArguments {
  std::string plan;   ///< plan.json, or its folder; empty: no shard is asked for
  std::string shard;  ///< "3/64"; empty: as the scheduler says
  std::vector<std::string> not_from;
};

/// Adds --plan, --shard and --not-from.
void add_shard_options(CLI::App& run, ShardArguments& a);

/// Throws UserError for --shard or --not-from without --plan.
void refuse_without_plan(const ShardArguments& a);

/// Runs the cases that the shard's record lacks, however often it is started. Returns the exit code; throws UserError.
int run_shard(const ShardArguments& a, const RunInvocation& invocation);

}  // namespace convladder

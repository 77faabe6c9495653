// `convladder run --plan`: one shard of a plan, on whichever machine this is.
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
  std::string shard;  ///< "3/64"; empty: what the scheduler says
  std::vector<std::string> not_from;
};

/// --plan, --shard and --not-from
void add_shard_options(CLI::App& run, ShardArguments& a);

/// Throws UserError for the others without --plan.
void refuse_without_plan(const ShardArguments& a);

/// Runs what the shard's record lacks, however often it is started. Returns the exit code; throws UserError.
int run_shard(const ShardArguments& a, const RunInvocation& invocation);

}  // namespace convladder

// run.json of the shards of a plan, written in one go and never held in memory: a case at a time, and the figures
// derived from the cases of one layer and batch at a time.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harness/measure/sharding/merged_shards.hpp"

namespace convladder {

/// Called with the current step, and the share of it that is done, 0 to 1.
using MergeProgress = std::function<void(const char* what, double done)>;

/// Writes the file atomically. It is `complete` if no planned case is missing.
void write_merged_record(const MergedShards& shards, const std::filesystem::path& file,
                         const std::vector<std::string>& command_line, const MergeProgress& progress);

}  // namespace convladder

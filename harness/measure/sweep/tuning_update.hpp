// Writes the results of sweeps into the tuning tables, variants/tuning/*.json, from which the next build takes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/measure/sweep/sweep.hpp"

namespace convladder {

/// Throws UserError if the file into which these sweeps will be written exists and is not a tuning table. Called before
/// hours of sweeping.
void check_tuning_tables(const std::string& folder, const std::vector<Sweep>& sweeps);

/// Replaces or adds, in FOLDER/FAMILY-VARIANT.json, the findings of each sweep that has a winner: for every batch the
/// parameters that do not depend on the batch, and for the sweep's own batch all of them, if one that depends on it
/// differs from what the variant's model would take. Of several batches of a layer the last decides for all. Entries of
/// other layers stay. Returns the files, written or unchanged. Throws UserError for a folder that does not exist, and
/// for a file that is no tuning table.
std::vector<std::string> update_tuning_tables(const std::string& folder, const std::vector<Sweep>& sweeps,
                                              std::uint64_t seed);

}  // namespace convladder

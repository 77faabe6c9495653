// Writes what sweeps found into the tuning tables, variants/tuning/*.json, from which the next build takes it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/measure/sweep/sweep.hpp"

namespace convladder {

/// Throws UserError if the file that these sweeps will be written into exists and is not a tuning table. Called before
/// hours of sweeping.
void check_tuning_tables(const std::string& folder, const std::vector<Sweep>& sweeps);

/// Replaces or adds, in FOLDER/FAMILY-VARIANT.json, what each sweep that has a winner found: for every batch what does
/// not depend on the batch, and for the sweep's own batch everything, if something that depends on it is other than
/// what the variant's model would take. Of several batches of a layer the last speaks for all. Entries of other layers
/// stay. Returns the files, written or unchanged. Throws UserError for a folder that is not there, and for a file that
/// is no tuning table.
std::vector<std::string> update_tuning_tables(const std::string& folder, const std::vector<Sweep>& sweeps,
                                              std::uint64_t seed);

}  // namespace convladder

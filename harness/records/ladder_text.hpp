// The ladders of a record as tables for a terminal.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace convladder {

/// A table for each of `ladders` (harness/records/ladder.hpp) with a measured time, behind an empty line each: a row
/// for each stage with its time, its factor over the stage below, and percent of the fastest library, of the library's
/// bare op and of the layer's floor. A time that the machine disturbed has a sign, and the table a line that says so.
/// `variants` are those of the record. Empty if nothing was measured.
std::string ladders_text(const nlohmann::ordered_json& ladders, const nlohmann::ordered_json& variants);

}  // namespace convladder

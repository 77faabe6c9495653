// JSON of profiles and of a program's time, in records and as a command prints it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/measure/profile/profile_text.hpp"
#include "support/json_place.hpp"

namespace convladder {

/// {"unit": "ns", "groups": [{"group", "rows": [{"time_percent", "total_ns", "calls", "avg_ns", "med_ns", "min_ns",
/// "max_ns", "stddev_ns", "name"}], "cut_rows", "cut_time_percent"}]}; null for unknown values.
nlohmann::ordered_json profile_to_json(const ProfileTable& table);
/// Reads that JSON. A missing field is not known. Throws UserError.
ProfileTable read_profile(const JsonPlace& place);

/// {"kind": "measured", "user_seconds", "system_seconds", "elapsed_seconds", "cpu_percent", "max_resident_kilobytes"}
nlohmann::ordered_json to_json(const ProgramTime& time);
/// Reads that JSON. Throws UserError.
ProgramTime read_program_time(const JsonPlace& place);

/// [{"id", "program", "profile"}] on several lines, with a final line end; of each profile the rows that `cut_profile`
/// leaves.
std::string profiles_json(const std::vector<TitledProfile>& profiles, double cut_percent);

}  // namespace convladder

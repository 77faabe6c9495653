// Where the time went: activities summed by name, a table for each group, as profilers print them.
//
//   const ProfileTable table = make_profile(device.stop_activities());
//   fmt::print("{}", profile_text(table, {.layout = ProfileLayout::nvprof}));  // profile_text.hpp
//   record["profile"] = profile_to_json(table);                                        // profile_json.hpp
//
// A published table may have fewer values than ours; missing values are empty here and printed as blanks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "devices/device.hpp"

namespace convladder {

/// All activities of one name in one group. Times are nanoseconds.
struct ProfileRow {
  std::string name;
  std::optional<double> time_percent = std::nullopt;  ///< of the group's time
  std::optional<double> total_ns = std::nullopt;
  std::optional<std::uint64_t> calls = std::nullopt;
  std::optional<double> average_ns = std::nullopt;
  std::optional<double> median_ns = std::nullopt;
  std::optional<double> minimum_ns = std::nullopt;
  std::optional<double> maximum_ns = std::nullopt;
  std::optional<double> standard_deviation_ns =
      std::nullopt;  ///< of the sample (divisor calls - 1); 0 for a single call

  bool operator==(const ProfileRow&) const = default;
};

struct ProfileGroup {
  std::string name;              ///< "GPU activities", "API calls", "layers", "host phases"
  std::vector<ProfileRow> rows;  ///< by time, the longest first
  std::size_t cut_rows = 0;      ///< how many more there were, see `cut_profile`
  double cut_percent = 0;        ///< their share of the group's time

  bool operator==(const ProfileGroup&) const = default;
};

struct ProfileTable {
  std::vector<ProfileGroup> groups;

  bool operator==(const ProfileTable&) const = default;
};

/// Sums activities. Groups are in the order GPU activities, API calls, layers, host phases, then any other by its name;
/// rows by total time, equal ones by name.
ProfileTable make_profile(std::span<const Activity> activities);

/// The table with the rows of each group until their shares add up to at least `percent` (above 0); the rows left out
/// are counted in the group. At 100 and above, and from a row without a share on, nothing is left out.
ProfileTable cut_profile(const ProfileTable& table, double percent);

}  // namespace convladder

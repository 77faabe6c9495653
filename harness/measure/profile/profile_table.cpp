#include "harness/measure/profile/profile_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "harness/measure/statistics/statistics.hpp"

namespace convladder {

namespace {

constexpr std::array kGroupOrder = {activity_group::kGpu, activity_group::kApi, activity_group::kLayers,
                                    activity_group::kHost};

std::size_t group_place(std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(kGroupOrder, name) - kGroupOrder.begin());
}

double sample_standard_deviation(const std::vector<double>& values, double mean) {
  if (values.size() < 2) return 0;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

ProfileRow make_row(const std::string& name, const std::vector<double>& durations) {
  ProfileRow row;
  row.name = name;
  row.total_ns = std::accumulate(durations.begin(), durations.end(), 0.0);
  row.calls = durations.size();
  row.average_ns = *row.total_ns / static_cast<double>(durations.size());
  row.median_ns = median(durations);
  row.minimum_ns = std::ranges::min(durations);
  row.maximum_ns = std::ranges::max(durations);
  row.standard_deviation_ns = sample_standard_deviation(durations, *row.average_ns);
  return row;
}

ProfileGroup make_group(const std::string& name, const std::map<std::string, std::vector<double>>& durations) {
  ProfileGroup group;
  group.name = name;
  double total = 0;
  for (const auto& [row_name, values] : durations) {
    group.rows.push_back(make_row(row_name, values));
    total += *group.rows.back().total_ns;
  }
  for (ProfileRow& row : group.rows) row.time_percent = total > 0 ? *row.total_ns / total * 100 : 0;
  std::ranges::stable_sort(group.rows, std::ranges::greater(), [](const ProfileRow& row) { return *row.total_ns; });
  return group;
}

}  // namespace

ProfileTable make_profile(std::span<const Activity> activities) {
  using Place = std::pair<std::size_t, std::string>;  // of a group: known ones first, in their order
  std::map<Place, std::map<std::string, std::vector<double>>> durations;
  for (const Activity& activity : activities) {
    durations[{group_place(activity.group), activity.group}][activity.name].push_back(activity.duration_ns);
  }
  ProfileTable table;
  for (const auto& [place, rows] : durations) table.groups.push_back(make_group(place.second, rows));
  return table;
}

ProfileTable cut_profile(const ProfileTable& table, double percent) {
  ProfileTable result = table;
  if (percent >= 100) return result;
  for (ProfileGroup& group : result.groups) {
    double cumulative = 0;
    std::size_t shown = 0;
    while (shown < group.rows.size() && group.rows[shown].time_percent && cumulative < percent) {
      cumulative += *group.rows[shown++].time_percent;
    }
    const auto rest = std::span(group.rows).subspan(shown);
    if (std::ranges::any_of(rest, [](const ProfileRow& row) { return !row.time_percent; })) continue;
    group.cut_rows += rest.size();
    for (const ProfileRow& row : rest) group.cut_percent += *row.time_percent;
    group.rows.resize(shown);
  }
  return result;
}

}  // namespace convladder

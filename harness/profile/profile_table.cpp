#include "harness/profile/profile_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>
#include <utility>

#include "harness/statistics/statistics.hpp"
#include "support/errors.hpp"
#include "support/json_null.hpp"

namespace convladder {

using nlohmann::ordered_json;

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

/// The fields of a row that are numbers and may be unknown, by their names in JSON.
constexpr std::array<std::pair<const char*, std::optional<double> ProfileRow::*>, 7> kTimes = {
    {{"time_percent", &ProfileRow::time_percent},
     {"total_ns", &ProfileRow::total_ns},
     {"avg_ns", &ProfileRow::average_ns},
     {"med_ns", &ProfileRow::median_ns},
     {"min_ns", &ProfileRow::minimum_ns},
     {"max_ns", &ProfileRow::maximum_ns},
     {"stddev_ns", &ProfileRow::standard_deviation_ns}}};

ordered_json row_json(const ProfileRow& row) {
  ordered_json json = {{"time_percent", nullptr}, {"total_ns", nullptr}, {"calls", or_null(row.calls)}};
  for (const auto& [field, member] : kTimes) json[field] = or_null(row.*member);
  json["name"] = row.name;
  return json;
}

ProfileRow row_from_json(const ordered_json& json, const std::string& place) {
  if (!json.is_object()) throw UserError(fmt::format("{}: expected an object", place));
  ProfileRow row;
  if (!json.contains("name") || !json.at("name").is_string()) {
    throw UserError(fmt::format("{}.name: expected a string", place));
  }
  row.name = json.at("name").get<std::string>();
  const auto known = [&json](const char* field) { return json.contains(field) && !json.at(field).is_null(); };
  for (const auto& [field, member] : kTimes) {
    if (!known(field)) continue;
    if (!json.at(field).is_number() || !(json.at(field).get<double>() >= 0)) {
      throw UserError(fmt::format("{}.{}: expected a number that is not negative", place, field));
    }
    row.*member = json.at(field).get<double>();
  }
  if (known("calls")) {
    if (!json.at("calls").is_number_unsigned())
      throw UserError(fmt::format("{}.calls: expected a whole number", place));
    row.calls = json.at("calls").get<std::uint64_t>();
  }
  return row;
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
    std::size_t kept = 0;
    while (kept < group.rows.size() && group.rows[kept].time_percent && cumulative < percent) {
      cumulative += *group.rows[kept++].time_percent;
    }
    const auto rest = std::span(group.rows).subspan(kept);
    if (std::ranges::any_of(rest, [](const ProfileRow& row) { return !row.time_percent; })) continue;
    group.cut_rows += rest.size();
    for (const ProfileRow& row : rest) group.cut_percent += *row.time_percent;
    group.rows.resize(kept);
  }
  return result;
}

ordered_json profile_to_json(const ProfileTable& table) {
  ordered_json groups = ordered_json::array();
  for (const ProfileGroup& group : table.groups) {
    ordered_json rows = ordered_json::array();
    for (const ProfileRow& row : group.rows) rows.push_back(row_json(row));
    groups.push_back({{"group", group.name},
                      {"rows", std::move(rows)},
                      {"cut_rows", group.cut_rows},
                      {"cut_time_percent", group.cut_percent}});
  }
  return {{"unit", "ns"}, {"groups", std::move(groups)}};
}

ProfileTable profile_from_json(const ordered_json& json) {
  if (!json.is_object() || !json.contains("groups") || !json.at("groups").is_array()) {
    throw UserError("profile.groups: expected a list");
  }
  ProfileTable table;
  for (const ordered_json& group_json : json.at("groups")) {
    const std::string place = fmt::format("profile.groups[{}]", table.groups.size());
    if (!group_json.is_object() || !group_json.contains("group") || !group_json.at("group").is_string()) {
      throw UserError(fmt::format("{}.group: expected a string", place));
    }
    if (!group_json.contains("rows") || !group_json.at("rows").is_array()) {
      throw UserError(fmt::format("{}.rows: expected a list", place));
    }
    ProfileGroup& group = table.groups.emplace_back();
    group.name = group_json.at("group").get<std::string>();
    for (const ordered_json& row : group_json.at("rows")) {
      group.rows.push_back(row_from_json(row, fmt::format("{}.rows[{}]", place, group.rows.size())));
    }
    try {
      group.cut_rows = group_json.value("cut_rows", std::size_t{0});
      group.cut_percent = group_json.value("cut_time_percent", 0.0);
    } catch (const ordered_json::exception&) {
      throw UserError(fmt::format("{}: cut_rows and cut_time_percent are numbers", place));
    }
  }
  return table;
}

}  // namespace convladder

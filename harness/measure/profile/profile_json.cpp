#include "harness/measure/profile/profile_json.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "support/json_text.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

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

ProfileRow read_row(const JsonPlace& place) {
  ProfileRow row;
  row.name = place.at("name").text();
  for (const auto& [field, member] : kTimes) row.*member = place.at(field).number_or_none(kNotNegative);
  if (place.has("calls")) row.calls = place.at("calls").whole<std::uint64_t>();
  return row;
}

}  // namespace

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

ProfileTable read_profile(const JsonPlace& place) {
  ProfileTable table;
  for (const JsonPlace& one : place.at("groups").list()) {
    ProfileGroup& group = table.groups.emplace_back();
    group.name = one.at("group").text();
    for (const JsonPlace& row : one.at("rows").list()) group.rows.push_back(read_row(row));
    if (one.has("cut_rows")) group.cut_rows = one.at("cut_rows").whole<std::size_t>();
    group.cut_percent = one.at("cut_time_percent").number_or_none().value_or(0);
  }
  return table;
}

ordered_json to_json(const ProgramTime& time) {
  return {{"kind", "measured"},
          {"user_seconds", time.user_seconds},
          {"system_seconds", time.system_seconds},
          {"elapsed_seconds", time.elapsed_seconds},
          {"cpu_percent", or_null(time.cpu_percent())},
          {"max_resident_kilobytes", time.max_resident_kilobytes}};
}

ProgramTime read_program_time(const JsonPlace& place) {
  return {.user_seconds = place.at("user_seconds").number(kNotNegative),
          .system_seconds = place.at("system_seconds").number(kNotNegative),
          .elapsed_seconds = place.at("elapsed_seconds").number(kNotNegative),
          .max_resident_kilobytes = place.at("max_resident_kilobytes").whole<std::int64_t>()};
}

std::string profiles_json(const std::vector<TitledProfile>& profiles, double cut_percent) {
  ordered_json list = ordered_json::array();
  for (const TitledProfile& profile : profiles) {
    list.push_back({{"id", profile.id},
                    {"program", profile.program ? to_json(*profile.program) : ordered_json()},
                    {"profile", profile_to_json(cut_profile(profile.table, cut_percent))}});
  }
  return json_text(list);
}

}  // namespace convladder

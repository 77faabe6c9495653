#include "harness/measure/profile/profile_table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "expect_error.hpp"
#include "harness/measure/profile/profile_json.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

Activity activity(std::string_view group, const char* name, double duration_ns) {
  return {std::string(group), name, 0, duration_ns};
}

/// 60 + 25 + 10 + 5 percent of 1000 ns, and two calls of the API.
ProfileTable read(const ordered_json& json) { return read_profile(JsonPlace(json, "profile")); }

ProfileTable example() {
  const std::vector<Activity> activities = {activity(activity_group::kApi, "cudaMalloc", 30),
                                            activity(activity_group::kGpu, "conv", 100),
                                            activity(activity_group::kGpu, "[CUDA memset]", 50),
                                            activity(activity_group::kGpu, "conv", 200),
                                            activity(activity_group::kGpu, "[CUDA memcpy HtoD]", 250),
                                            activity(activity_group::kGpu, "conv", 300),
                                            activity(activity_group::kGpu, "pool", 100),
                                            activity(activity_group::kApi, "cudaFree", 70)};
  return make_profile(activities);
}

TEST(ProfileTable, SumsByNameAndSortsByTime) {
  const ProfileTable table = example();
  ASSERT_EQ(table.groups.size(), 2U);
  const ProfileGroup& gpu = table.groups[0];
  EXPECT_EQ(gpu.name, "GPU activities");
  ASSERT_EQ(gpu.rows.size(), 4U);
  EXPECT_EQ(gpu.rows[0].name, "conv");
  EXPECT_EQ(gpu.rows[0].calls, 3U);
  EXPECT_DOUBLE_EQ(*gpu.rows[0].total_ns, 600);
  EXPECT_DOUBLE_EQ(*gpu.rows[0].time_percent, 60);
  EXPECT_DOUBLE_EQ(*gpu.rows[0].average_ns, 200);
  EXPECT_DOUBLE_EQ(*gpu.rows[0].median_ns, 200);
  EXPECT_DOUBLE_EQ(*gpu.rows[0].minimum_ns, 100);
  EXPECT_DOUBLE_EQ(*gpu.rows[0].maximum_ns, 300);
  EXPECT_DOUBLE_EQ(*gpu.rows[0].standard_deviation_ns, 100);  // sqrt((100^2 + 0 + 100^2) / 2)
  EXPECT_EQ(gpu.rows[1].name, "[CUDA memcpy HtoD]");
  EXPECT_DOUBLE_EQ(*gpu.rows[1].standard_deviation_ns, 0);
  EXPECT_EQ(gpu.rows[3].name, "[CUDA memset]");
  EXPECT_EQ(table.groups[1].name, "API calls");
  EXPECT_EQ(table.groups[1].rows[0].name, "cudaFree");  // its own group's share
  EXPECT_DOUBLE_EQ(*table.groups[1].rows[0].time_percent, 70);
}

TEST(ProfileTable, GroupsComeInAFixedOrder) {
  const std::vector<Activity> activities = {activity("zoo", "a", 1), activity(activity_group::kHost, "read", 1),
                                            activity("attic", "b", 1), activity(activity_group::kLayers, "conv1", 1)};
  std::vector<std::string> names;
  for (const ProfileGroup& group : make_profile(activities).groups) names.push_back(group.name);
  EXPECT_EQ(names, (std::vector<std::string>{"layers", "host phases", "attic", "zoo"}));
}

TEST(ProfileTable, NothingRecordedIsAnEmptyTable) {
  EXPECT_TRUE(make_profile({}).groups.empty());
  const ProfileTable idle = make_profile(std::vector{activity(activity_group::kGpu, "empty", 0)});
  EXPECT_EQ(idle.groups.at(0).rows.at(0).time_percent, 0.0);  // and not 0 of 0
}

TEST(ProfileTable, TheCutKeepsRowsUntilTheShareIsReached) {
  const ProfileGroup cut = cut_profile(example(), 80).groups[0];
  ASSERT_EQ(cut.rows.size(), 2U);  // 60 is too little, 85 is enough
  EXPECT_EQ(cut.cut_rows, 2U);
  EXPECT_DOUBLE_EQ(cut.cut_percent, 15);
  EXPECT_EQ(cut_profile(example(), 85).groups[0].rows.size(), 2U);
  EXPECT_EQ(cut_profile(example(), 85.01).groups[0].rows.size(), 3U);
  EXPECT_EQ(cut_profile(example(), 0.1).groups[0].rows.size(), 1U);
  EXPECT_EQ(cut_profile(example(), 100), example());
}

TEST(ProfileTable, RowsThatSayNoShareAreNotCut) {
  ProfileTable table;
  table.groups.push_back({"GPU activities", {{.name = "a", .time_percent = 95}, {.name = "b"}, {.name = "c"}}});
  EXPECT_EQ(cut_profile(table, 90), table);
}

TEST(ProfileTable, JsonHoldsEverything) {
  const ProfileTable cut = cut_profile(example(), 80);
  const ordered_json json = profile_to_json(cut);
  EXPECT_EQ(json.at("unit"), "ns");
  EXPECT_EQ(json.at("/groups/0/rows/0/total_ns"_json_pointer), 600);
  EXPECT_EQ(json.at("/groups/0/cut_rows"_json_pointer), 2);
  EXPECT_EQ(read(json), cut);
  EXPECT_EQ(read(ordered_json::parse(json.dump())), cut);
}

TEST(ProfileTable, JsonOfARowThatKnowsLittle) {
  ProfileTable table;
  table.groups.push_back({"API calls", {{.name = "cudaFree", .time_percent = 12.5}}});
  const ordered_json row = profile_to_json(table).at("/groups/0/rows/0"_json_pointer);
  EXPECT_TRUE(row.at("calls").is_null());
  EXPECT_TRUE(row.at("total_ns").is_null());
  EXPECT_EQ(read(profile_to_json(table)), table);
  const auto known = read(R"({"groups": [{"group": "API calls", "rows": [{"name": "cudaFree"}]}]})"_json);
  EXPECT_FALSE(known.groups[0].rows[0].time_percent.has_value());
}

TEST(ProfileTable, MalformedJsonIsNamed) {
  const auto reading = [](const char* text) { return [text] { read(ordered_json::parse(text)); }; };
  expect_error<UserError>(reading("[]"), {"profile: expected an object"});
  expect_error<UserError>(reading(R"({"groups": [7]})"), {"profile: groups[0]: expected an object, found 7"});
  expect_error<UserError>(reading(R"({"groups": [{"group": "a"}]})"),
                          {"profile: groups[0]: rows: expected a list, found nothing"});
  expect_error<UserError>(reading(R"({"groups": [{"group": "a", "rows": [{"name": "x"}, {}]}]})"),
                          {"profile: groups[0]: rows[1]: name", "expected a string"});
  expect_error<UserError>(reading(R"({"groups": [{"group": "a", "rows": [{"name": "x", "total_ns": "7"}]}]})"),
                          {"rows[0]: total_ns", "number"});
  expect_error<UserError>(reading(R"({"groups": [{"group": "a", "rows": [{"name": "x", "max_ns": -1}]}]})"),
                          {"rows[0]: max_ns", "expected a number from 0, found -1"});
  expect_error<UserError>(reading(R"({"groups": [{"group": "a", "rows": [{"name": "x", "calls": 1.5}]}]})"),
                          {"rows[0]: calls", "whole number"});
  expect_error<UserError>(reading(R"({"groups": [{"group": "a", "rows": [], "cut_rows": "two"}]})"),
                          {"profile: groups[0]: cut_rows: expected a whole number"});
}

}  // namespace
}  // namespace convladder

#include "harness/measure/sharding/shard.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "expect_error.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "temporary_folder.hpp"
#include "variants/convolution/conv_shape.hpp"

namespace convladder {
namespace {

RunPlan small_plan(int shards) {
  RunOptions options;
  options.families = {"cpu"};
  options.variants = {"memory-accumulation", "local-accumulation"};
  options.devices = {"cpu"};
  options.shapes = {ConvShape{1, 1, 8, 8, 2, 3, 1, 0, 1}};
  options.batches = {1, 2, 3};
  const std::vector<CaseGroup> groups = make_plan(options);
  ImageSet images;
  images.sha256 = std::string(64, '0');
  return make_run_plan(options, groups, {1.5, 0.25, 3}, images, shards);
}

TEST(ShardOf, IsTheFirstDigitsOfTheChecksum) {
  // printf cpu/lenet28.conv1/10 | sha256sum
  EXPECT_EQ(shard_of("cpu/lenet28.conv1/10", 1), 0);
  const int whole = 1'000'000;
  EXPECT_EQ(shard_of("cpu/lenet28.conv1/10", whole), shard_of("cpu/lenet28.conv1/10", whole));
  EXPECT_EQ(shard_of("", 16), 4);  // of nothing it is e3b0c44298fc1c14...
  EXPECT_EQ(shard_of("", 10), static_cast<int>(0xe3b0c44298fc1c14 % 10));
}

TEST(ShardOf, SpreadsGroups) {
  std::map<int, int> counts;
  for (int batch = 1; batch <= 6400; ++batch) ++counts[shard_of("cpu/lenet28.conv1/" + std::to_string(batch), 64)];
  EXPECT_EQ(counts.size(), 64U);
  for (const auto& [shard, count] : counts) {
    EXPECT_GT(count, 60) << shard;  // 100 are expected, and 10 are a standard deviation
    EXPECT_LT(count, 140) << shard;
  }
}

TEST(RunPlan, IsReadAsItWasWritten) {
  const TemporaryFolder folder;
  RunPlan plan = small_plan(2);
  plan.file = folder.path() / "plan.json";
  write_file_atomically(plan.file, run_plan_text(plan));
  const RunPlan read = read_run_plan(folder.path());
  EXPECT_EQ(read.id, plan.id);
  EXPECT_EQ(run_plan_text(read), run_plan_text(plan));
  ASSERT_EQ(read.groups.size(), 3U);
  EXPECT_EQ(read.groups[1].id, "cpu/shape.C1H8W8M2K3/2");
  EXPECT_EQ(read.groups[1].cases.size(), 2U);
  EXPECT_EQ(read.sentinels, std::vector<std::string>{"cpu/memory-accumulation/shape.C1H8W8M2K3/1"});
  EXPECT_DOUBLE_EQ(seconds_of(read).all, 4.75);
  EXPECT_GE(seconds_of(read).longest, 3);
}

TEST(RunPlan, GroupsStayInTheirShardWhateverElseIsPlanned) {
  const RunPlan plan = small_plan(7);
  for (const GroupOfPlan& group : plan.groups) EXPECT_EQ(group.shard, shard_of(group.id, 7));
}

TEST(RunPlan, OfOtherShardsIsAnotherPlan) { EXPECT_NE(small_plan(2).id, small_plan(3).id); }

TEST(RunPlan, RefusesWhatSomebodyChanged) {
  const TemporaryFolder folder;
  const std::string text = run_plan_text(small_plan(2));
  const auto refused = [&](const std::string& old, const std::string& now, const std::string& words) {
    const std::size_t at = text.find(old);
    ASSERT_NE(at, std::string::npos) << old;
    std::string changed = text;
    write_file_atomically(folder.path() / "plan.json", changed.replace(at, old.size(), now));
    expect_error<UserError>([&] { read_run_plan(folder.path()); }, {words});
  };
  refused("\"seed\": 1", "\"seed\": 2", "somebody changed the plan");
  refused("\"shards\": 2", "\"shards\": 2, \"shards\": 2", "shards: occurs twice: somebody changed the plan");
  refused("\"kind\": \"plan\"", "\"kind\": \"run\"", "not a plan");
}

/// Every place of a value in the document.
void find_places(const nlohmann::ordered_json& json, const nlohmann::json_pointer<std::string>& at,
                 std::vector<nlohmann::json_pointer<std::string>>& places) {
  if (!at.empty()) places.push_back(at);
  if (json.is_object()) {
    for (const auto& [name, value] : json.items()) find_places(value, at / name, places);
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) find_places(json[i], at / i, places);
  }
}

TEST(RunPlan, RefusesAChangeOfAnyField) {
  using nlohmann::ordered_json;
  const ordered_json plan = ordered_json::parse(run_plan_text(small_plan(2)));
  const auto refused = [](const ordered_json& changed, const std::string& place) {
    try {
      static_cast<void>(parse_run_plan(changed.dump(), "plan.json"));
      ADD_FAILURE() << place << " was accepted";
    } catch (const UserError& error) {
      const std::string what = error.what();
      const bool is_said = what.find("somebody changed the plan") != std::string::npos;
      EXPECT_TRUE(is_said || (place.starts_with("/kind") && what.find("not a plan") != std::string::npos))
          << place << ": " << what;
      EXPECT_EQ(what.find('\n'), std::string::npos);
    }
  };
  EXPECT_NO_THROW(static_cast<void>(parse_run_plan(plan.dump(), "plan.json")));
  std::vector<nlohmann::json_pointer<std::string>> places;
  find_places(plan, nlohmann::json_pointer<std::string>(), places);
  EXPECT_GT(places.size(), 50U);
  for (const nlohmann::json_pointer<std::string>& place : places) {
    const ordered_json& value = plan.at(place);
    ordered_json other = plan;
    other.at(place) = value.is_number()    ? ordered_json(value.get<double>() + 1)
                      : value.is_string()  ? ordered_json(value.get<std::string>() + " ")
                      : value.is_boolean() ? ordered_json(!value.get<bool>())
                      : value.is_null()    ? ordered_json("a text")
                                           : ordered_json();
    refused(other, place.to_string() + " changed");
    ordered_json dropped = plan;
    ordered_json& parent = dropped.at(place.parent_pointer());
    if (parent.is_array()) {
      parent.erase(std::stoul(place.back()));
    } else {
      parent.erase(place.back());
    }
    refused(dropped, place.to_string() + " dropped");
    ordered_json more = plan;
    if (value.is_object()) {
      more.at(place)["more"] = 1;
    } else if (value.is_array()) {
      more.at(place).push_back(value.empty() ? ordered_json(1) : value.back());
    } else {
      continue;
    }
    refused(more, place.to_string() + " extended");
  }
  ordered_json more = plan;
  more["comment"] = "by hand";
  refused(more, "a new field");
}

}  // namespace
}  // namespace convladder

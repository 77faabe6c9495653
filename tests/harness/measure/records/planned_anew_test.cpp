#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "harness/measure/records/record.hpp"
#include "harness/measure/records/recorded_run.hpp"
#include "support/file_bytes.hpp"
#include "temporary_folder.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;
using testing::ElementsAre;

/// A record whose plan is another each time, as that of a ranking is.
class PlannedAnew : public testing::Test {
 protected:
  static RecordContent content(const std::vector<std::string>& planned, const char* problem = "sum") {
    return {.command_line = {},
            .options = record_part({{"problem", problem}}),
            .seed = 1,
            .dataset = nullptr,
            .planned = planned,
            .fields = record_part({{"problem", problem}}),
            .behind = record_part({{"rankings", ordered_json::array()}})};
  }
  static ordered_json one(const std::string& id, int value) { return {{"id", id}, {"status", "ok"}, {"value", value}}; }
  ordered_json on_disk() const {
    return parse_record_json(read_file_text((folder_.path() / "rank.json").string()), "rank.json");
  }
  std::vector<std::string> ids() const {
    std::vector<std::string> all;
    const ordered_json record = on_disk();
    for (const ordered_json& each : record.at("cases")) all.push_back(each.at("id"));
    return all;
  }
  void run(std::vector<std::string> planned) const {
    Record record = Record::create(folder_.path(), kRankKind, content(planned));
    int value = 0;
    for (const std::string& id : planned) record.add(one(id, value++), {{"rankings", ordered_json::array()}});
    record.complete({{"rankings", {1, 2}}});
  }

  TemporaryFolder folder_;
};

TEST_F(PlannedAnew, KeepsWhatThePlanStillHasAndWhatHasNotChanged) {
  run({"a", "b", "c"});
  {
    Record record = Record::open(folder_.path(), kRankKind);
    ASSERT_TRUE(record.is_complete());
    record.plan_anew(content({"c", "b", "d"}, "product"),
                     [](const ordered_json& each) { return each.at("value") != 1; });
    EXPECT_FALSE(record.is_complete());
    EXPECT_TRUE(record.has("c"));
    EXPECT_FALSE(record.has("a") || record.has("b") || record.has("d"));
    EXPECT_THAT(ids(), ElementsAre("c"));  // on the disk before anything is run
    EXPECT_TRUE(on_disk().at("rankings").empty());
    record.add(one("d", 7), {{"rankings", ordered_json::array()}});
    record.add(one("b", 8), {{"rankings", ordered_json::array()}});
    record.complete({{"rankings", {3}}});
  }
  const ordered_json now = on_disk();
  EXPECT_THAT(ids(), ElementsAre("c", "b", "d"));
  EXPECT_EQ(now.at("problem"), "product");
  EXPECT_EQ(now.at("context").at("options").at("problem"), "product");
  EXPECT_EQ(now.at("context").at("sessions").size(), 2U);
  EXPECT_EQ(now.at("cases").at(0).at("session"), 0);
  EXPECT_EQ(now.at("cases").at(1).at("session"), 1);
  EXPECT_EQ(now.at("complete"), true);
}

TEST_F(PlannedAnew, WhatIsDroppedCanBeAddedAgain) {
  run({"a", "b"});
  Record record = Record::open(folder_.path(), kRankKind);
  record.plan_anew(content({"a", "b"}), [](const ordered_json&) { return true; });
  record.drop([](const std::string& id) { return id == "a"; });
  EXPECT_FALSE(record.has("a"));
  EXPECT_THAT(ids(), ElementsAre("b"));
  record.add(one("a", 9), ordered_json::object());
  EXPECT_THAT(ids(), ElementsAre("b", "a"));
}

TEST_F(PlannedAnew, WhoseFieldsSomebodyReorderedLosesNone) {
  run({"a"});
  ordered_json old = on_disk();
  ordered_json reordered = {{"cases", old.at("cases")}};
  reordered.update(old);
  std::ofstream(folder_.path() / "rank.json") << reordered.dump(1);
  Record record = Record::open(folder_.path(), kRankKind);
  record.plan_anew(content({"a", "b"}), [](const ordered_json&) { return true; });
  EXPECT_THAT(ids(), ElementsAre("a"));
  EXPECT_EQ(on_disk().at("planned").size(), 2U);
  EXPECT_EQ(on_disk().at("problem"), "sum");
}

}  // namespace
}  // namespace convladder

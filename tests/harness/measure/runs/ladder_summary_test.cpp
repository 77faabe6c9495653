#include "harness/measure/runs/ladder_summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/measure/records/case_json.hpp"
#include "harness/measure/runs/run_record.hpp"
#include "harness/measure/runs/summary_text.hpp"
#include "harness/measure/runs/verdicts.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const ordered_json kVariants = [] {
  const auto variant = [](const char* name, ordered_json rung, ordered_json builds_on) {
    return ordered_json{{"family", "cpu"},
                        {"rung", std::move(rung)},
                        {"name", name},
                        {"title", name},
                        {"builds_on", std::move(builds_on)}};
  };
  return ordered_json{variant("first", 1, nullptr), variant("sixth", 6, "first"), variant("seventh", 7, "sixth"),
                      variant("half", 8, "sixth"), variant("library", nullptr, nullptr)};
}();

ordered_json own_rung(const std::string& name) {
  for (const ordered_json& one : kVariants) {
    if (one.at("name") == name) return one.at("rung");
  }
  return nullptr;
}

/// A case of the convolution, its interval 5 % to each side.
ordered_json timed(const std::string& name, double median, int batch = 10, double tolerance = 1e-6) {
  return {{"id", "cpu/" + name + "/" + std::to_string(batch)},
          {"variant", name},
          {"family", "cpu"},
          {"rung", own_rung(name)},
          {"device", "cpu"},
          {"network", "lenet28"},
          {"layer", "conv1"},
          {"shape",
           {{"in_channels", 1},
            {"height", 28},
            {"width", 28},
            {"out_channels", 50},
            {"kernel", 5},
            {"stride", 1},
            {"padding", 0},
            {"groups", 1}}},
          {"batch", batch},
          {"status", "ok"},
          {"work", {{"flop", 1000.0}, {"minimum_bytes", 10.0}}},
          {"verification", {{"tolerance", tolerance}}},
          {"time",
           {{"of", "layer"},
            {"median", median},
            {"samples", {median}},
            {"interval", {{"low", 0.95 * median}, {"high", 1.05 * median}}}}},
          {"other_times", ordered_json::array()}};
}

/// Keeps what ladders point into.
struct ToldLadder {
  explicit ToldLadder(const ordered_json& json)
      : cases(read_whole_cases(JsonPlace(json, "cases"))),
        variants(read_variants(JsonPlace(kVariants, "variants"))),
        ladders(ladders_of(cases, variants, {})) {}

  ordered_json summary() const { return ladders_json(derived_ladders(cases, variants, {})).at(0).at("summary"); }
  std::string text(std::size_t columns) const {
    const auto title_of = [](const std::string& device) { return "a " + device; };
    return as_text(summary_report(ladders, {}, title_of), columns);
  }
  std::vector<std::string> notes() const { return summary_notes(ladders, {}); }

  std::vector<RecordedCase> cases;
  std::vector<RecordedVariant> variants;
  std::vector<Ladder> ladders;
};

TEST(LadderSummary, TheBestIsTheFastestStageAndNeverALibrary) {
  const ordered_json summary =
      ToldLadder({timed("first", 800), timed("sixth", 200), timed("seventh", 100), timed("library", 50)}).summary();
  EXPECT_EQ(summary.at("baseline"), "first");
  EXPECT_EQ(summary.at("sixth"), "sixth");
  EXPECT_EQ(summary.at("best"), "seventh");
  EXPECT_EQ(summary.at("best_by"), "measured");
  EXPECT_EQ(summary.at("library"), "library");
  EXPECT_EQ(summary.at("sixth_x_baseline").at("value"), 4.0);
  EXPECT_EQ(summary.at("best_x_baseline").at("value"), 8.0);
  EXPECT_EQ(summary.at("best_x_sixth").at("value"), 2.0);
  EXPECT_EQ(summary.at("best_percent_of_library").at("value"), 50.0);
  EXPECT_TRUE(summary.at("loses").empty());
  EXPECT_TRUE(summary.at("not_told_from_best").empty());
  EXPECT_TRUE(summary.at("no_headline").is_null());
}

TEST(LadderSummary, ALastRungThatLosesIsNotTheBest) {
  const ToldLadder told({timed("first", 800), timed("sixth", 200), timed("seventh", 400)});
  EXPECT_EQ(told.summary().at("best"), "sixth");
  const ordered_json loses = told.summary().at("loses");
  ASSERT_EQ(loses.size(), 1U);
  EXPECT_EQ(loses[0].at("variant"), "seventh");
  EXPECT_EQ(loses[0].at("builds_on"), "sixth");
  EXPECT_EQ(loses[0].at("x").at("value"), 0.5);
  EXPECT_EQ(loses[0].at("x").at("by"), "medians");
  // 0.5 with both intervals at their worst, 1.05 / 0.95, and what differs from run to run.
  EXPECT_NEAR(loses[0].at("x").at("high").get<double>(), 0.5 * 1.05 / 0.95 * (1 + kFromRunToRun), 1e-12);
  EXPECT_THAT(told.notes(), Contains("seventh takes at least 1.7 times as long as sixth"));
}

TEST(LadderSummary, WhatCannotBeToldFromTheBestIsNamedAndDoesNotLose) {
  const ToldLadder told({timed("first", 800), timed("sixth", 200), timed("seventh", 205)});
  EXPECT_EQ(told.summary().at("not_told_from_best"), ordered_json::array({"seventh"}));
  EXPECT_TRUE(told.summary().at("loses").empty());
  EXPECT_THAT(told.notes(), Contains("on 1 of 1 size the best stage cannot be told from seventh"));
}

TEST(LadderSummary, NothingIsMadeOfADisturbedCaseOrOfARatioThatIsHardlyKnown) {
  ordered_json disturbed = timed("seventh", 400);
  disturbed["quality"] = {{"mark", "disturbed"}, {"reasons", {"others used 1.6 of 2 cores"}}};
  const ToldLadder told({timed("first", 800), timed("sixth", 200), disturbed});
  EXPECT_THAT(told.summary().at("loses")[0].at("x").at("value"), 0.5) << "the record still has it";
  EXPECT_THAT(told.notes(), Not(Contains(HasSubstr("seventh takes"))));

  ordered_json slow = timed("first", 800);
  slow["quality"] = disturbed.at("quality");
  const ToldLadder of_baseline({slow, timed("sixth", 200), timed("seventh", 100)});
  EXPECT_EQ(of_baseline.summary().at("no_headline"), "first was disturbed: others used 1.6 of 2 cores");
  EXPECT_THAT(
      of_baseline.notes(),
      Contains("on 1 of 1 size the best stage's factors are too uncertain to build on: first was disturbed: others "
               "used 1.6 of 2 cores"));

  ordered_json vague = timed("first", 800);
  vague["time"]["interval"] = {{"low", 500.0}, {"high", 1200.0}};
  EXPECT_THAT(ToldLadder({vague, timed("sixth", 200)}).summary().at("no_headline").get<std::string>(),
              ::testing::StartsWith("known only to a factor of 2.7"));
}

TEST(LadderSummary, WhatIsFasterAndLessAccurateIsNotTheBest) {
  const ToldLadder told(
      {timed("first", 800), timed("sixth", 200), timed("half", 50, 10, 1e-3), timed("library", 150, 10, 1e-3)});
  EXPECT_EQ(told.summary().at("best"), "sixth");
  EXPECT_EQ(told.summary().at("faster_less_accurate"), ordered_json::array({"half"}));
  EXPECT_TRUE(told.summary().at("library").is_null()) << "it is no ceiling of what is more accurate";
}

TEST(LadderSummary, WithoutItsFirstStagesItTellsWhatItCan) {
  ordered_json failed = timed("first", 800);
  failed["status"] = "crashed";
  failed["time"] = nullptr;
  const ordered_json summary = ToldLadder({failed, timed("seventh", 100)}).summary();
  EXPECT_TRUE(summary.at("baseline").is_null());
  EXPECT_TRUE(summary.at("sixth").is_null());
  EXPECT_TRUE(summary.at("best_x_baseline").is_null());
  EXPECT_EQ(summary.at("best"), "seventh");
  EXPECT_TRUE(ToldLadder(ordered_json::array({failed})).summary().at("best").is_null());
  EXPECT_EQ(ToldLadder(ordered_json::array({failed})).text(100), "");
  EXPECT_TRUE(ToldLadder(ordered_json::array({timed("library", 50)})).summary().at("best").is_null());
}

std::vector<std::string> shown_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(LadderSummary, ATableFitsTheTerminalItIsFor) {
  const ToldLadder told(
      {timed("first", 800e3), timed("sixth", 200e3), timed("seventh", 100e3), timed("library", 50e3)});
  EXPECT_THAT(shown_lines(told.text(100)).at(1),
              AllOf(HasSubstr("stage 1"), HasSubstr("stage 6"), HasSubstr("library")));
  EXPECT_THAT(shown_lines(told.text(100)).at(2),
              AllOf(HasSubstr("80.0"), HasSubstr("10.0  seventh"), HasSubstr("5.00  8.0  2.0   50%")));
  EXPECT_THAT(shown_lines(told.text(60)).at(1), Not(HasSubstr("stage 1"))) << "factors say the same";
  for (const std::size_t columns : {60U, 80U, 100U}) {
    EXPECT_THAT(shown_lines(told.text(columns)), Each(testing::SizeIs(testing::Le(columns + 4)))) << "µ has two bytes";
  }
}

TEST(LadderSummary, OfVeryManyRowsOnlyTheLargestBatchesAreShown) {
  ordered_json cases = ordered_json::array();
  for (int batch = 1; batch <= 13; ++batch) cases.push_back(timed("first", 100.0 * batch, batch));
  EXPECT_THAT(shown_lines(ToldLadder(cases).text(100)),
              ElementsAre(HasSubstr("a cpu"), HasSubstr("layer"), HasSubstr(" 13 "), HasSubstr("12 rows more")));
  cases.erase(0);
  EXPECT_EQ(shown_lines(ToldLadder(cases).text(100)).size(), 2U + 12);
}

TEST(LadderSummary, AColumnIsCalledByTheRungThatItShows) {
  const ToldLadder told({timed("sixth", 200e3), timed("seventh", 100e3)});
  EXPECT_THAT(shown_lines(told.text(100)).at(1), Not(AnyOf(HasSubstr("stage 1"), HasSubstr("x 1"))));
  EXPECT_THAT(shown_lines(told.text(100)).at(1), AllOf(HasSubstr("stage 6"), HasSubstr("x 6")));
}

/// The last words on a stage, with the words of a counted case beside it.
std::vector<std::string> verdicts(const std::string& stage, const ToldLadder& told, std::size_t most = 3) {
  return verdicts_on(stage, derived_ladders(told.cases, told.variants, {}), told.cases, told.variants, most);
}

TEST(Verdicts, SayWhereAStageStands) {
  const ToldLadder told({timed("first", 800), timed("sixth", 200), timed("seventh", 100), timed("library", 50)});
  const std::vector<std::string> lines = verdicts("sixth", told);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("2nd of 3 stages"));
  EXPECT_THAT(lines[0], HasSubstr("faster than stage 1, first"));
  EXPECT_THAT(lines[0], HasSubstr("times as long as seventh, the best other stage"));
  EXPECT_THAT(lines[0], HasSubstr("times as long as library"));
  EXPECT_THAT(lines[0], HasSubstr("To look at next: the next faster stage, seventh"));
  EXPECT_THAT(verdicts("first", told)[0], HasSubstr("3rd of 3 stages"));
  const std::string best = verdicts("seventh", told)[0];
  EXPECT_THAT(best, HasSubstr("1st of 3 stages"));
  EXPECT_THAT(best, HasSubstr("faster than sixth, the best other stage"));
  EXPECT_THAT(best, Not(HasSubstr("To look at next")));
  EXPECT_TRUE(verdicts("nobody", told).empty());
  EXPECT_EQ(verdicts("sixth", told, 0), std::vector<std::string>{"sixth: 1 place more with --verbose"});
}

TEST(Verdicts, NameTheLineOfACountedStageThatWastesMost) {
  ToldLadder told({timed("first", 800), timed("sixth", 200)});
  RecordedCase counted = told.cases[1];
  counted.device = "simulated";
  counted.time.reset();
  counted.counters.emplace();
  counted.counters->totals = {{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 1000.0}};
  const auto line = [](int number, double requests, double sectors) {
    return CountedLine{"sixth.cu",
                       number,
                       "",
                       {{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", requests},
                        {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", sectors}}};
  };
  counted.counters->lines = {line(7, 50, 200), line(9, 25, 800)};
  told.cases.push_back(counted);
  EXPECT_THAT(verdicts("sixth", told)[0], HasSubstr("To look at next: line 9 of sixth.cu, 32 sectors a load"));
  told.cases.back().counters->lines = {line(7, 50, 200), line(9, 200, 800)};  // no more than a warp needs
  EXPECT_THAT(verdicts("sixth", told)[0], Not(HasSubstr("line 9")));
}

TEST(Verdicts, OnTheBestStage) {
  const ToldLadder told({timed("first", 800), timed("sixth", 200), timed("seventh", 100), timed("library", 150)});
  const std::string best = verdict_on_best(derived_ladders(told.cases, told.variants, {}).front());
  EXPECT_THAT(best, ::testing::StartsWith("best: seventh, "));
  EXPECT_THAT(best, HasSubstr("faster than stage 1, first"));
  EXPECT_THAT(best, HasSubstr("faster than library"));
  const ToldLadder alone(ordered_json::array({timed("library", 150)}));
  EXPECT_EQ(verdict_on_best(derived_ladders(alone.cases, alone.variants, {}).front()), "");
}

}  // namespace
}  // namespace convladder

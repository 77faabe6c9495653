#include "harness/judge/duel/duel_output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/measure/isolation/child_process.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

using testing::HasSubstr;

DuelCase measured(CaseVerdict verdict) {
  DuelCase one;
  one.id = "cpu/flat-vector/lenet72.conv2/100";
  one.device = "cpu";
  one.base_variant = one.new_variant = "flat-vector";
  one.group = "lenet72.conv2, batch 100, on cpu";
  one.metric.name = "layer time";
  one.verdict = verdict;
  one.screen.assign(9, DuelRound{true, {1e6, 1.1e6, 1.1e6, 1e6}, {}});
  one.screened = ChangeBounds{0.09, 0.08, 0.1};
  return one;
}

DuelResult result_of(const std::vector<DuelCase>& cases) {
  DuelResult result;
  result.cases = cases;
  result.control.assign(9, DuelRound{});
  result.control_outcome = ControlOutcome{{0, -0.01, 0.01}, false};
  return result;
}

SideFacts program() {
  ProgramFacts facts;
  facts.commit = "0123456789abcdef";
  facts.compiler = "GNU 12";
  return {.path = kThisProgram, .program = facts};
}

TEST(DuelResult, ExitCodeIsThatOfTheWorst) {
  const DuelCase pass = measured(CaseVerdict::pass);
  const DuelCase regressed = measured(CaseVerdict::regressed);
  const DuelCase inconclusive = measured(CaseVerdict::inconclusive);
  EXPECT_EQ(result_of({pass, measured(CaseVerdict::improved)}).exit_code(), kExitOk);
  EXPECT_EQ(result_of({pass, inconclusive}).exit_code(), kExitInconclusive);
  EXPECT_EQ(result_of({inconclusive, regressed}).exit_code(), kExitCasesFailed);
  EXPECT_EQ(result_of({regressed, measured(CaseVerdict::failed)}).exit_code(), kExitCasesFailed);
  EXPECT_EQ(result_of({pass, measured(CaseVerdict::missing)}).exit_code(), kExitIncomplete);
  EXPECT_EQ(result_of({pass, measured(CaseVerdict::added)}).exit_code(), kExitOk);
}

TEST(DuelResult, WithoutAControlOrAMeasurementNothingPasses) {
  DuelResult result = result_of({measured(CaseVerdict::pass)});
  result.control_outcome->contaminated = true;
  EXPECT_EQ(result.exit_code(), kExitIncomplete);
  result.control_outcome.reset();
  EXPECT_EQ(result.exit_code(), kExitIncomplete);
  DuelCase skipped;
  skipped.verdict = CaseVerdict::skipped;
  EXPECT_EQ(result_of({skipped}).exit_code(), kExitIncomplete);
  EXPECT_EQ(result_of({}).exit_code(), kExitIncomplete);
}

TEST(DuelOutput, NamesTheCaseTheRatioAndTheVerdict) {
  DuelCase wrong = measured(CaseVerdict::failed);
  wrong.id = "cpu/other/lenet72.conv2/100";
  wrong.reason = "new: incorrect: image <b>0</b>, map | 0";
  const DuelResult result = result_of({measured(CaseVerdict::regressed), wrong});
  const SideFacts side = program();
  const DuelSettings settings;
  const DuelReport report{result, settings, side, side};
  const std::string text = as_text(duel_report(report));
  EXPECT_THAT(text, HasSubstr("1.094"));
  EXPECT_THAT(text, HasSubstr("\nregressed\n  cpu/flat-vector/lenet72.conv2/100\n"));
  EXPECT_THAT(text, HasSubstr("a case failed (exit code 1): 1 regressed, 1 failed"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100) << line;
  const std::string markdown = as_markdown(duel_report(report));
  EXPECT_THAT(markdown, HasSubstr("&lt;b\\>0"));
  EXPECT_THAT(markdown, HasSubstr("map \\| 0"));
  const nlohmann::ordered_json json = duel_json(report);
  EXPECT_EQ(json.at("kind"), "duel");
  EXPECT_EQ(json.at("cases").at(0).at("base_median"), 1e6);
  EXPECT_EQ(rounds_from_json(json.at("cases").at(0).at("screen").at("rounds")).size(), 9);
}

TEST(DuelOutput, ACaseWhoseRunsFallIntoTwoGroupsDoesNotPass) {
  DuelCase one = measured(CaseVerdict::pass);
  for (int i = 0; i < 40; ++i) {
    one.base_runs.push_back(1e7 * (1 + 0.001 * i));
    one.new_runs.push_back((i % 2 == 0 ? 1e7 : 3e7) * (1 + 0.001 * i));
  }
  DuelCase steady = one;
  steady.new_runs = steady.base_runs;
  judge_runs(steady);
  EXPECT_EQ(steady.verdict, CaseVerdict::pass);
  DuelCase slower = one;
  slower.verdict = CaseVerdict::regressed;
  judge_runs(slower);
  EXPECT_EQ(slower.verdict, CaseVerdict::regressed);

  judge_runs(one);
  EXPECT_EQ(one.verdict, CaseVerdict::inconclusive);
  EXPECT_THAT(one.reason, HasSubstr("new: unstable: its runs fall into two groups, around 10.2 ms and 30.6 ms"));
  const SideFacts side = program();
  const DuelSettings settings;
  const DuelResult result = result_of({one, measured(CaseVerdict::pass)});
  const nlohmann::ordered_json cases = duel_json({result, settings, side, side}).at("cases");
  EXPECT_EQ(cases.at(0).at("runs").at("new").size(), 40);
  EXPECT_TRUE(cases.at(1).at("runs").is_null());
}

TEST(DuelOutput, SaysWhenTheControlMoved) {
  DuelResult result = result_of({measured(CaseVerdict::pass)});
  result.control_outcome = ControlOutcome{{0.03, 0.02, 0.04}, true};
  const SideFacts side = program();
  const DuelSettings settings;
  EXPECT_THAT(as_text(duel_report({result, settings, side, side})), HasSubstr("CONTAMINATED"));
  EXPECT_THAT(as_text(duel_report({result, settings, side, side})), HasSubstr("contaminated (exit code 4)"));
}

}  // namespace
}  // namespace convladder

#include "harness/regression/history/alarms.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "support/errors.hpp"

namespace convladder {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kRuns = 12;

/// A series of every list of changes: places and logarithms.
History history_with(const std::vector<std::vector<std::pair<std::size_t, double>>>& changes) {
  History history;
  for (int run = 0; run < kRuns; ++run) {
    HistoryRun one;
    one.date = "2026-01-01T00:00:00Z";
    one.commit = std::string(40, static_cast<char>('a' + run));
    history.from.runs.push_back(one);
  }
  for (std::size_t i = 0; i < changes.size(); ++i) {
    HistorySeries series;
    series.id = "cpu/stage-" + std::to_string(i) + "/net.layer/1";
    series.variant = "stage";
    series.anchor = "anchor";
    for (std::size_t run = 0; run < kRuns; ++run) {
      HistoryPoint point;
      point.run = run;
      point.ratio = 1;
      series.points.push_back(point);
    }
    for (const auto& [first, shift] : changes[i])
      series.changes.push_back({.first = first, .shift = shift, .p = 0.001});
    history.series.push_back(series);
  }
  return history;
}

ChangeBounds around(double estimate) { return {estimate, estimate - 0.01, estimate + 0.01}; }

TEST(Alarms, AreTheLatestMarksAndNoSmallerChanges) {
  const History history = history_with({{{4, 0.1}, {8, -0.2}}, {{4, 0.1}, {8, 0.005}}, {{6, -0.01}}, {}});
  const std::vector<Alarm> alarms = latest_alarms(history);
  ASSERT_THAT(alarms, SizeIs(2));
  EXPECT_EQ(alarms[0].in(history).changes[alarms[0].change].first, 8U);
  EXPECT_FALSE(alarms[0].slower);
  EXPECT_EQ(alarms[1].in(history).changes[alarms[1].change].first, 4U) << "the later one is below tau";
  EXPECT_TRUE(alarms[1].slower);
  EXPECT_EQ(alarms[1].outcome, AlarmOutcome::open) << "until it is measured";
}

TEST(Alarms, CompareTheRunBeforeTheChangeWithTheLatestThatHasARatio) {
  History history = history_with({{{6, 0.1}}});
  history.series[0].points[5].ratio.reset();
  history.series[0].points[kRuns - 1].ratio.reset();
  const Alarm alarm = latest_alarms(history).front();
  EXPECT_EQ(alarm.before(history).commit.front(), 'a' + 4);
  EXPECT_EQ(alarm.latest(history).commit.front(), 'a' + kRuns - 2);
}

TEST(Alarms, OnlyTheSameDirectionConfirms) {
  using enum CaseVerdict;
  const auto outcome = [](bool slower, CaseVerdict verdict, bool contaminated = false) {
    Alarm alarm{.slower = slower, .reason = {}, .change_again = {}};
    settle_alarm(alarm, verdict, around(0.1), "", contaminated);
    EXPECT_TRUE(alarm.outcome != AlarmOutcome::open || !alarm.reason.empty());
    return alarm.outcome;
  };
  EXPECT_EQ(outcome(true, regressed), AlarmOutcome::confirmed);
  EXPECT_EQ(outcome(false, improved), AlarmOutcome::confirmed);
  EXPECT_EQ(outcome(true, improved), AlarmOutcome::not_confirmed);
  EXPECT_EQ(outcome(false, regressed), AlarmOutcome::not_confirmed);
  for (const bool slower : {false, true}) {
    EXPECT_EQ(outcome(slower, pass), AlarmOutcome::not_confirmed);
    for (const CaseVerdict verdict : {inconclusive, failed, missing, added, skipped, incomparable}) {
      EXPECT_EQ(outcome(slower, verdict), AlarmOutcome::open);
    }
    for (const CaseVerdict verdict : {regressed, improved, pass}) {
      EXPECT_EQ(outcome(slower, verdict, true), AlarmOutcome::open) << "the control moved";
    }
  }
}

TEST(Alarms, TheExitCodeIsOfTheWorstThatIsKnown) {
  const auto code = [](std::vector<std::pair<AlarmOutcome, bool>> outcomes) {
    ConfirmedAlarms confirmed;
    for (const auto& [outcome, slower] : outcomes) {
      confirmed.alarms.push_back({.slower = slower, .outcome = outcome, .reason = {}, .change_again = {}});
    }
    return confirmed.exit_code();
  };
  using enum AlarmOutcome;
  EXPECT_EQ(code({}), kExitOk);
  EXPECT_EQ(code({{not_confirmed, true}}), kExitOk);
  EXPECT_EQ(code({{AlarmOutcome::confirmed, false}}), kExitOk) << "it is faster";
  EXPECT_EQ(code({{open, false}, {AlarmOutcome::confirmed, false}}), kExitInconclusive);
  EXPECT_EQ(code({{open, true}, {AlarmOutcome::confirmed, true}}), kExitCasesFailed);
}

TEST(Alarms, TheOutputHasTheErrorRatesOfBothStages) {
  const History history = history_with({{{6, std::log(1.1)}}});
  ConfirmedAlarms confirmed;
  confirmed.alarms = latest_alarms(history);
  settle_alarm(confirmed.alarms.front(), CaseVerdict::regressed, around(std::log(1.09)), "", false);
  const std::string text = alarms_text(history, confirmed);
  EXPECT_THAT(text, HasSubstr("cpu/stage-0/net.layer/1: marked +10.0% since commit ggggggggg"));
  EXPECT_THAT(text, HasSubstr("confirmed: measured again +9.0%, bounds +7.9 to +10.1%"));
  EXPECT_THAT(text, HasSubstr("5% x 1% = 0.05%"));
  const nlohmann::ordered_json json = alarms_json(history, confirmed);
  EXPECT_EQ(json.at("alpha"), 0.01);
  EXPECT_NEAR(json.at("alpha_with_marks").get<double>(), 0.0005, 1e-12);
  EXPECT_EQ(json.at("alarms").at(0).at("outcome"), "confirmed");
  EXPECT_EQ(json.at("alarms").at(0).at("base_commit"), std::string(40, 'f'));
  EXPECT_THAT(alarms_markdown(history, confirmed), HasSubstr("| confirmed |"));
  EXPECT_THAT(alarms_text(history, {}), HasSubstr("no alarm"));
}

}  // namespace
}  // namespace convladder

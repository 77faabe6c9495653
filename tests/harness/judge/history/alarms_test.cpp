#include "harness/judge/history/alarms.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "harness/judge/history/history_json.hpp"
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
  const std::vector<Alarm> alarms = latest_alarms(history, kSuspect);
  ASSERT_THAT(alarms, SizeIs(2));
  EXPECT_EQ(alarms[0].in(history).changes[*alarms[0].change].first, 8U);
  EXPECT_FALSE(alarms[0].slower);
  EXPECT_EQ(alarms[1].in(history).changes[*alarms[1].change].first, 4U) << "the later one is below tau";
  EXPECT_TRUE(alarms[1].slower);
  EXPECT_EQ(alarms[1].outcome, AlarmOutcome::open) << "until it is measured";
}

TEST(Alarms, CompareTheRunBeforeTheChangeWithTheLatestThatHasARatio) {
  History history = history_with({{{6, 0.1}}});
  history.series[0].points[5].ratio.reset();
  history.series[0].points[kRuns - 1].ratio.reset();
  const Alarm alarm = latest_alarms(history, kSuspect).front();
  EXPECT_EQ(alarm.before(history).commit.front(), 'a' + 4);
  EXPECT_EQ(alarm.latest(history).commit.front(), 'a' + kRuns - 2);
}

TEST(Alarms, OnlyTheSameDirectionConfirms) {
  using enum CaseVerdict;
  const auto outcome = [](bool slower, CaseVerdict verdict, bool contaminated = false) {
    Alarm alarm{.change = 0, .slower = slower, .reason = {}, .change_again = {}};
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

TEST(Alarms, OfASeriesWithoutAMarkAreSuspectedByItsOwnP) {
  History history = history_with({{{6, 0.1}}, {}, {}, {{6, 0.005}}});
  history.series[1].p = kSuspect + 0.01;
  history.series[2].p = kSuspect;
  history.series[3].p = 0.001;
  history.series[2].points[0].quiet = false;
  const std::vector<Alarm> alarms = latest_alarms(history, kSuspect);
  ASSERT_THAT(alarms, SizeIs(3));
  EXPECT_FALSE(alarms[0].suspected());
  EXPECT_TRUE(alarms[1].suspected());
  EXPECT_EQ(alarms[1].series, 2U);
  EXPECT_EQ(alarms[1].before(history).commit.front(), 'b') << "the first run that was judged";
  EXPECT_EQ(alarms[1].latest(history).commit.front(), 'a' + kRuns - 1);
  EXPECT_TRUE(alarms[2].suspected()) << "its change is below tau";
  EXPECT_THAT(latest_alarms(history, 0), SizeIs(1));
  EXPECT_THAT(latest_alarms(history, 1), SizeIs(4));
}

TEST(Alarms, WhatIsOnlySuspectedIsConfirmedInEitherDirection) {
  using enum CaseVerdict;
  const auto settled = [](CaseVerdict verdict) {
    Alarm alarm{.change = std::nullopt, .reason = {}, .change_again = {}};
    settle_alarm(alarm, verdict, around(0.1), "", false);
    return std::pair(alarm.outcome, alarm.slower);
  };
  EXPECT_EQ(settled(regressed), std::pair(AlarmOutcome::confirmed, true));
  EXPECT_EQ(settled(improved), std::pair(AlarmOutcome::confirmed, false));
  EXPECT_EQ(settled(pass), std::pair(AlarmOutcome::not_confirmed, false));
  EXPECT_EQ(settled(inconclusive).first, AlarmOutcome::open);
  ConfirmedAlarms confirmed;
  confirmed.alarms.push_back({.change = std::nullopt, .reason = "why", .change_again = {}});
  EXPECT_EQ(confirmed.exit_code(), kExitOk) << "it is no alarm before it is confirmed";
}

TEST(Alarms, TheExitCodeIsOfTheWorstThatIsKnown) {
  const auto code = [](std::vector<std::pair<AlarmOutcome, bool>> outcomes) {
    ConfirmedAlarms confirmed;
    for (const auto& [outcome, slower] : outcomes) {
      confirmed.alarms.push_back({.change = 0, .slower = slower, .outcome = outcome, .reason = {}, .change_again = {}});
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

nlohmann::ordered_json json_of(const History& history, const ConfirmedAlarms& confirmed) {
  return nlohmann::ordered_json::parse(history_json_text(history, confirmed)).at("confirmed");
}

Report alarms_report(const History& history, const ConfirmedAlarms& confirmed) {
  Report report;
  add_alarms(report, history, confirmed);
  return report;
}

TEST(Alarms, TheOutputHasTheErrorRate) {
  const History history = history_with({{{6, std::log(1.1)}}});
  ConfirmedAlarms confirmed;
  confirmed.alarms = latest_alarms(history, kSuspect);
  settle_alarm(confirmed.alarms.front(), CaseVerdict::regressed, around(std::log(1.09)), "", false);
  const std::string text = as_text(alarms_report(history, confirmed));
  EXPECT_THAT(text, HasSubstr("cpu/stage-0/net.layer/1: marked +10.0% since commit ggggggggg"));
  EXPECT_THAT(text, HasSubstr("confirmed: measured again +9.0%, bounds +7.9 to +10.1%"));
  EXPECT_THAT(text, HasSubstr("in at most 1% of histories"));
  const nlohmann::ordered_json json = json_of(history, confirmed);
  EXPECT_EQ(json.at("alpha"), 0.01);
  EXPECT_EQ(json.at("alarms").at(0).at("outcome"), "confirmed");
  EXPECT_EQ(json.at("alarms").at(0).at("base_commit"), std::string(40, 'f'));
  EXPECT_THAT(as_markdown(alarms_report(history, confirmed)), HasSubstr("| confirmed |"));
  EXPECT_THAT(as_text(alarms_report(history, {})), HasSubstr("no alarm"));

  History suspected = history_with({{}});
  suspected.series[0].p = 0.125;
  confirmed.alarms = latest_alarms(suspected, kSuspect);
  settle_alarm(confirmed.alarms.front(), CaseVerdict::regressed, around(std::log(1.09)), "", false);
  EXPECT_THAT(as_text(alarms_report(suspected, confirmed)), HasSubstr("cpu/stage-0/net.layer/1: suspected, p = 0.12"));
  EXPECT_THAT(as_markdown(alarms_report(suspected, confirmed)), HasSubstr("| suspected |"));
  EXPECT_TRUE(json_of(suspected, confirmed).at("alarms").at(0).at("marked").is_null());
  EXPECT_EQ(json_of(suspected, confirmed).at("alarms").at(0).at("p"), 0.125);
}

}  // namespace
}  // namespace convladder

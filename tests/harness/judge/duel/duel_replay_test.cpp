// Duels that were measured once, judged again from their recorded slots: the same rounds have to lead to the same
// verdicts. tests/harness/data/duel_*.json are such files as `convladder duel --json` writes, without the context.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/judge/compare/comparison.hpp"
#include "harness/judge/duel/duel_decision.hpp"
#include "harness/judge/duel/duel_output.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

struct Replayed {
  std::string verdict;
  bool contaminated = false;
  std::optional<ChangeBounds> change;
};

ordered_json recorded(const std::string& name) {
  std::ifstream file(std::filesystem::path(CONVLADDER_SOURCE_DIR) / "tests/harness/data" / name);
  return ordered_json::parse(file);
}

DuelLimits limits_of(const ordered_json& duel) {
  const ordered_json& settings = duel.at("settings");
  DuelLimits limits;
  limits.verdict = {settings.at("tau"), settings.at("delta"), settings.at("alpha")};
  limits.screen_alpha = settings.at("screen_alpha");
  limits.screen_rounds = settings.at("screen_rounds");
  limits.most_rounds = settings.at("looks").back();
  return limits;
}

/// A duel of a single case, from look to look as it was measured.
Replayed replay(const ordered_json& duel) {
  const DuelLimits limits = limits_of(duel);
  const ordered_json& one = duel.at("cases").at(0);
  Replayed replayed;
  const auto control =
      judge_control(differences(rounds_from_json(duel.at("control").at("rounds"))), limits.verdict.alpha);
  replayed.contaminated = control.value().contaminated;
  const Screened screened = screen(differences(rounds_from_json(one.at("screen").at("rounds"))), limits);
  replayed.change = screened.bounds;
  replayed.verdict = "pass";
  if (!screened.flagged) return replayed;

  const std::vector<double> rounds = differences(rounds_from_json(one.at("confirm").at("rounds")));
  Confirmation confirmation(limits, 1);
  for (const int look : confirmation.looks()) {
    while (static_cast<int>(confirmation.cases()[0].differences.size()) < look) {
      confirmation.add(0, rounds.at(confirmation.cases()[0].differences.size()));
    }
    confirmation.look();
    if (confirmation.over()) break;
  }
  EXPECT_EQ(confirmation.cases()[0].differences.size(), rounds.size()) << "it stopped at another look";
  replayed.change = confirmation.cases()[0].bounds;
  replayed.verdict = verdict_name(confirmation.cases()[0].verdict);
  return replayed;
}

void expect_as_recorded(const ordered_json& duel, const Replayed& replayed) {
  const ordered_json& one = duel.at("cases").at(0);
  EXPECT_EQ(replayed.verdict, one.at("verdict"));
  EXPECT_EQ(replayed.contaminated, duel.at("control").at("contaminated"));
  ASSERT_TRUE(replayed.change);
  EXPECT_NEAR(std::expm1(replayed.change->estimate), one.at("change").at("estimate").get<double>(), 1e-12);
  EXPECT_NEAR(std::expm1(replayed.change->low), one.at("change").at("low").get<double>(), 1e-12);
  EXPECT_NEAR(std::expm1(replayed.change->high), one.at("change").at("high").get<double>(), 1e-12);
}

TEST(DuelReplay, EqualSidesPass) {
  const ordered_json duel = recorded("duel_equal_sides.json");
  ASSERT_EQ(duel.at("settings").at("extra_percent"), 0);
  const Replayed replayed = replay(duel);
  EXPECT_EQ(replayed.verdict, "pass");
  expect_as_recorded(duel, replayed);
}

TEST(DuelReplay, FivePercentOfExtraWorkIsFound) {
  const ordered_json duel = recorded("duel_five_percent.json");
  ASSERT_EQ(duel.at("settings").at("extra_percent"), 5);
  const Replayed replayed = replay(duel);
  EXPECT_EQ(replayed.verdict, "regressed");
  expect_as_recorded(duel, replayed);
}

TEST(DuelReplay, ANoisyNeighbourLeavesItInconclusive) {
  const ordered_json duel = recorded("duel_noisy.json");
  const Replayed replayed = replay(duel);
  EXPECT_EQ(replayed.verdict, "inconclusive");
  expect_as_recorded(duel, replayed);
  EXPECT_GT(duel.at("cases").at(0).at("rounds_wanting"), 0);
}

TEST(DuelReplay, TheSameSlotsTheOtherWayRoundAreAnImprovement) {
  ordered_json duel = recorded("duel_five_percent.json");
  for (const char* const stage : {"screen", "confirm"}) {
    for (ordered_json& round : duel.at("cases").at(0).at(stage).at("rounds")) {
      round["order"] = round.at("order") == "ABBA" ? "BAAB" : "ABBA";
    }
  }
  EXPECT_EQ(replay(duel).verdict, "improved");
}

}  // namespace
}  // namespace convladder

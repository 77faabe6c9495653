#include "harness/measure/machine/quality.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "tests/harness/recorded_runs.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

SeenOfCase quiet() {
  return {.samples = noisy_samples(1e5, 0.01, 1),
          .threads = 2,
          .load = MachineLoad{.cores = 2, .used = 0.1, .steal = 0.005},
          .anchors = AnchorSpread{"FMA peak", 1.2}};
}

Ceilings ceilings(std::vector<double> peaks, std::vector<double> copies) {
  return {{.device = "cpu", .limits = {{kMultiplyAddLimit, std::move(peaks)}, {kCopyLimit, std::move(copies)}}}};
}

TEST(Quality, OfAQuietMachineIsGood) {
  const Quality quality = judge_quality(quiet());
  EXPECT_EQ(quality.mark, QualityMark::good);
  EXPECT_THAT(quality.reasons, IsEmpty());
}

TEST(Quality, NamesTheCoresThatOthersUsed) {
  SeenOfCase seen = quiet();
  seen.load->used = 0.4;
  EXPECT_EQ(judge_quality(seen).mark, QualityMark::noisy);
  seen.load->used = 1.6;
  EXPECT_EQ(judge_quality(seen).mark, QualityMark::disturbed);
  EXPECT_THAT(judge_quality(seen).reasons, ElementsAre("others used 1.6 of 2 cores"));
}

TEST(Quality, IsNotHurtByLoadOnCoresThatTheCaseDoesNotNeed) {
  SeenOfCase seen = quiet();
  seen.load = MachineLoad{.cores = 16, .used = 10, .steal = 0};
  EXPECT_EQ(judge_quality(seen).mark, QualityMark::good);
  seen.threads = 16;
  EXPECT_EQ(judge_quality(seen).mark, QualityMark::disturbed);
}

TEST(Quality, ALowerClockThanOtherCasesHadIsNamedWithItsReason) {
  SeenOfCase seen = quiet();
  seen.clock = ClockSeen{.lowest_mhz = 1950, .highest_mhz = 1980, .reasons = {}};
  EXPECT_EQ(judge_quality(seen).mark, QualityMark::good);
  seen.clock->lowest_mhz = 1755;
  seen.clock->reasons = {"software power cap"};
  EXPECT_EQ(judge_quality(seen).mark, QualityMark::noisy);
  EXPECT_THAT(judge_quality(seen).reasons, ElementsAre("the clock was 1755 of 1980 MHz (software power cap)"));
  seen.clock->lowest_mhz = 1410;
  EXPECT_EQ(judge_quality(seen).mark, QualityMark::disturbed);
}

TEST(Quality, AClockThatIsHeldDownAllTheTimeIsNeverGood) {
  SeenOfCase seen = quiet();
  seen.clock = ClockSeen{.is_held = true, .reasons = {"board limit"}};
  EXPECT_EQ(judge_quality(seen).mark, QualityMark::noisy);
  EXPECT_THAT(judge_quality(seen).reasons, ElementsAre("the clock was held down (board limit)"));
}

TEST(Quality, ACallThatIsNoLongerThanItsLaunchIsNotAKernelsTime) {
  SeenOfCase seen = quiet();  // 100 us
  seen.enqueue_ns = 2500;
  EXPECT_EQ(judge_quality(seen).mark, QualityMark::good);
  seen.enqueue_ns = 97'000;
  EXPECT_EQ(judge_quality(seen).mark, QualityMark::disturbed);
  EXPECT_THAT(judge_quality(seen).reasons.front(), testing::HasSubstr("to launch a call, which may take less than"));
}

TEST(Quality, NamesTheWorstReasonFirst) {
  SeenOfCase seen = quiet();
  seen.load->used = 0.5;
  seen.load->steal = 0.12;
  seen.anchors = AnchorSpread{"FMA peak", 3.1};
  const Quality quality = judge_quality(seen);
  EXPECT_EQ(quality.mark, QualityMark::disturbed);
  EXPECT_THAT(quality.reasons, ElementsAre("steal 12%", "FMA peak scattered by 3.1x", "others used 0.5 of 2 cores"));
}

TEST(Quality, SeesSamplesThatDriftInBothDirections) {
  SeenOfCase seen = quiet();
  seen.samples = {100, 101, 100, 101, 100, 100, 135, 136, 135, 136, 135, 135};
  EXPECT_THAT(judge_quality(seen).reasons, testing::Contains("samples drifted by +35%"));
  EXPECT_EQ(judge_quality(seen).mark, QualityMark::disturbed);
  std::ranges::reverse(seen.samples);
  EXPECT_THAT(judge_quality(seen).reasons, testing::Contains("samples drifted by -26%"));
  EXPECT_EQ(judge_quality(seen).mark, QualityMark::disturbed);
}

TEST(Quality, KnowsNoDriftOfAFewSamples) {
  EXPECT_FALSE(drift_of({1, 1, 1, 2, 2, 2, 2}));
  EXPECT_DOUBLE_EQ(drift_of({1, 1, 1, 1, 2, 2, 2, 2}).value_or(0), 1);
  EXPECT_DOUBLE_EQ(drift_of({1, 1, 1, 1, 9, 2, 2, 2, 2}).value_or(0), 1);
}

TEST(Quality, SeesSamplesThatScatterWithoutATrend) {
  SeenOfCase seen = quiet();
  seen.samples = {100, 300, 100, 300, 100, 300, 100, 300};
  EXPECT_EQ(judge_quality(seen).mark, QualityMark::disturbed);
  EXPECT_THAT(judge_quality(seen).reasons, ElementsAre("the median is known only to ±50%"));
}

TEST(Quality, HoldsTheAnchorsOfAGroupAgainstTheBestOfTheRun) {
  const Ceilings list = ceilings({400, 100, 390, 380}, {20, 20, 20, 10});
  EXPECT_EQ(anchor_samples(list, "cpu"), 4U);
  EXPECT_EQ(anchor_samples(list, "cuda"), 0U);
  const auto whole = anchor_spread(list, "cpu", 0);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->name, "FMA peak");
  EXPECT_DOUBLE_EQ(whole->ratio, 4);
  const auto since = anchor_spread(list, "cpu", 2);
  ASSERT_TRUE(since);
  EXPECT_EQ(since->name, "copy");
  EXPECT_DOUBLE_EQ(since->ratio, 2);
  EXPECT_FALSE(anchor_spread(list, "cpu", 4));
  EXPECT_FALSE(anchor_spread(list, "cuda", 0));
  EXPECT_FALSE(anchor_spread(ceilings({400}, {20}), "cpu", 0));
}

TEST(Quality, OfARunIsOneLine) {
  const auto one = [](double used) {
    SeenOfCase seen = quiet();
    seen.load->used = used;
    return judge_quality(seen);
  };
  const Quality unknown;
  EXPECT_EQ(quality_line({one(0), unknown}, 2), "");
  EXPECT_EQ(quality_line({one(0), one(0.4), one(1.8), unknown}, 2),
            "2 of 4 cases were measured while the machine was busy (others used up to 1.8 of 2 cores); "
            "run.json says which");
  SeenOfCase scattered = quiet();
  scattered.anchors->ratio = 3.1;
  EXPECT_EQ(quality_line({judge_quality(scattered)}, 2),
            "1 of 1 cases were measured while the machine was not steady (FMA peak scattered by 3.1x); "
            "run.json says which");
}

constexpr double kTicks = 100;

TEST(MachineLoad, CountsTheProcessorsThatTheProcessMayUse) {
  const char* const text =
      "cpu  900 0 0 900 0 0 0 0 0 0\n"
      "cpu0 100 20 30 700 50 5 5 90 0 0\n"
      "cpu1 800 0 0 100 0 0 0 0 0 0\n"
      "intr 5 1 2 3\n";
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  const ProcessorTimes times = processor_times(text, first, kTicks);
  EXPECT_EQ(times.processors, 1);
  EXPECT_NEAR(times.busy, 1.6, 1e-9);
  EXPECT_DOUBLE_EQ(times.stolen, 0.9);
  EXPECT_DOUBLE_EQ(times.all, 10);
  EXPECT_EQ(processor_times("", first, kTicks).processors, 0);
}

std::string process(int id, const char* name, int parent, int user, int system, int ended) {
  return fmt::format("{} ({}) S {} 1 1 0 -1 0 0 0 0 0 {} {} {} 0 20 0 1 0\n", id, name, parent, user, system, ended);
}

TEST(MachineLoad, CountsAProcessAndAllBelowItAsOurs) {
  const std::vector<std::string> stats{process(1, "init", 0, 5000, 0, 0),
                                       process(20, "convladder", 1, 100, 20, 30),
                                       process(21, "a) S 7 (b", 20, 200, 0, 0),
                                       process(22, "deeper", 21, 50, 0, 0),
                                       process(30, "other", 1, 900, 0, 0),
                                       "",
                                       "31 (cut off) R 20"};
  EXPECT_DOUBLE_EQ(tree_seconds(stats, 20, kTicks), 4);
  EXPECT_DOUBLE_EQ(tree_seconds(stats, 40, kTicks), 0);
}

MachineTimes reading(double seconds, double busy, double stolen, double all, double ours) {
  using Clock = std::chrono::steady_clock;
  return {
      .when = Clock::time_point(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))),
      .processors = {.processors = 2, .busy = busy, .stolen = stolen, .all = all},
      .ours = ours};
}

TEST(MachineLoad, IsWhatIsBusyAndNotOurs) {
  const auto load = load_between(reading(10, 100, 5, 1000, 50), reading(20, 118, 7, 1020, 52));
  ASSERT_TRUE(load);
  EXPECT_EQ(load->cores, 2);
  EXPECT_DOUBLE_EQ(load->used, 1.6);
  EXPECT_DOUBLE_EQ(load->steal, 0.1);
}

TEST(MachineLoad, IsUnknownWhereTheSystemDoesNotSay) {
  const MachineTimes start = reading(10, 100, 0, 1000, 50);
  EXPECT_FALSE(load_between(start, reading(10.1, 100.2, 0, 1000.2, 50)));  // too few ticks
  EXPECT_FALSE(load_between(start, reading(20, 100, 0, 1000, 52)));        // an account that stands still
  // Our own time is rounded otherwise than the machine's: never less than nothing.
  EXPECT_DOUBLE_EQ(load_between(start, reading(20, 101, 0, 1020, 52)).value_or(MachineLoad{2, 9, 9}).used, 0);
}

TEST(BusyText, IsOfCoresThatTheCaseMissedAndOfSteal) {
  EXPECT_EQ(busy_text(MachineLoad{.cores = 2, .used = 1.6, .steal = 0}, 2), "others used 1.6 of 2 cores");
  EXPECT_EQ(busy_text(MachineLoad{.cores = 2, .used = 0.1, .steal = 0.05}, 2), "steal 5%");
  EXPECT_EQ(busy_text(MachineLoad{.cores = 2, .used = 0.2, .steal = 0.01}, 2), "");
  EXPECT_EQ(busy_text(MachineLoad{.cores = 8, .used = 6.5, .steal = 0}, 1), "") << "there was a core for it";
  EXPECT_EQ(busy_text(std::nullopt, 2), "") << "nothing is known";
}

}  // namespace
}  // namespace convladder

#include "harness/measure/records/time_ratio.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "harness/measure/statistics/statistics.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

TimeFigure time_of(std::vector<double> samples, const char* wave, std::vector<int> rounds = {}) {
  TimeFigure time{.of = "layer", .cache = "", .median = median(samples), .low = {}, .high = {}, .samples = samples};
  time.wave = wave;
  time.rounds = std::move(rounds);
  return time;
}

/// A machine that is slower and slower.
const std::vector<double> kSlow{100, 200, 300, 400, 500, 600, 700, 800};

std::vector<double> times(const std::vector<double>& samples, double factor) {
  std::vector<double> list;
  for (const double one : samples) list.push_back(factor * one);
  return list;
}

TEST(TimeRatio, OfTheSameWaveComesFromTheRoundsThatBothHave) {
  const TimeFigure over = time_of(times(kSlow, 3), "a");
  const TimeFigure under = time_of(kSlow, "a");
  const Ratio ratio = *ratio_of_times(&over, &under);
  EXPECT_EQ(ratio.by, RatioBy::rounds);
  EXPECT_DOUBLE_EQ(ratio.value, 3);
  EXPECT_NEAR(*ratio.low, 3 * (1 - kFromRunToRun), 1e-9) << "what slows both is not in their ratio";
  EXPECT_NEAR(*ratio.high, 3 * (1 + kFromRunToRun), 1e-9);
  EXPECT_EQ(ratio.level, kRatioLevel);
}

TEST(TimeRatio, OfAnotherWaveOrOfNoneComesFromBothMedians) {
  const TimeFigure over = time_of(times(kSlow, 3), "a");
  for (const char* const wave : {"b", ""}) {
    const TimeFigure under = time_of(kSlow, wave);
    const Ratio ratio = *ratio_of_times(&over, &under);
    EXPECT_EQ(ratio.by, RatioBy::medians);
    EXPECT_DOUBLE_EQ(ratio.value, 3);
    EXPECT_LT(*ratio.low, 1) << "both of them drifted by a factor of 8";
    EXPECT_GT(*ratio.high, 9);
    EXPECT_NEAR(*ratio.level, kRatioLevel, 1e-12);
  }
  const TimeFigure unknown = time_of(times(kSlow, 3), "");
  const TimeFigure other = time_of(kSlow, "");
  EXPECT_EQ(ratio_of_times(&unknown, &other)->by, RatioBy::medians);
}

TEST(TimeRatio, SamplesThatWereThrownAwayLeaveTheOthersInTheirRounds) {
  const TimeFigure over = time_of(times(kSlow, 3), "a");
  const TimeFigure rest = time_of({300, 500, 600, 800}, "a", {2, 4, 5, 7});
  const Ratio ratio = *ratio_of_times(&over, &rest);
  EXPECT_EQ(ratio.by, RatioBy::rounds);
  EXPECT_NEAR(*ratio.high, 3 * (1 + kFromRunToRun), 1e-9) << "three times in each of the four rounds";
  EXPECT_DOUBLE_EQ(ratio.value, 3 * 450.0 / 550.0) << "of the medians that a table shows";
  EXPECT_NEAR(*ratio.low, ratio.value * (1 - kFromRunToRun), 1e-9) << "so that it lies in the interval";

  const TimeFigure none = time_of({300, 500}, "a", {12, 14});
  EXPECT_EQ(ratio_of_times(&over, &none)->by, RatioBy::medians) << "they share no round";
}

TEST(TimeRatio, OfATimeAndItselfIsOne) {
  const TimeFigure time = time_of(kSlow, "a");
  EXPECT_EQ(*ratio_of_times(&time, &time), kOverItself);
  EXPECT_FALSE(ratio_of_times(&time, nullptr));
  EXPECT_FALSE(ratio_of_times(nullptr, &time));
}

TEST(TimeRatio, AVirtualClockHasNoOtherRuns) {
  TimeFigure over = time_of({300, 300, 300}, "a");
  TimeFigure under = time_of({100, 100, 100}, "a");
  over.is_predicted = under.is_predicted = true;
  EXPECT_NEAR(*ratio_of_times(&over, &under)->high, 3, 1e-12);
}

TEST(TimeRatio, WithoutSamplesTheRecordedIntervalIsTaken) {
  const TimeFigure over{.of = "layer", .cache = "", .median = 10, .low = 9, .high = 11, .samples = {}};
  const TimeFigure under{.of = "layer", .cache = "", .median = 5, .low = 4, .high = 6, .samples = {}};
  const Ratio ratio = *ratio_of_times(&over, &under);
  EXPECT_NEAR(*ratio.low, 9.0 / 6 * (1 - kFromRunToRun), 1e-12);
  EXPECT_NEAR(*ratio.high, 11.0 / 4 * (1 + kFromRunToRun), 1e-12);
  EXPECT_FALSE(ratio.level) << "nobody said at which level";
  const TimeFigure bare{.of = "layer", .cache = "", .median = 5, .low = {}, .high = {}, .samples = {}};
  EXPECT_FALSE(ratio_of_times(&over, &bare)->low);
}

TEST(TimeRatio, OfTheFloorHasTheIntervalOfItsCeilings) {
  const Ceilings ceilings{{.device = "cpu",
                           .last_level_cache_bytes = std::size_t{1} << 40,
                           .limits = {{kMultiplyAddLimit, {90, 100, 110}}, {kStoreLimit, {10}}, {kCopyLimit, {10}}}}};
  RecordedCase one;
  one.time = time_of({1000, 1000, 1000}, "a");
  const ProblemSize size{.problem = &convolution_problem(), .batch = 2, .values = {1, 6, 6, 3, 3, 1, 1, 1}};
  const Floor floor = *floor_of(least_work_of(size), "cpu", ceilings);
  const Ratio percent = *percent_of_floor(floor, one);
  EXPECT_NEAR(percent.value, 100 * floor.flop / 100 / 1000, 1e-9);
  EXPECT_NEAR(*percent.low, 100 * floor.flop / 110 / 1000 * (1 - kFromRunToRun), 1e-9);
  EXPECT_NEAR(*percent.high, 100 * floor.flop / 90 / 1000 * (1 + kFromRunToRun), 1e-9);
  EXPECT_LT(*percent.level, 0.75) << "three samples of the peak";
}

TEST(TimeRatio, NoHeadlineIsMadeOfADisturbedCaseOrOfAWideInterval) {
  RecordedCase quiet;
  quiet.variant = "quiet";
  RecordedCase disturbed;
  disturbed.variant = "loud";
  disturbed.quality = Quality{.mark = QualityMark::disturbed, .reasons = {"steal 12%"}};
  const Ratio known{.value = 3, .low = 2.5, .high = 3.5};
  EXPECT_EQ(why_no_headline(known, quiet, quiet), "");
  EXPECT_EQ(why_no_headline(known, quiet, disturbed), "loud was disturbed: steal 12%");
  EXPECT_EQ(why_no_headline({.value = 3, .low = 1.5, .high = 4.5}, quiet, quiet), "known only to a factor of 3");
  EXPECT_EQ(why_no_headline({.value = 3}, quiet, quiet), "nothing is known of its noise");
}

}  // namespace
}  // namespace convladder

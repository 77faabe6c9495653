// How a convolution is cut into strips of images and tasks.
#include "variants/convolution/cpu/lane_tasks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace convladder {
namespace {

constexpr InstructionSet kSixteenLanes{InstructionSet::Kind::avx512, "avx512", 16, 8, 3};
constexpr InstructionSet kEightLanes{InstructionSet::Kind::avx2, "avx2", 8, 6, 2};
constexpr ConvShape kAlexnetConv3{16, 256, 13, 13, 384, 3, 1, 1};

double rows_times_tiles(const InstructionSet& /*set*/, int rows, int map_tiles) {
  return static_cast<double>(rows) * map_tiles;
}

TEST(LaneTasks, StripsCoverEveryRowOfEveryImageOnce) {
  for (const int batch : {1, 3, 16, 17}) {
    for (int rows = 1; rows <= 13; ++rows) {
      const ConvShape shape = kAlexnetConv3.with_batch(batch);
      const Strips strips(shape, rows);
      std::map<std::pair<int, int>, int> times;
      for (std::int64_t first = 0; first < strips.count(); first += Avx512::lanes) {
        const StripGroup<Avx512> group(strips, first);
        EXPECT_LE(group.rows, rows);
        for (const Strip& strip : group.strips) {
          EXPECT_TRUE(!group.in_step || strip.first_row == group.strips[0].first_row);
          for (int row = 0; row < strip.rows; ++row) ++times[{strip.image, strip.first_row + row}];
        }
      }
      EXPECT_EQ(times.size(), static_cast<std::size_t>(batch * 13));
      for (const auto& [row, count] : times) EXPECT_EQ(count, 1) << "image " << row.first << " row " << row.second;
    }
  }
}

TEST(LaneStrips, HoldTheRowsOfWholeWindows) {
  const RowWindows overlapping{.count = 6, .size = 3, .stride = 2};
  EXPECT_EQ(overlapping.rows(overlapping.count), 13);
  for (int at_once = 1; at_once <= overlapping.count; ++at_once) {
    const Strips strips(1, overlapping, at_once);
    int window = 0;
    for (std::int64_t i = 0; i < strips.count(); ++i) {
      const Strip strip = strips[i];
      EXPECT_EQ(strip.first_row, window * overlapping.stride);
      EXPECT_LE(strip.rows, strips.rows());
      window += (strip.rows - overlapping.size) / overlapping.stride + 1;
      EXPECT_EQ(strip.first_row + strip.rows, (window - 1) * overlapping.stride + overlapping.size);
    }
    EXPECT_EQ(window, overlapping.count);
  }
}

TEST(LaneTasks, GiveEveryThreadTheSame) {
  const RowWindows rows{.count = kAlexnetConv3.out_height()};
  const auto divide = [&](const ConvShape& shape, const RowWindows& windows, int threads, int step) {
    return lane_divisions(shape, windows, threads, step, rows_times_tiles, {kSixteenLanes}).front();
  };
  // 13 rows cannot be halved, 48 tiles of maps can.
  EXPECT_EQ(divide(kAlexnetConv3, rows, 2, 1).map_parts % 2, 0);
  // One image has work for 16 lanes in strips of one row.
  EXPECT_EQ(divide(kAlexnetConv3.with_batch(1), rows, 2, 1).rows, 1);
  // Steps of two rows.
  EXPECT_EQ(divide(kAlexnetConv3, rows, 7, 2).rows % 2, 0);
  // Windows that overlap.
  const LaneDivision pooled = divide(kAlexnetConv3, {.count = 6, .size = 3, .stride = 2}, 2, 1);
  EXPECT_EQ(pooled.rows, 2 * pooled.windows + 1);
}

TEST(LaneTasks, AreOfTheInstructionSetThatLeavesFewerLanesIdle) {
  const auto lanes = [](int batch) {
    const auto of_maps = [](const InstructionSet& set, int rows, int map_tiles) {
      return static_cast<double>(rows) * map_tiles * set.maps;
    };
    return lane_divisions(kAlexnetConv3.with_batch(batch), {.count = 13}, 1, 13, of_maps, {kSixteenLanes, kEightLanes})
        .front()
        .set.lanes;
  };
  EXPECT_EQ(lanes(16), 16);
  EXPECT_EQ(lanes(17), cycles_of_vector(kSixteenLanes) > 1.5 ? 8 : 16) << "32 lanes, or 24 of half the cost";
  EXPECT_EQ(lanes(5), cycles_of_vector(kSixteenLanes) > 1 ? 8 : 16);
}

TEST(LaneTasks, DivisionsAreSortedAndAreAllThatCanBeAskedFor) {
  const std::vector<LaneDivision> all =
      lane_divisions(kAlexnetConv3, {.count = 13}, 2, 1, rows_times_tiles, {kSixteenLanes, kEightLanes});
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, &LaneDivision::cycles));
  for (const LaneDivision& division : all) {
    const Configuration wanted = configuration_of(division);
    EXPECT_EQ(configuration_of(first_that_agrees(all, wanted)), wanted);
    EXPECT_EQ(std::ranges::count(configurations_of(all), wanted), 1) << wanted.text();
  }
  const Configurations eight = lane_configurations(all, Configuration({{"lanes", 8}}), 5);
  EXPECT_EQ(eight.candidates.size(), 5);
  EXPECT_EQ(eight.by_model, eight.candidates.front());
  EXPECT_EQ(eight.by_model.value("lanes"), 8);
  EXPECT_GT(eight.possible, 5);
}

TEST(LaneTasks, HaveNoStripsThatThereMustNotBe) {
  // 13 rows in strips of 8 leave 5.
  const auto not_five = [](const InstructionSet& /*set*/, int rows, int map_tiles) {
    return rows == 5 ? std::numeric_limits<double>::infinity() : static_cast<double>(rows) * map_tiles;
  };
  const std::vector<LaneDivision> all = lane_divisions(kAlexnetConv3, {.count = 13}, 2, 2, not_five, {kSixteenLanes});
  EXPECT_FALSE(all.empty());
  for (const LaneDivision& division : all) {
    EXPECT_NE(division.rows, 8);
    EXPECT_TRUE(std::isfinite(division.cycles));
  }
}

TEST(LaneTasks, CoverEveryMapOfEveryStripOnce) {
  const ConvShape shape{5, 6, 9, 7, 34, 3, 1, 1, 2};
  const MapTiles map_tiles(shape.maps_per_group(), 8);
  const LaneDivision division{.set = kSixteenLanes, .rows = 2, .map_parts = 2};
  const Strips strips(shape, division.rows);
  std::map<std::tuple<std::int64_t, int, int>, int> times;
  for_each_lane_part(shape, map_tiles, division, strips, 1, [&](const LanePart& part, int thread) {
    EXPECT_EQ(thread, 0);
    for (int tile = part.first_map_tile; tile < part.end_map_tile; ++tile) {
      for (int map = map_tiles.first(tile); map < map_tiles.first(tile + 1); ++map) {
        ++times[{part.first_strip, part.group, map}];
      }
    }
  });
  EXPECT_EQ(times.size(), 2U * 2 * 17);  // 25 strips are two vectors
  for (const auto& [part, count] : times) EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace convladder

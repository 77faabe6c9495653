// How a convolution is cut into strips of images and tasks.
#include "variants/convolution/cpu/lane_tasks.hpp"

#include <gtest/gtest.h>

#include <map>

namespace convladder {
namespace {

constexpr InstructionSet kSixteenLanes{InstructionSet::Kind::avx512, "avx512", 16, 8, 3};
constexpr ConvShape kAlexnetConv3{16, 256, 13, 13, 384, 3, 1, 1};

double rows_times_tiles(int rows, int map_tiles) { return static_cast<double>(rows) * map_tiles; }

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

TEST(LaneTasks, GiveEveryThreadTheSame) {
  const MapTiles map_tiles(384, 8);
  // 13 rows cannot be halved, 48 tiles of maps can.
  const LaneDivision two = least_cost_division(kAlexnetConv3, kSixteenLanes, map_tiles, 2, 1, rows_times_tiles);
  EXPECT_EQ(two.map_parts % 2, 0);
  // One image has work for 16 lanes in strips of one row.
  const LaneDivision one_image =
      least_cost_division(kAlexnetConv3.with_batch(1), kSixteenLanes, map_tiles, 2, 1, rows_times_tiles);
  EXPECT_EQ(one_image.rows, 1);
  // Steps of two rows.
  EXPECT_EQ(least_cost_division(kAlexnetConv3, kSixteenLanes, map_tiles, 7, 2, rows_times_tiles).rows % 2, 0);
}

TEST(LaneTasks, CoverEveryMapOfEveryStripOnce) {
  const ConvShape shape{5, 6, 9, 7, 34, 3, 1, 1, 2};
  const MapTiles map_tiles(shape.maps_per_group(), 8);
  const LaneDivision division{.rows = 2, .map_parts = 2};
  const Strips strips(shape, division.rows);
  std::map<std::tuple<std::int64_t, int, int>, int> times;
  for_each_lane_part(shape, kSixteenLanes, map_tiles, division, strips, 1, [&](const LanePart& part, int thread) {
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

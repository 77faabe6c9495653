#include "datasets/synthetic_images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "datasets/canvas.hpp"
#include "support/sha256.hpp"

namespace convladder {
namespace {

constexpr int pixels_per_image = 28 * 28;

TEST(SyntheticImages, FillTheSet) {
  const ImageSet set = synthetic_images(30, 42);
  EXPECT_EQ(set.name, "synthetic");
  EXPECT_NE(set.source.find("42"), std::string::npos);
  EXPECT_EQ(set.count, 30);
  EXPECT_EQ(set.height, 28);
  EXPECT_EQ(set.width, 28);
  EXPECT_EQ(set.pixels.size(), 30U * pixels_per_image);
  EXPECT_EQ(set.labels.size(), 30U);
  EXPECT_EQ(set.class_names.size(), 10U);
  EXPECT_EQ(set.sha256, sha256_hex(std::span(set.pixels).first(10 * pixels_per_image)));
}

// Records name data by checksum: whoever changes the drawings changes what old records were measured on.
TEST(SyntheticImages, AreTheSameBytesOnEveryMachine) {
  EXPECT_EQ(sha256_hex(synthetic_images(12000, 42).pixels),
            "61004fb5b2edfceb4f1eb56467dbc0cb8058f5eb6248952f4b74029abf959ad5");
}

TEST(SyntheticImages, ASmallerSetIsTheBeginningOfALarger) {
  const ImageSet large = synthetic_images(257, 7);
  for (const int count : {1, 9, 10, 11, 100, 256}) {
    const ImageSet small = synthetic_images(count, 7);
    EXPECT_TRUE(std::equal(small.pixels.begin(), small.pixels.end(), large.pixels.begin()));
    EXPECT_TRUE(std::equal(small.labels.begin(), small.labels.end(), large.labels.begin()));
  }
}

TEST(SyntheticImages, SeedsAndImagesDiffer) {
  std::set<std::string> sums;
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::numeric_limits<std::uint64_t>::max()}) {
    const ImageSet set = synthetic_images(200, seed);
    for (int i = 0; i < set.count; ++i) sums.insert(sha256_hex({set.image(i), pixels_per_image}));
  }
  EXPECT_EQ(sums.size(), 600U);
}

TEST(SyntheticImages, EveryTenHoldEachClassOnce) {
  const ImageSet set = synthetic_images(1000, 3);
  std::set<std::vector<std::uint8_t>> orders;
  for (auto group = set.labels.begin(); group != set.labels.end(); group += 10) {
    std::vector<std::uint8_t> labels(group, group + 10);
    orders.insert(labels);
    std::sort(labels.begin(), labels.end());
    EXPECT_EQ(labels, (std::vector<std::uint8_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  }
  EXPECT_GT(orders.size(), 90U);
}

TEST(SyntheticImages, EveryImageShowsSomethingAndLeavesSomeBackground) {
  const ImageSet set = synthetic_images(2000, 11);
  for (int i = 0; i < set.count; ++i) {
    const auto bright =
        std::count_if(set.image(i), set.image(i) + pixels_per_image, [](int value) { return value > 50; });
    EXPECT_GT(bright, 25) << "image " << i;
    EXPECT_LT(bright, pixels_per_image * 3 / 4) << "image " << i;
  }
}

using Vector = std::array<double, pixels_per_image>;

/// Mean free and of length 1, so that brightness does not count.
Vector normalised(const std::uint8_t* image) {
  Vector result{};
  double mean = 0;
  for (int i = 0; i < pixels_per_image; ++i) mean += image[i] / static_cast<double>(pixels_per_image);
  double squares = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = image[i] - mean;
    squares += result[i] * result[i];
  }
  for (double& value : result) value /= std::sqrt(squares);
  return result;
}

/// The share of `test` whose class is that of the nearest class mean of `train`.
double nearest_mean_accuracy(const ImageSet& train, const ImageSet& test) {
  std::array<Vector, 10> means{};
  for (int i = 0; i < train.count; ++i) {
    const Vector image = normalised(train.image(i));
    Vector& mean = means.at(train.labels[static_cast<std::size_t>(i)]);
    for (std::size_t p = 0; p < image.size(); ++p) mean[p] += image[p];
  }
  int right = 0;
  for (int i = 0; i < test.count; ++i) {
    const Vector image = normalised(test.image(i));
    std::array<double, 10> scores{};
    for (std::size_t label = 0; label < means.size(); ++label) {
      for (std::size_t p = 0; p < image.size(); ++p) scores[label] += image[p] * means[label][p];
    }
    right +=
        std::max_element(scores.begin(), scores.end()) - scores.begin() == test.labels[static_cast<std::size_t>(i)];
  }
  return static_cast<double>(right) / test.count;
}

TEST(SyntheticImages, ClassesAreDistinctButNotTrivial) {
  const double accuracy = nearest_mean_accuracy(synthetic_images(2000, 42), synthetic_images(1000, 43));
  RecordProperty("nearest_mean_accuracy", std::to_string(accuracy));
  EXPECT_GT(accuracy, 0.6);   // chance is 0.1
  EXPECT_LT(accuracy, 0.95);  // a network has something to learn
}

TEST(Canvas, CoversWholeAndPartPixels) {
  Canvas canvas(Placement{});
  // From 1.5 pixels left of the centre to 1 right of it, and one row high.
  canvas.fill({{-15, 0}, {10, 0}, {10, 10}, {-15, 10}}, 200);
  const auto at = [&](int row, int column) { return canvas.pixels().at(static_cast<std::size_t>(row) * 28 + column); };
  EXPECT_EQ(at(14, 12), 100);
  EXPECT_EQ(at(14, 13), 200);
  EXPECT_EQ(at(14, 14), 200);
  EXPECT_EQ(at(14, 15), 0);
  EXPECT_EQ(at(13, 13), 0);
  EXPECT_EQ(at(15, 13), 0);
}

TEST(Canvas, CutsOffWhatIsOutside) {
  Canvas canvas(Placement{});
  canvas.fill({{-900, -900}, {900, -900}, {900, 900}, {-900, 900}}, 33);
  for (const int value : canvas.pixels()) EXPECT_EQ(value, 33);
  canvas.fill({{500, 500}, {600, 500}, {600, 600}}, 99);
  for (const int value : canvas.pixels()) EXPECT_EQ(value, 33);
}

TEST(SyntheticImages, HaveOneHashHoweverManyThereAre) {
  const std::string hash = synthetic_images(1, 7).sha256;
  EXPECT_EQ(synthetic_images(10, 7).sha256, hash);
  EXPECT_EQ(synthetic_images(100, 7).sha256, hash);
  EXPECT_NE(synthetic_images(100, 8).sha256, hash);
}

}  // namespace
}  // namespace convladder

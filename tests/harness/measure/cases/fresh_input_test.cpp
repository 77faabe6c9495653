// Inputs in which every element is new: within the tensor's limits, the same on every side, and different in every
// call.
#include "harness/measure/verification/fresh_input.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "support/element_type.hpp"

namespace convladder {
namespace {

constexpr int kFreshItems = 3;
constexpr std::int64_t kOfImage = 1000;

InputLayout layout_of(ElementType type, double low, double high) {
  InputLayout layout(kFreshItems, kOfImage, type, 0);
  layout.range = {low, high};
  return layout;
}

/// An image of numbers from low to high, both among them.
template <typename T>
std::vector<T> numbers_between(double low, double high) {
  std::vector<T> all(kFreshItems * kOfImage);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double part = static_cast<double>(i % 500) / 499;
    const double value = low + (high - low) * part;
    all[i] = from_double<T>(is_floating(*element_type_for<T>()) ? value : std::round(value));
  }
  return all;
}

template <typename T>
std::vector<T> image_of_call(const InputChange& change, const InputLayout& layout, const std::vector<T>& input,
                             int image, std::int64_t call) {
  std::vector<T> written(kOfImage);
  write_image_of_call(written.data(), change, layout, input.data(), image, call);
  return written;
}

struct Limits {
  ElementType type;
  double low;
  double high;
};

class FreshInput : public testing::TestWithParam<Limits> {};

TEST_P(FreshInput, StaysWithinTheLimitsAndIsAnotherInEveryCall) {
  const ElementType type = GetParam().type;
  const double low = GetParam().low;  // clang 14 captures no structured binding
  const double high = GetParam().high;
  for (const bool may_move : {false, true}) {
    InputLayout layout = layout_of(type, low, high);
    layout.may_move = may_move;
    with_element_type(type, [&]<typename T>(T) {
      const std::vector<T> input = numbers_between<T>(low, high);
      const InputChange change{.rotation = 1, .pokes = 99, .fresh = true, .shift = 77};
      std::vector<T> before = image_of_call(change, layout, input, 1, 1);
      for (std::int64_t call = 2; call < 20; ++call) {
        const std::vector<T> now = image_of_call(change, layout, input, 1, call);
        int same = 0;
        for (std::size_t i = 0; i < now.size(); ++i) {
          EXPECT_GE(to_double(now[i]), low);
          EXPECT_LE(to_double(now[i]), high);
          same += to_double(now[i]) == to_double(before[i]) ? 1 : 0;
        }
        // Half of the integers that may not move stay, and in few values chance makes the others equal.
        EXPECT_LT(same, is_floating(type) ? kOfImage / 8 : kOfImage * 2 / 3) << call;
        before = now;
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(OfTypes, FreshInput,
                         testing::Values(Limits{ElementType::f32, -1, 1}, Limits{ElementType::f32, 2, 9},
                                         Limits{ElementType::f32, -9, -2}, Limits{ElementType::f64, 0, 5},
                                         Limits{ElementType::f64, 1e-3, 1e3}, Limits{ElementType::f16, -8, 8},
                                         Limits{ElementType::bf16, 1, 100}, Limits{ElementType::i32, -50, 50},
                                         Limits{ElementType::u8, 0, 255}, Limits{ElementType::i64, 5, 90}));

TEST(FreshInputs, PiecesAreThoseOfTheWhole) {
  InputLayout layout = layout_of(ElementType::f32, -1, 1);
  layout.may_move = true;
  const std::vector<float> input = numbers_between<float>(-1, 1);
  const InputChange change{.pokes = 5, .fresh = true, .shift = 990};
  const std::vector<float> whole = image_of_call(change, layout, input, 2, 3);
  std::vector<float> pieces(kOfImage);
  for (std::int64_t first = 0; first < kOfImage; first += 64) {
    write_fresh_elements(pieces.data(), change, layout, input.data(), 2, 3, first,
                         std::min<std::int64_t>(64, kOfImage - first));
  }
  EXPECT_EQ(whole, pieces);
}

/// No function of a call's input says more of one call than of another: here the share of equal neighbours, which told
/// replaced elements, and the mean and the largest value.
TEST(FreshInputs, OfAllCallsAreOfOneDistribution) {
  const InputLayout layout = layout_of(ElementType::f32, -1, 1);
  std::vector<float> input = numbers_between<float>(-1, 1);
  const InputChange change{.pokes = 5, .fresh = true};
  double least = 1e9;
  double most = 0;
  for (std::int64_t call = 1; call < 200; ++call) {
    const std::vector<float> now = image_of_call(change, layout, input, 0, call);
    std::set<float> values(now.begin(), now.end());
    EXPECT_GT(values.size(), kOfImage * 98 / 100) << "a value that stands in many places";
    double sum = 0;
    for (const float one : now) sum += std::abs(one);
    least = std::min(least, sum / kOfImage);
    most = std::max(most, sum / kOfImage);
  }
  // The mean of 1000 values of which each is scaled by 1/2 to 1, and all of them by 1/2 to 1.
  EXPECT_GT(least, 0.18);
  EXPECT_LT(most, 0.39);
  EXPECT_LT(least, 0.21) << "the factor of all of them";
  EXPECT_GT(most, 0.35);
}

TEST(FreshInputs, WhatStaysAsFilledStays) {
  InputLayout layout = layout_of(ElementType::i32, 0, 50);
  layout.stays_as_filled = true;
  const std::vector<std::int32_t> input = numbers_between<std::int32_t>(0, 50);
  const InputChange change{.pokes = 5, .fresh = true};
  const std::vector<std::int32_t> now = image_of_call(change, layout, input, 0, 1);
  EXPECT_TRUE(std::ranges::equal(now, std::span(input).first(kOfImage)));
}

}  // namespace
}  // namespace convladder

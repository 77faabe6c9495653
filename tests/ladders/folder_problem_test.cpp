#include "ladders/folder_problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "support/errors.hpp"

namespace convladder {
namespace {

using testing::HasSubstr;

constexpr const char* kProblem = R"({
  "name": "rows", "dimensions": {"R": {"name": "rows"}, "C": {"name": "columns", "to": 100}},
  "tensors": [
    {"name": "x", "role": "in", "type": "f16", "shape": ["R", "C"], "fill": {"kind": "uniform", "low": 0.5, "high": 2.5}},
    {"name": "order", "role": "in", "type": "i32", "shape": ["R"], "fill": {"kind": "permutation"}},
    {"name": "y", "role": "out", "type": "f32", "shape": ["R"], "compare": {"tolerance": 1e-3}},
    {"name": "z", "role": "out", "type": "f32", "shape": ["R"], "compare": {"tolerance": 1e-5}},
    {"name": "n", "role": "out", "type": "f32", "shape": ["R"], "compare": "exact"},
    {"name": "count", "role": "in-out", "type": "u8", "shape": [], "fill": {"kind": "constant", "value": 7}}],
  "scalars": [{"name": "scale", "type": "f32", "value": "1 / C"}],
  "sizes": ["R3C5"], "counted_sizes": ["R2C2"], "work": {"flop": "R * C", "least_bytes": "R"}})";

struct Given {
  std::vector<Half> x;
  std::vector<std::int32_t> order;
  std::uint8_t count = 0;
  ProblemTensors item;
};

class FolderProblemTest : public testing::Test {
 protected:
  FolderProblem problem_{kProblem, "problem.json"};
  ProblemSize size_ = parse_size(problem_, "R4C6");

  Given filled(bool whole) {
    Given given;
    given.x.resize(24);
    given.order.resize(4);
    const std::vector<ProblemTensor> inputs = problem_.inputs(size_);
    given.item.inputs = {{inputs[0], given.x.data()}, {inputs[1], given.order.data()}};
    given.item.in_outs = {{problem_.in_outs(size_)[0], &given.count}};
    SeededRandom random(3, 1);
    for (const PlacedTensor& one : given.item.inputs) problem_.fill(size_, one, random, whole);
    problem_.fill(size_, given.item.in_outs[0], random, whole);
    given.item.in_outs[0].address = &given.count;
    return given;
  }
};

TEST_F(FolderProblemTest, IsTheFolders) {
  EXPECT_EQ(problem_.name(), "rows");
  EXPECT_EQ(size_name(size_), "R4C6");
  EXPECT_EQ(size_.flop(), 24);
  EXPECT_EQ(size_.minimum_bytes(), 4);
  EXPECT_EQ(size_.tensor_bytes(), 2 * 24 + 4 * 4 + 1 + 3 * 4 * 4 + 1);
  EXPECT_THAT(problem_.counted_sizes(), testing::ElementsAre("R2C2"));
  EXPECT_THROW(parse_size(problem_, "R4C101"), std::invalid_argument);
  EXPECT_THAT(size_error(size_.with_batch(2)), HasSubstr("a batch is for layers"));
}

TEST_F(FolderProblemTest, FillsAsItSays) {
  for (const bool whole : {false, true}) {
    const Given given = filled(whole);
    std::set<double> values;
    for (const Half one : given.x) {
      const double value = to_double(one);
      EXPECT_GE(value, whole ? 1 : 0.5);
      EXPECT_LE(value, whole ? 2 : 2.5);
      if (whole) {
        EXPECT_EQ(value, std::round(value));
      }
      values.insert(value);
    }
    EXPECT_GE(values.size(), whole ? 2U : 10U);
    EXPECT_TRUE(std::ranges::is_permutation(given.order, std::vector{0, 1, 2, 3}));
    EXPECT_EQ(given.count, 7);
  }
}

/// What a tensor [R, C] is filled with.
template <typename T>
std::vector<T> filled_with(const std::string& type, const std::string& fill, int rows, int columns,
                           bool whole = false) {
  const std::string text =
      R"({"name": "one", "dimensions": {"R": {"name": "rows"}, "C": {"name": "columns"}}, "tensors": [
      {"name": "x", "role": "in", "type": ")" +
      type + R"(", "shape": ["R", "C"], "fill": )" + fill + R"(},
      {"name": "y", "role": "out", "type": "f32", "shape": ["R"], "compare": {"tolerance": 1e-3}}],
      "sizes": ["R1C1"], "work": {"flop": "R"}})";
  const FolderProblem problem(text, "problem.json");
  const ProblemSize size = parse_size(problem, "R" + std::to_string(rows) + "C" + std::to_string(columns));
  std::vector<T> values(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
  SeededRandom random(5, 1);
  problem.fill(size, {problem.inputs(size)[0], values.data()}, random, whole);
  return values;
}

TEST(FolderProblemFills, IndicesStayWithinTheSize) {
  const std::vector<std::int64_t> values =
      filled_with<std::int64_t>("i64", R"({"kind": "whole", "low": 0, "high": "C - 1"})", 50, 3);
  EXPECT_EQ(std::set(values.begin(), values.end()), (std::set<std::int64_t>{0, 1, 2}));
}

TEST(FolderProblemFills, ChoosesAmongTheValues) {
  for (const bool whole : {false, true}) {
    const std::vector<float> values =
        filled_with<float>("f32", R"({"kind": "choice", "values": [-1, 0.5]})", 50, 3, whole);
    EXPECT_EQ(std::set(values.begin(), values.end()), (std::set<float>{-1, 0.5F}));
  }
}

TEST(FolderProblemFills, SharesOfARowAddUpToOne) {
  const std::vector<double> values = filled_with<double>("f64", R"({"kind": "shares"})", 4, 6);
  EXPECT_GT(std::ranges::min(values), 0);
  for (auto row = values.begin(); row != values.end(); row += 6) {
    EXPECT_NEAR(std::accumulate(row, row + 6, 0.0), 1, 1e-12);
  }
}

TEST(FolderProblemFills, OffsetsGoFromZeroToTheLast) {
  const auto offsets = [](const char* last, int columns) {
    return filled_with<std::int32_t>("i32", R"({"kind": "offsets", "last": ")" + std::string(last) + "\"}", 3, columns);
  };
  const std::vector<std::int32_t> enough = offsets("40", 6);
  for (std::size_t i = 0; i < enough.size(); ++i) {
    if (i % 6 == 0) {
      EXPECT_EQ(enough[i], 0);
    } else {
      EXPECT_GT(enough[i], enough[i - 1]);  // no part is empty
    }
    if (i % 6 == 5) {
      EXPECT_EQ(enough[i], 40);
    }
  }
  EXPECT_NE(std::vector(enough.begin(), enough.begin() + 6), std::vector(enough.begin() + 6, enough.begin() + 12));
  const std::vector<std::int32_t> few = offsets("2", 6);
  EXPECT_TRUE(std::is_sorted(few.begin(), few.begin() + 6));
  EXPECT_EQ(few[5], 2);
  EXPECT_EQ(offsets("5", 6), (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(offsets("7", 1), (std::vector<std::int32_t>{0, 0, 0}));
}

TEST_F(FolderProblemTest, AsksTheReferenceAndCompletesItsScales) {
  problem_.set_reference(
      [](const ProblemSize&, std::vector<ReferenceTensor>& all) {
        ASSERT_EQ(all.size(), 6U);
        const auto* const x = reinterpret_cast<const double*>(all[0].values.data());
        auto* const y = reinterpret_cast<double*>(all[2].values.data());
        auto* const z = reinterpret_cast<double*>(all[3].values.data());
        auto* const n = reinterpret_cast<double*>(all[4].values.data());
        for (int i = 0; i < 4; ++i) {
          y[i] = std::accumulate(x + 6 * i, x + 6 * i + 6, 0.0);
          all[2].scale[static_cast<std::size_t>(i)] = 5;
          z[i] = i == 0 ? 12 : 0;
          n[i] = 1.0 / 3;
        }
        EXPECT_TRUE(all[4].scale.empty());
        EXPECT_EQ(std::to_integer<int>(all[5].values[0]), 7);
        all[5].values[0] = std::byte{9};
      },
      "the test");
  const Given given = filled(true);
  const std::vector<ReferenceOutput> outputs = problem_.reference(size_, given.item);
  ASSERT_EQ(outputs.size(), 4U);
  EXPECT_EQ(problem_.granted_tolerance(1, size_), 1e-3);
  EXPECT_EQ(outputs[0].magnitude[1], 5);
  // Of four values 12, 0, 0, 0 the root mean square is 6; a hundredth of the other's tolerance.
  EXPECT_DOUBLE_EQ(outputs[1].magnitude[0], 0.12);
  EXPECT_DOUBLE_EQ(outputs[1].magnitude[3], 0.06);
  EXPECT_EQ(outputs[2].value[0], double{1.0F / 3});
  EXPECT_EQ(outputs[2].magnitude[0], 0);
  EXPECT_EQ(outputs[3].value[0], 9);
}

TEST_F(FolderProblemTest, HasNoReferenceInAnotherProcess) {
  EXPECT_THROW(static_cast<void>(problem_.reference(size_, filled(false).item)), std::logic_error);
}

TEST_F(FolderProblemTest, NumbersMoveAndOrdersDoNot) {
  const std::vector<ProblemTensor> inputs = problem_.inputs(size_);
  EXPECT_TRUE(inputs[0].may_move);
  EXPECT_FALSE(inputs[0].stays_as_filled);
  EXPECT_FALSE(inputs[1].may_move);
  EXPECT_TRUE(inputs[1].stays_as_filled);
}

}  // namespace
}  // namespace convladder

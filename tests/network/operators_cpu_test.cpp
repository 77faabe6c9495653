// Every CPU operator on guarded memory, over many shapes: right against float64, exact on small integers.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "devices/cpu/cpu_device.hpp"
#include "network/operator_test_data.hpp"

namespace convladder {
namespace {

std::string described(const ProblemVariant& registered, const ProblemSize& shape) {
  return fmt::format("{} on {} batch {}", registered.info.name, size_name(shape), shape.batch);
}

/// Runs every CPU operator of the shape's type and compares it with the reference.
void expect_cpu_right(const ProblemSize& shape, const OperatorTestData& data, bool exact = false) {
  ASSERT_EQ(size_error(shape), "") << size_name(shape);
  for (const ProblemVariant& registered : shape.problem->variants()) {
    if (registered.info.family != "cpu") continue;
    SCOPED_TRACE(described(registered, shape));
    ASSERT_EQ(registered.variant->unsupported_reason(shape), "");
    for (const bool in_place : {false, true}) {
      if (in_place && !shape.problem->works_in_place()) continue;
      CpuDevice device;
      const std::vector<float> output = operator_output(device, *registered.variant, shape, data, in_place);
      const double tolerance = exact ? 0 : registered.variant->tolerance();
      EXPECT_EQ(operator_failure(shape, data, output, tolerance), "") << (in_place ? "in place" : "");
      EXPECT_EQ(device.memory_violation(), "");
    }
  }
}

class CpuOperatorsOnABatch : public testing::TestWithParam<int> {};

TEST_P(CpuOperatorsOnABatch, AreRightOnEveryShape) {
  for (const ProblemSize& shape : operator_test_shapes(GetParam())) {
    expect_cpu_right(shape, operator_test_data(shape, OperatorNumbers::real));
    if (!is_fully_connected(shape)) continue;
    expect_cpu_right(shape, operator_test_data(shape, OperatorNumbers::integers), true);
    expect_cpu_right(shape, operator_test_data(shape, OperatorNumbers::positive));
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, CpuOperatorsOnABatch, testing::Values(1, 3, 8),
                         [](const auto& info) { return fmt::format("B{}", info.param); });

TEST(CpuOperators, AreRightOnALargeBatch) {
  for (const ProblemSize& shape :
       {fully_connected_shape(65, {3, 7, 5}, 67, true), fully_connected_shape(130, {16, 8, 8}, 32, false),
        same_shape("softmax", 65, {33, 1, 1}), pool_shape(65, {3, 13, 13}, 3, 2)}) {
    expect_cpu_right(shape, operator_test_data(shape, OperatorNumbers::real));
  }
}

/// However it is shared out: a few images by outputs and inputs, many by images.
TEST(CpuOperators, PackedWeightsGiveAnImageTheSameInEveryBatch) {
  const ProblemVariant& packed = *default_variant("cpu", fully_connected_shape(1, {2, 35, 37}, 10, true));
  ASSERT_EQ(packed.info.name, "packed");
  for (const int outputs : {10, 129, 250, 500}) {
    const ProblemSize all = fully_connected_shape(43, {2, 35, 37}, outputs, true);
    const OperatorTestData data = operator_test_data(all, OperatorNumbers::real);
    expect_cpu_right(all, data);
    CpuDevice device;
    const std::vector<float> together = operator_output(device, *packed.variant, all, data, false);
    for (const int batch : {1, 3, 8, 17}) {
      OperatorTestData first = data;
      first.input.resize(batch * static_cast<std::size_t>(all.input_elements_per_item()));
      const ProblemSize shape = fully_connected_shape(batch, {2, 35, 37}, outputs, true);
      const std::vector<float> alone = operator_output(device, *packed.variant, shape, first, false);
      EXPECT_TRUE(std::ranges::equal(alone, std::span(together).first(alone.size()))) << batch << " of " << outputs;
    }
  }
}

/// Values of every size, and those that are no numbers.
std::vector<float> wide_values() {
  std::vector<float> values = {0.0F,
                               -0.0F,
                               std::numeric_limits<float>::infinity(),
                               std::nanf(""),
                               std::numeric_limits<float>::max(),
                               std::numeric_limits<float>::min(),
                               std::numeric_limits<float>::denorm_min()};
  for (int i = 0; i < 200000; ++i) values.push_back(static_cast<float>(i) * 1e-4F);
  for (float value = 1e-38F; value < 1e38F; value *= 1.37F) values.push_back(value);
  const std::size_t positive = values.size();
  for (std::size_t i = 0; i < positive; ++i) values.push_back(-values[i]);
  return values;
}

TEST(CpuOperators, AreRightFromDenormalsToInfinity) {
  const std::vector<float> values = wide_values();
  const ActivationShape sizes{1, 1, static_cast<int>(values.size())};
  for (const char* const type : {"tanh", "relu", "bias"}) {
    expect_cpu_right(same_shape(type, 1, sizes), {values, {}, {0.25F}});
  }
}

TEST(CpuOperators, HideNoNaN) {
  const float nan = std::nanf("");
  expect_cpu_right(pool_shape(1, {1, 2, 6}, 2, 2), {{1, nan, 2, 3, 4, 5, 6, 7, 8, 9, nan, 11}, {}, {}});
  expect_cpu_right(pool_shape(1, {1, 3, 5}, 3, 2), {{nan, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5}, {}, {}});
  for (std::size_t place = 0; place < 40; ++place) {
    OperatorTestData data{std::vector<float>(40, 1.5F), {}, {}};
    data.input[place] = nan;
    expect_cpu_right(same_shape("softmax", 2, {20, 1, 1}), data);
  }
  OperatorTestData data = operator_test_data(fully_connected_shape(2, {1, 1, 9}, 5, true), OperatorNumbers::real);
  data.input[4] = nan;
  expect_cpu_right(fully_connected_shape(2, {1, 1, 9}, 5, true), data);
}

TEST(CpuOperators, SoftmaxOfHugeAndOfDistantScores) {
  const float infinity = std::numeric_limits<float>::infinity();
  expect_cpu_right(same_shape("softmax", 2, {4, 1, 1}),
                   {{3e38F, -3e38F, 2e38F, 3e38F, -infinity, 0, -88, -500}, {}, {}});
  expect_cpu_right(same_shape("softmax", 1, {3, 1, 1}), {{-1e30F, -1e30F, -1e30F}, {}, {}});
  expect_cpu_right(same_shape("softmax", 1, {3, 1, 1}), {{1, infinity, 2}, {}, {}});
}

}  // namespace
}  // namespace convladder

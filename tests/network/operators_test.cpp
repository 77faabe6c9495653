// What does not depend on a device: shapes, the reference's own numbers, the registry.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "devices/device_error.hpp"
#include "expect_error.hpp"
#include "network/layer_operators.hpp"
#include "network/operator_test_data.hpp"
#include "variants/cpu_operator.hpp"

namespace convladder {
namespace {

using testing::ExitedWithCode;

constexpr OperatorType kTypes[] = {
    OperatorType::max_pool,        OperatorType::tanh,   OperatorType::relu, OperatorType::bias,
    OperatorType::fully_connected, OperatorType::softmax};

TEST(OperatorShapes, AreCheckedInOneLine) {
  const auto error = [](const OperatorShape& shape) { return operator_shape_error(shape); };
  EXPECT_EQ(error(pool_shape(2, {3, 34, 34}, 4, 4)), "");
  EXPECT_EQ(
      error(
          {.type = OperatorType::max_pool, .input = {3, 8, 8}, .output = {3, 8, 8}, .pool_size = 2, .pool_stride = 2}),
      "pooling C3H8W8 by 2/2 gives C3H4W4, not C3H8W8");
  EXPECT_EQ(
      error(
          {.type = OperatorType::max_pool, .input = {3, 8, 8}, .output = {3, 1, 1}, .pool_size = 9, .pool_stride = 1}),
      "pools of 9 are larger than the input C3H8W8");
  EXPECT_EQ(error({.type = OperatorType::max_pool, .input = {3, 8, 8}, .output = {3, 4, 4}}),
            "a max_pool needs a size and a stride of at least 1");
  EXPECT_EQ(error({.type = OperatorType::tanh, .input = {3, 8, 8}, .output = {3, 8, 7}}),
            "tanh does not change the shape C3H8W8 to C3H8W7");
  EXPECT_EQ(error({.type = OperatorType::fully_connected, .input = {3, 8, 8}, .output = {10, 1, 2}}),
            "the output of a fully_connected is Cx1x1, not C10H1W2");
  EXPECT_EQ(error(fully_connected_shape(1, {65536, 1, 1}, 32768, true)),
            "one image or the weights hold 2^31 elements or more");
  EXPECT_EQ(error(same_shape(OperatorType::relu, 0, {1, 1, 1})),
            "batch, channels, height and width must be at least 1, they are 0, C1H1W1 and C1H1W1");
}

TEST(OperatorShapes, CountTheirElements) {
  const OperatorShape dense = fully_connected_shape(3, {2, 4, 5}, 7, true);
  EXPECT_EQ(dense.input_elements(), 120U);
  EXPECT_EQ(dense.output_elements(), 21U);
  EXPECT_EQ(dense.weight_elements(), 280U);
  EXPECT_EQ(dense.bias_elements(), 7U);
  EXPECT_EQ(fully_connected_shape(3, {2, 4, 5}, 7, false).bias_elements(), 0U);
  EXPECT_EQ(same_shape(OperatorType::bias, 3, {2, 4, 5}).bias_elements(), 2U);
  EXPECT_EQ(same_shape(OperatorType::relu, 3, {2, 4, 5}).bias_elements(), 0U);
}

TEST(OperatorShapes, HaveNames) {
  EXPECT_EQ(operator_shape_name(pool_shape(1, {6, 60, 60}, 3, 2)), "max_pool C6H60W60 3/2");
  EXPECT_EQ(operator_shape_name(fully_connected_shape(1, {24, 27, 27}, 160, true)),
            "fully_connected C24H27W27 to 160 +bias");
  EXPECT_EQ(operator_shape_name(same_shape(OperatorType::softmax, 1, {10, 1, 1})), "softmax C10H1W1");
}

TEST(OperatorShapes, FollowFromEveryLayerOfTheNetworks) {
  for (const Network& network : built_in_networks()) {
    for (const Layer& layer : network.layers) {
      const std::vector<OperatorShape> operators = layer_operators(layer, 3);
      const bool has_one = layer.type != LayerType::convolution || layer.bias;
      ASSERT_EQ(operators.size(), has_one ? 1U : 0U) << network.name << "." << layer.name;
      if (!has_one) continue;
      EXPECT_EQ(operator_shape_error(operators[0]), "") << network.name << "." << layer.name;
      EXPECT_EQ(operators[0].batch, 3);
      EXPECT_EQ(operators[0].output, layer.output);
    }
  }
  Layer convolution;
  convolution.type = LayerType::convolution;
  convolution.input = {3, 9, 9};
  convolution.output = {8, 7, 7};
  convolution.bias = true;
  EXPECT_EQ(layer_operators(convolution, 2).at(0), same_shape(OperatorType::bias, 2, {8, 7, 7}));
}

TEST(OperatorReferences, AreTheNumbersByHand) {
  const float input[] = {1, -2, 3, 4};
  const auto value = [&](const OperatorShape& shape, const float* weights, const float* bias) {
    return reference_operator(shape, input, weights, bias).value;
  };
  using Values = std::vector<double>;
  EXPECT_EQ(value(same_shape(OperatorType::relu, 1, {1, 2, 2}), nullptr, nullptr), (Values{1, 0, 3, 4}));
  const float two_biases[] = {10, 20};
  EXPECT_EQ(value(same_shape(OperatorType::bias, 1, {2, 1, 2}), nullptr, two_biases), (Values{11, 8, 23, 24}));
  EXPECT_EQ(value(pool_shape(1, {1, 2, 2}, 2, 2), nullptr, nullptr), (Values{4}));
  EXPECT_EQ(value(pool_shape(1, {2, 1, 2}, 1, 2), nullptr, nullptr), (Values{1, 3}));
  const float weights[] = {1, 1, 1, 1, 0, 2, 0, -1};
  const OperatorShape dense = fully_connected_shape(1, {1, 2, 2}, 2, true);
  EXPECT_EQ(value(dense, weights, two_biases), (Values{16, 12}));
  EXPECT_EQ(reference_operator(dense, input, weights, two_biases).magnitude, (Values{20, 28}));
  EXPECT_DOUBLE_EQ(value(same_shape(OperatorType::tanh, 1, {4, 1, 1}), nullptr, nullptr)[1], std::tanh(-2.0));
  const float scores[] = {0, std::log(3.0F)};
  const Values shares =
      reference_operator(same_shape(OperatorType::softmax, 1, {2, 1, 1}), scores, nullptr, nullptr).value;
  EXPECT_NEAR(shares[0], 0.25, 1e-7);
  EXPECT_NEAR(shares[1], 0.75, 1e-7);
}

TEST(OperatorReferences, FailWhatIsWrong) {
  const OperatorReference expected{{1.0, std::nan(""), 0.0}, {1.0, 1.0, 0.0}};
  const float nan = std::nanf("");
  const auto mismatch = [&](const std::vector<float>& output, double tolerance) {
    return operator_mismatch(expected, output.data(), tolerance);
  };
  EXPECT_EQ(mismatch({1.0F, nan, -0.0F}, 0), "");
  EXPECT_EQ(mismatch({1.5F, nan, 0.0F}, 0.5), "");
  EXPECT_EQ(mismatch({1.5F, nan, 0.0F}, 0.4), "1 of 3 elements are wrong; element 0 is 1.5, expected 1");
  EXPECT_EQ(mismatch({nan, nan, 0.0F}, 1e9), "1 of 3 elements are wrong; element 0 is nan, expected 1");
  EXPECT_EQ(mismatch({1.0F, 2.0F, 1e-30F}, 1e9), "2 of 3 elements are wrong; element 1 is 2, expected nan");
}

TEST(OperatorRegistry, IsInOrderWithLibrariesLast) {
  const std::vector<RegisteredOperator>& operators = registered_operators();
  for (std::size_t i = 1; i < operators.size(); ++i) {
    const OperatorInfo& before = operators[i - 1].info;
    const OperatorInfo& after = operators[i].info;
    EXPECT_LT(std::tie(before.family, before.type, before.library, before.name),
              std::tie(after.family, after.type, after.library, after.name));
  }
}

TEST(OperatorRegistry, HasEveryTypeOfEveryFamily) {
  for (const OperatorType type : kTypes) {
    EXPECT_EQ(default_operator("cpu", type).info.type, type);
#if CONVLADDER_HAS_CUDA_FAMILY
    EXPECT_EQ(default_operator("cuda", type).info.family, "cuda");
    EXPECT_FALSE(default_operator("cuda", type).info.library) << "networks must run on the simulated device";
#endif
  }
  expect_error<std::logic_error>([] { default_operator("abacus", OperatorType::tanh); },
                                 {"no tanh operator of family abacus"});
  EXPECT_EQ(default_operator("cpu", OperatorType::fully_connected).info.name, "packed");
}

TEST(OperatorRegistry, FindsEveryOperatorAndItsTextsCanBeRead) {
  for (const RegisteredOperator& registered : registered_operators()) {
    const OperatorInfo& info = registered.info;
    SCOPED_TRACE(fmt::format("{} {} {}", info.family, operator_type_name(info.type), info.name));
    const RegisteredOperator* const found = find_operator(info.family, info.type, info.name);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->implementation, registered.implementation);
    EXPECT_EQ(info.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string_view::npos);
    EXPECT_FALSE(info.title.empty());
    ASSERT_FALSE(info.description.empty());
    EXPECT_EQ(info.description.back(), '.');
    EXPECT_GE(registered.implementation->tolerance(), 0);
    EXPECT_LE(registered.implementation->tolerance(), 5e-6);
  }
  EXPECT_EQ(find_operator("cpu", OperatorType::tanh, "no-such"), nullptr);
}

void no_work(const OperatorShape& /*shape*/, const OperatorTensors& /*tensors*/) {}

/// Registers one more operator in a fresh process; exits with 3 and the message if the registry refuses it.
[[noreturn]] void exit_with_the_verdict_on(const OperatorInfo& info) {
  const OperatorRegistration extra(info, cpu_operator(no_work));
  try {
    registered_operators();
  } catch (const std::logic_error& error) {
    std::fputs(error.what(), stderr);
    std::exit(3);
  }
  std::exit(0);
}

class OperatorRegistryDeathTest : public testing::Test {
 protected:
  OperatorRegistryDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(OperatorRegistryDeathTest, TakesWhatFitsAndRefusesANameThatIsTaken) {
  const OperatorInfo extra{
      .family = "cpu", .type = OperatorType::relu, .name = "extra", .title = "E", .description = "."};
  EXPECT_EXIT(exit_with_the_verdict_on(extra), ExitedWithCode(0), "");
  OperatorInfo taken = extra;
  taken.name = "vector";
  EXPECT_EXIT(exit_with_the_verdict_on(taken), ExitedWithCode(3),
              "there are two: relu operator 'vector' of family cpu");
}

}  // namespace
}  // namespace convladder

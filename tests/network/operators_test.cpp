// What does not depend on a device: sizes, the reference's own numbers, the registrations.
#include <gtest/gtest.h>

#include <cmath>

#include "network/layer_operators.hpp"
#include "network/operator_test_data.hpp"

namespace convladder {
namespace {

TEST(LayerSizes, AreCheckedInOneLine) {
  EXPECT_EQ(size_error(pool_shape(2, {3, 34, 34}, 4, 4)), "");
  EXPECT_EQ(size_error(pool_shape(1, {3, 8, 8}, 9, 1)), "pools of 9 are larger than the input C3H8W8");
  EXPECT_EQ(size_error(pool_shape(1, {3, 8, 8}, 0, 1)), "pool_size is 0, it must be 1 to 1048576");
  EXPECT_EQ(size_error(fully_connected_shape(1, {65536, 1, 1}, 32768, true)),
            "one image or the weights hold 2^31 elements or more");
  EXPECT_EQ(size_error(fully_connected_shape(1, {1 << 20, 1 << 20, 1 << 20}, 1 << 20, true)),
            "one image or the weights hold 2^31 elements or more");
  EXPECT_EQ(size_error(same_shape("relu", 0, {1, 1, 1})), "batch is 0, it must be at least 1");
}

TEST(LayerSizes, CountTheirElements) {
  const ProblemSize dense = fully_connected_shape(3, {2, 4, 5}, 7, true);
  EXPECT_EQ(dense.input_elements(), 120);
  EXPECT_EQ(dense.output_elements(), 21);
  EXPECT_EQ(dense.constant_elements(), 287);
  EXPECT_EQ(fully_connected_shape(3, {2, 4, 5}, 7, false).constant_elements(), 280);
  EXPECT_EQ(same_shape("bias", 3, {2, 4, 5}).constant_elements(), 2);
  EXPECT_EQ(same_shape("relu", 3, {2, 4, 5}).constant_elements(), 0);
}

TEST(LayerSizes, FollowFromEveryLayerOfTheNetworks) {
  for (const Network& network : built_in_networks()) {
    for (const Layer& layer : network.layers) {
      const std::vector<ProblemSize> sizes = layer_operators(layer);
      const bool has_one = layer.type != LayerType::convolution || layer.bias;
      ASSERT_EQ(sizes.size(), has_one ? 1U : 0U) << network.name << "." << layer.name;
      if (!has_one) continue;
      EXPECT_EQ(size_error(sizes[0]), "") << network.name << "." << layer.name;
      EXPECT_EQ(static_cast<std::size_t>(sizes[0].output_elements()), layer.output.elements());
    }
  }
  Layer convolution;
  convolution.type = LayerType::convolution;
  convolution.input = {3, 9, 9};
  convolution.output = {8, 7, 7};
  convolution.bias = true;
  EXPECT_EQ(layer_operators(convolution).at(0), same_shape("bias", 1, {8, 7, 7}));
}

TEST(ReferenceOutputs, AreTheNumbersByHand) {
  using Values = std::vector<double>;
  const auto reference = [](const ProblemSize& size, const std::vector<float>& input, const LayerWeights& weights) {
    return size.problem->reference(size, step_tensors(size, weights, input.data(), nullptr)).front();
  };
  const std::vector<float> input{1, -2, 3, 4};
  const LayerWeights biases{{}, {10, 20}};
  EXPECT_EQ(reference(same_shape("relu", 1, {1, 2, 2}), input, {}).value, (Values{1, 0, 3, 4}));
  EXPECT_EQ(reference(same_shape("bias", 1, {2, 1, 2}), input, biases).value, (Values{11, 8, 23, 24}));
  EXPECT_EQ(reference(pool_shape(1, {1, 2, 2}, 2, 2), input, {}).value, (Values{4}));
  EXPECT_EQ(reference(pool_shape(1, {2, 1, 2}, 1, 2), input, {}).value, (Values{1, 3}));
  const ReferenceOutput dense =
      reference(fully_connected_shape(1, {1, 2, 2}, 2, true), input, {{1, 1, 1, 1, 0, 2, 0, -1}, biases.bias});
  EXPECT_EQ(dense.value, (Values{16, 12}));
  EXPECT_EQ(dense.magnitude, (Values{20, 28}));
  EXPECT_DOUBLE_EQ(reference(same_shape("tanh", 1, {4, 1, 1}), input, {}).value[1], std::tanh(-2.0));
  const Values shares = reference(same_shape("softmax", 1, {2, 1, 1}), {0, std::log(3.0F)}, {}).value;
  EXPECT_NEAR(shares[0], 0.25, 1e-7);
  EXPECT_NEAR(shares[1], 0.75, 1e-7);
}

TEST(ReferenceOutputs, FailWhatIsWrong) {
  const ReferenceOutput expected{{1.0, std::nan(""), 0.0}, {1.0, 1.0, 0.0}};
  const float nan = std::nanf("");
  const auto mismatch = [&](const std::vector<float>& output, double tolerance) {
    return output_mismatch(expected, output.data(), tolerance);
  };
  EXPECT_EQ(mismatch({1.0F, nan, -0.0F}, 0), "");
  EXPECT_EQ(mismatch({1.5F, nan, 0.0F}, 0.5), "");
  EXPECT_EQ(mismatch({1.5F, nan, 0.0F}, 0.4), "1 of 3 elements are wrong; element 0 is 1.5, expected 1");
  EXPECT_EQ(mismatch({nan, nan, 0.0F}, 1e9), "1 of 3 elements are wrong; element 0 is nan, expected 1");
  EXPECT_EQ(mismatch({1.0F, 2.0F, 1e-30F}, 1e9), "2 of 3 elements are wrong; element 1 is 2, expected nan");
}

TEST(LayerVariants, HaveADefaultInEveryFamily) {
  for (const ProblemSize& size : operator_test_shapes(1)) {
    ASSERT_NE(default_variant("cpu", size), nullptr) << size.problem->name();
#if CONVLADDER_HAS_CUDA_FAMILY
    ASSERT_NE(default_variant("cuda", size), nullptr) << size.problem->name();
    EXPECT_FALSE(default_variant("cuda", size)->info.is_library()) << "networks must run on the simulated device";
#endif
    EXPECT_EQ(default_variant("abacus", size), nullptr);
  }
  EXPECT_EQ(default_variant("cpu", fully_connected_shape(1, {2, 3, 4}, 5, true))->info.name, "packed");
}

/// Nobody is given less accuracy unasked: three products in tf32 are close to float32, and no default.
TEST(DefaultVariants, ComputeInFloat32) {
  for (const Network& network : built_in_networks()) {
    for (const std::size_t index : convolution_layers(network)) {
      const ProblemSize shape = network.layers[index].size.with_batch(8);
      for (const char* const family : {"cpu", "cuda"}) {
        const ProblemVariant* const usual = default_variant(family, shape);
        if (usual == nullptr) continue;  // a build without that family
        EXPECT_LE(usual->variant->tolerance(), kFloat32Tolerance) << network.name << ": " << usual->info.name;
      }
    }
  }
}

TEST(LayerVariants, HaveTextsThatCanBeRead) {
  for (const Problem* problem : layer_problems()) {
    EXPECT_EQ(find_variant(*problem, "cpu", "no-such"), nullptr);
    for (const ProblemVariant& registered : problem->variants()) {
      const VariantInfo& info = registered.info;
      SCOPED_TRACE(fmt::format("{} {} {}", info.family, problem->name(), info.name));
      EXPECT_EQ(find_variant(*problem, info.family, info.name), &registered);
      EXPECT_EQ(info.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string_view::npos);
      EXPECT_FALSE(info.title.empty());
      ASSERT_FALSE(info.hypothesis.empty());
      EXPECT_EQ(info.hypothesis.back(), '.');
      EXPECT_GE(registered.variant->tolerance(), 0);
      EXPECT_LE(registered.variant->tolerance(), 5e-6);
    }
  }
}

}  // namespace
}  // namespace convladder

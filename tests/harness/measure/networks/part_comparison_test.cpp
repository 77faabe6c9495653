// What a step of a network computed, held against the reference.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "harness/measure/networks/network_case.hpp"
#include "harness/measure/verification/part_comparison.hpp"
#include "harness/measure/verification/tanh_comparison.hpp"
#include "network/network_variant.hpp"
#include "network/weights.hpp"
#include "support/seeded_random.hpp"
#include "variants/convolution/reference.hpp"

namespace convladder {
namespace {

/// A linear step of lenet28, and outputs of images that are right.
class PartComparisonTest : public testing::TestWithParam<std::string> {
 protected:
  static constexpr int kImages = 40;
  static constexpr int kChunk = 12;

  PartComparisonTest() {
    NetworkOptions options;
    options.networks = {"lenet28"};
    options.devices = {"cpu"};
    options.batches = {kImages};
    options.variants = {"best-separate"};
    planned_ = make_network_plan(options).front();
    steps_ = network_steps(*planned_.network, planned_.choice);
    step_ = &*std::ranges::find(steps_, GetParam(), &NetworkStep::name);
    weights_ = initial().layers.at(GetParam());
    for (std::size_t i = 0; i < weights_.bias.size(); ++i) weights_.bias[i] = static_cast<float>(i % 7) - 3;
    input_.resize(step_->input().elements() * kImages);
    SeededRandom random(7, 0);
    for (float& x : input_) x = static_cast<float>(random.between(-100, 100)) / 128;
    static std::map<std::string, std::vector<float>> right;  // by the layer, once for all tests
    if (!right.contains(GetParam())) {
      for (int image = 0; image < kImages; ++image) add_right_output(image);
      right[GetParam()] = output_;
    }
    output_ = right.at(GetParam());
  }

  const NetworkWeights& initial() const {
    static const NetworkWeights drawn = initial_weights(*planned_.network, 1);
    return drawn;
  }

  void add_right_output(int image) {
    const float* const from = input_.data() + static_cast<std::size_t>(image) * step_->input().elements();
    if (step_->kind == StepKind::convolution) {
      std::vector<float> output(step_->output.elements());
      reference_forward(conv_shape(step_->size), 1, from, weights_.weights.data(), output.data());
      output_.insert(output_.end(), output.begin(), output.end());
      return;
    }
    const ReferenceOutput right =
        step_->size.problem->reference(step_->size, step_tensors(step_->size, weights_, from, nullptr)).front();
    output_.insert(output_.end(), right.value.begin(), right.value.end());
  }

  StepCheck compare(int by_element) {
    const NetworkProblem problem(*planned_.network);
    const std::vector<VariantPart> parts = network_parts(problem, {*step_});
    NetworkWeights weights = initial();
    weights.layers.at(GetParam()) = weights_;
    const std::vector<PlacedTensor> constants = problem.placed(weights);
    PartComparison comparison(parts.front(), constants, 11);
    comparison.compare({0, kImages, input_.data(), output_.data(), fill_, kChunk}, by_element);
    return comparison.check();
  }

  NetworkCase planned_;
  std::vector<NetworkStep> steps_;
  const NetworkStep* step_ = nullptr;
  LayerWeights weights_;
  std::vector<float> input_;
  std::vector<float> output_;
  OutputFill fill_{.seed = 3, .scale = 1};
};

TEST_P(PartComparisonTest, EveryImageIsComparedOneWayOrTheOther) {
  for (const int by_element : {1, 16, kImages, 1000}) {
    const StepCheck check = compare(by_element);
    EXPECT_EQ(check.failure, "");
    EXPECT_EQ(check.compared_images, std::min(by_element, kImages));
    EXPECT_EQ(check.combined_images, kImages - check.compared_images);
    EXPECT_GT(check.max_scaled_error, 0);
    EXPECT_LT(check.max_scaled_error, 1e-7);
  }
}

TEST_P(PartComparisonTest, OneWrongElementOfOneImageIsFoundAndNamed) {
  const std::size_t elements = step_->output.elements();
  for (const std::size_t image : {0U, 23U, 39U}) {
    float& element = output_[image * elements + 9];
    const float right = element;
    element += 0.1F;
    for (const int by_element : {1, kImages}) {
      const StepCheck check = compare(by_element);
      EXPECT_TRUE(check.failure.starts_with(
          fmt::format("image {}: 1 of {} elements are wrong; element 9 is ", image, elements)))
          << check.failure;
    }
    element = right;
  }
}

TEST_P(PartComparisonTest, WhatIsOnlyTheFillWasNeverWritten) {
  const std::size_t elements = step_->output.elements();
  constexpr std::size_t kImage = 29;  // place 5 of its chunk
  for (std::size_t i = 0; i < elements; ++i) {
    output_[kImage * elements + i] = fill_.at(static_cast<std::int64_t>(kImage % kChunk * elements + i));
  }
  const StepCheck check = compare(1);
  EXPECT_TRUE(check.failure.starts_with(fmt::format("{} of ", elements))) << check.failure;
  EXPECT_NE(check.failure.find("output elements are as they were before the call; first: image 29: "),
            std::string::npos)
      << check.failure;
}

TEST(TanhComparison, AgreesWithTheLibrary) {
  SeededRandom random(5, 0);
  for (int exponent = -40; exponent <= 7; ++exponent) {
    std::vector<float> x;
    std::vector<float> found;
    double expected = 0;
    for (int i = 0; i < 101; ++i) {
      x.push_back(std::ldexp(static_cast<float>(random.between(-1000, 1000)) / 1000, exponent));
      const double right = std::tanh(double{x.back()});
      found.push_back(static_cast<float>(right * (1 + 1e-6 * i)));
      if (right != 0) expected = std::max(expected, std::abs((found.back() - right) / right));
    }
    EXPECT_NEAR(max_tanh_error(x.data(), found.data(), 101), expected, 1e-11) << exponent;
    found[40] = NAN;
    EXPECT_TRUE(std::isnan(max_tanh_error(x.data(), found.data(), 101)));
  }
  const float zero_and_nan[] = {0.0F, NAN};
  const float found[] = {1e-30F, 1.0F};
  EXPECT_EQ(max_tanh_error(zero_and_nan, found, 1), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(max_tanh_error(zero_and_nan + 1, found + 1, 1)));
}

INSTANTIATE_TEST_SUITE_P(LinearSteps, PartComparisonTest, testing::Values("conv1", "fc1"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace convladder

#include "harness/verify.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "expect_error.hpp"
#include "harness/small_problem.hpp"

namespace convladder {
namespace {

constexpr double kTolerance = 1e-6;
constexpr ConvShape kShape{20, 1, 8, 9, 3, 3};  // output 3 x 6 x 7; images 0, 2, 5, 8, 10, 13, 16 and 19 are compared

/// An output that starts out right and is then made wrong by a test.
class Verify : public testing::Test {
 protected:
  Verify() : workload_(own_shape(kShape), synthetic_images(20, 1), 1), output_(right_output(problem())) {}

  const Problem& problem() const { return workload_.real(); }

  std::size_t at(int image, int map, int row, int column) const {
    return static_cast<std::size_t>(
        ((image * kShape.out_channels + map) * kShape.out_height() + row) * kShape.out_width() + column);
  }
  /// The output as the device holds it: what `skip` says is left as the poison that was there before.
  template <typename Skip>
  Check check(const Skip& skip, double tolerance = kTolerance) {
    const DeviceBuffer buffer = device_.allocate(output_.size() * sizeof(float), "output");
    poison(device_, buffer);
    for (std::size_t i = 0; i < output_.size(); ++i) {
      if (!skip(i)) buffer.floats()[i] = output_[i];
    }
    return check_output(device_, buffer, problem(), tolerance);
  }
  Check check(double tolerance = kTolerance) {
    return check([](std::size_t) { return false; }, tolerance);
  }
  /// Index into the reference of an element of a compared image.
  std::size_t reference_index(int image, int map, int row, int column) const {
    const auto found = std::ranges::find(problem().compared_images, image);
    EXPECT_NE(found, problem().compared_images.end()) << image;
    return at(static_cast<int>(found - problem().compared_images.begin()), map, row, column);
  }

  CpuDevice device_;
  Workload workload_;
  std::vector<float> output_;
};

TEST_F(Verify, TheComparedImagesOfTheseTestsAreThese) {
  EXPECT_EQ(problem().compared_images, (std::vector<int>{0, 2, 5, 8, 10, 13, 16, 19}));
}

TEST_F(Verify, PassesWhatIsRight) {
  const Check result = check();
  EXPECT_TRUE(result.passed) << result.first_failure;
  EXPECT_EQ(result.first_failure, "");
  EXPECT_EQ(result.unwritten, 0);
  EXPECT_EQ(result.not_finite, 0);
  EXPECT_EQ(result.compared, 8 * kShape.output_elements_per_image());
  EXPECT_GT(result.max_scaled_error, 0) << "rounding to float32 leaves something";
  EXPECT_LE(result.max_scaled_error, 0x1p-24);
}

TEST_F(Verify, AKernelThatWritesNothingFails) {
  const Check result = check([](std::size_t) { return true; });
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.unwritten, kShape.output_elements());
  EXPECT_EQ(result.not_finite, result.compared);
  expect_one_line(result.first_failure, {"2520 of 2520 output elements were never written",
                                         "image 0, map 0, row 0, column 0", "was never written, expected "});
}

TEST_F(Verify, OneNotANumberFailsAndIsKeptAsTheError) {
  output_[at(5, 1, 2, 3)] = std::nanf("");
  const Check result = check();
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.not_finite, 1);
  EXPECT_EQ(result.unwritten, 0);
  EXPECT_TRUE(std::isnan(result.max_scaled_error)) << result.max_scaled_error;
  expect_one_line(result.first_failure, {"image 5, map 1, row 2, column 3 is nan, expected "});
  EXPECT_TRUE(nlohmann::json::parse(result.to_json().dump()).at("max_scaled_error").is_null());
}

TEST_F(Verify, OneInfinityFails) {
  for (const float infinity : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    output_[at(19, 2, 5, 6)] = infinity;  // the very last element
    const Check result = check();
    EXPECT_FALSE(result.passed);
    EXPECT_EQ(result.not_finite, 1);
    expect_one_line(result.first_failure, {"image 19, map 2, row 5, column 6 is ", "inf"});
  }
}

TEST_F(Verify, OneWrongElementOfAComparedImageFailsWithItsPlace) {
  for (const int image : problem().compared_images) {
    output_ = right_output(problem());
    output_[at(image, 2, 5, 0)] += 1.0F;
    const Check result = check();
    EXPECT_FALSE(result.passed) << image;
    expect_one_line(result.first_failure, {"image " + std::to_string(image) + ", map 2, row 5, column 0 is ",
                                           "expected ", "of sum|x*w|", "allowed 1e-06"});
  }
}

TEST_F(Verify, TheFirstOfSeveralFailuresIsNamed) {
  output_[at(8, 0, 0, 0)] += 1.0F;
  output_[at(2, 2, 4, 1)] += 1.0F;
  expect_one_line(check().first_failure, {"image 2, map 2, row 4, column 1"});
}

TEST_F(Verify, ImagesOffByOneElementFail) {
  std::ranges::rotate(output_, output_.begin() + 1);
  EXPECT_FALSE(check().passed);
}

TEST_F(Verify, SkippingTheLastImageFails) {
  const std::size_t last = at(19, 0, 0, 0);
  const Check result = check([last](std::size_t i) { return i >= last; });
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.unwritten, 126);
  expect_one_line(result.first_failure, {"126 of 2520", "never written", "image 19, map 0, row 0, column 0"});
}

TEST_F(Verify, OneUnwrittenElementOfAnyImageFails) {
  for (const std::size_t missing : {at(1, 1, 3, 3), at(18, 2, 5, 6), at(0, 0, 0, 0), at(19, 2, 5, 6)}) {
    const Check result = check([missing](std::size_t i) { return i == missing; });
    EXPECT_FALSE(result.passed) << missing;
    EXPECT_EQ(result.unwritten, 1) << missing;
    expect_one_line(result.first_failure, {"1 of 2520 output elements were never written"});
  }
}

TEST_F(Verify, AWrongElementOutsideTheComparedImagesIsBeyondTheCheck) {
  output_[at(1, 0, 0, 0)] += 1.0F;  // documents what a spread of images cannot see
  EXPECT_TRUE(check().passed);
}

TEST_F(Verify, TheToleranceIsPartOfTheSumOfMagnitudes) {
  const std::size_t element = reference_index(10, 1, 2, 2);
  const double magnitude = problem().magnitude[element];
  ASSERT_GT(magnitude, 0);
  // Far enough from the border that rounding to float32 does not matter.
  output_[at(10, 1, 2, 2)] = static_cast<float>(problem().reference[element] + 0.9e-3 * magnitude);
  EXPECT_TRUE(check(1e-3).passed) << check(1e-3).first_failure;
  EXPECT_NEAR(check(1e-3).max_scaled_error, 0.9e-3, 1e-6);
  output_[at(10, 1, 2, 2)] = static_cast<float>(problem().reference[element] + 1.1e-3 * magnitude);
  EXPECT_FALSE(check(1e-3).passed);
  output_[at(10, 1, 2, 2)] = static_cast<float>(problem().reference[element] - 1.1e-3 * magnitude);
  EXPECT_FALSE(check(1e-3).passed);
}

TEST_F(Verify, AnErrorWhereAllProductsAreZeroFails) {
  ImageSet black = synthetic_images(1, 1);
  std::ranges::fill(black.pixels, std::uint8_t{0});
  const Workload workload(own_shape({1, 1, 4, 4, 1, 3}), black, 1);
  const DeviceBuffer buffer = device_.allocate(4 * sizeof(float), "output");
  std::fill_n(buffer.floats(), 4, 0.0F);
  EXPECT_TRUE(check_output(device_, buffer, workload.real(), kTolerance).passed);
  buffer.floats()[3] = 1e-30F;
  EXPECT_FALSE(check_output(device_, buffer, workload.real(), kTolerance).passed);
}

TEST_F(Verify, AToleranceOfZeroAsksForTheVeryBits) {
  const Problem& integers = workload_.integers();
  std::vector<float> output = right_output(integers);
  const DeviceBuffer buffer = device_.allocate(output.size() * sizeof(float), "output");
  device_.copy_to_device(buffer.address(), output.data(), buffer.bytes());
  EXPECT_TRUE(check_output(device_, buffer, integers, 0).passed);
  EXPECT_EQ(check_output(device_, buffer, integers, 0).max_scaled_error, 0);
  float& last = buffer.floats()[output.size() - 1];
  last = std::nextafter(last, 1e9F);
  EXPECT_FALSE(check_output(device_, buffer, integers, 0).passed);
  EXPECT_TRUE(check_output(device_, buffer, integers, kTolerance).passed);
}

TEST_F(Verify, PoisonIsANotANumberThatNoArithmeticMakes) {
  const DeviceBuffer buffer = device_.allocate(1003 * sizeof(float), "output");
  poison(device_, buffer);
  const auto pattern = std::bit_cast<std::uint32_t>(buffer.floats()[0]);
  for (int i = 0; i < 1003; ++i) {
    EXPECT_TRUE(std::isnan(buffer.floats()[i]));
    EXPECT_EQ(std::bit_cast<std::uint32_t>(buffer.floats()[i]), pattern);
  }
  volatile float zero = 0;
  EXPECT_NE(std::bit_cast<std::uint32_t>(static_cast<float>(zero / zero)), pattern);
  EXPECT_NE(std::bit_cast<std::uint32_t>(-static_cast<float>(zero / zero)), pattern);
  EXPECT_NE(std::bit_cast<std::uint32_t>(std::nanf("")), pattern);
  EXPECT_EQ(device_.memory_violation(), "");
}

}  // namespace
}  // namespace convladder

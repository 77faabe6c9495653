#include "harness/measure/verification/expected_items.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "datasets/synthetic_images.hpp"
#include "harness/measure/cases/workload.hpp"
#include "harness/measure/verification/fresh_input.hpp"

namespace convladder {
namespace {

using testing::HasSubstr;

LayerWork work_of(const std::string& problem, const std::string& size, int batch) {
  const ProblemSize parsed = parse_size(*find_problem(problem), size);
  return {problem, size_name(parsed), nullptr, 0, parsed.with_batch(batch)};
}

class ExpectedItemsTest : public testing::Test {
 protected:
  explicit ExpectedItemsTest(int batch = 20)
      : workload_(work_of("fully-connected", "C5M7B1", batch), synthetic_images(1, 1), 3),
        setting_{.change = {.rotation = 3, .pokes = 77}, .fill = {.seed = 5, .scale = 1}, .call = 2} {
    const ProblemData& data = workload_.real();
    const InputLayout layout = input_layouts_with_ranges(data).at(0);
    input_.resize(data.input().size());
    for (int item = 0; item < batch; ++item) {
      float* const of_item = input_.data() + item * layout.elements_per_image();
      write_image_of_call(of_item, setting_.change, layout, data.input().data(), item, setting_.call);
      ProblemTensors tensors;
      tensors.inputs = {{data.given[0].tensor, of_item}};
      tensors.constants = data.placed_constants();
      const std::vector<ReferenceOutput> expected = data.shape.problem->reference(data.shape, tensors);
      for (const double y : expected.at(0).value) output_.push_back(static_cast<float>(y));
    }
  }

  Check compare(double most_flop = ExpectedItems::kCheap) const {
    const ExpectedItems expected(workload_.real(), most_flop);
    const ReadTensor read = [this](std::string_view tensor, std::int64_t first, std::int64_t) {
      return (tensor == "input" ? input_ : output_).data() + first;
    };
    return expected.compare(read, 120, setting_, 1e-6);
  }

  Workload workload_;
  CallSetting setting_;
  std::vector<float> input_;
  std::vector<float> output_;
};

TEST_F(ExpectedItemsTest, TakesWhatIsRight) {
  const Check check = compare();
  EXPECT_TRUE(check.passed) << check.first_failure;
  EXPECT_EQ(check.images, 20);
  EXPECT_EQ(check.compared, 20 * 7);
  EXPECT_GT(check.max_scaled_error, 0);
}

TEST_F(ExpectedItemsTest, SeesOneWrongElement) {
  output_[7 * 11 + 4] += 0.01F;
  EXPECT_THAT(compare().first_failure, HasSubstr("item 11, element 4"));
}

TEST_F(ExpectedItemsTest, SeesWhatWasNeverWritten) {
  output_[7 * 19 + 6] = setting_.fill.at(7 * 19 + 6);
  const Check check = compare();
  EXPECT_EQ(check.unwritten, 1);
  EXPECT_THAT(check.first_failure, HasSubstr("1 of 140 output elements are as they were before the call"));
}

TEST_F(ExpectedItemsTest, SeesAnInputThatWasOverwritten) {
  input_[5 * 3 + 2] += 1;
  const Check check = compare();
  EXPECT_FALSE(check.passed);
  EXPECT_THAT(check.first_failure, HasSubstr("item 3, element 2 of the input 'input' was overwritten"));
}

TEST_F(ExpectedItemsTest, SeesTheAnswerToAnotherCall) {
  ++setting_.call;
  EXPECT_FALSE(compare().passed);
}

TEST_F(ExpectedItemsTest, SeesWhatIsNoNumber) {
  output_[3] = std::numeric_limits<float>::quiet_NaN();
  const Check check = compare();
  EXPECT_FALSE(check.passed);
  EXPECT_EQ(check.not_finite, 1);
  EXPECT_TRUE(std::isnan(check.max_scaled_error));
}

TEST_F(ExpectedItemsTest, ComparesOtherItemsEachTimeWhereAllAreDear) {
  output_[7 * 11 + 4] += 0.01F;
  int found = 0;
  for (int i = 0; i < 200; ++i) {
    const Check check = compare(0);
    EXPECT_EQ(check.images, ExpectedItems::kFewestItems);
    found += check.passed ? 0 : 1;
  }
  EXPECT_GT(found, 10) << "4 of 20 are compared, so that one wrong item is seen in every fifth comparison";
  EXPECT_LT(found, 90);
}

TEST_F(ExpectedItemsTest, SeesUnwrittenItemsThatItDoesNotCompare) {
  for (std::size_t i = 0; i < 16 * 7; ++i) output_[i] = setting_.fill.at(static_cast<std::int64_t>(i));
  EXPECT_FALSE(compare(0).passed);
  for (std::size_t i = 0; i < 7; ++i) output_[i] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(compare(0).passed);
}

TEST(AnExpectation, IsTheConvolutionsOwnForAConvolutionAlone) {
  const Workload workload(work_of("relu", "C3H4W5", 4), synthetic_images(1, 1), 1);
  EXPECT_FALSE(workload.expected(ProblemKind::real).is_linear());
  EXPECT_THROW(workload.expected_convolution(ProblemKind::real), std::bad_cast);
}

}  // namespace
}  // namespace convladder

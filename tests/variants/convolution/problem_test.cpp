#include "variants/convolution/problem.hpp"
#include "variants/convolution/conv_shape.hpp"

#include <gtest/gtest.h>

#include "expect_error.hpp"

namespace convladder {
namespace {

const ConvShape kShape{3, 12, 33, 31, 24, 7, 2, 1, 4};

TEST(ConvolutionAsAProblem, HasTheShapesSizesAndNames) {
  const ProblemSize size = kShape;
  EXPECT_EQ(conv_shape(size), kShape);
  EXPECT_EQ(size_name(size), shape_name(kShape));
  EXPECT_EQ(size.input_elements(), kShape.input_elements());
  EXPECT_EQ(size.output_elements(), kShape.output_elements());
  EXPECT_EQ(size.constant_elements(), kShape.weight_elements());
  EXPECT_EQ(size.flop(), kShape.flop());
  EXPECT_EQ(size.minimum_bytes(), kShape.minimum_bytes());
  EXPECT_LT(size.least_flop(), size.flop()) << "taps on the padding can be left out";
  EXPECT_EQ(parse_size(convolution_problem(), shape_name(kShape)), size.with_batch(1));
}

TEST(ConvolutionAsAProblem, SaysWhatFollowsFromItsSizes) {
  const std::vector<std::pair<std::string_view, int>> derived = convolution_problem().derived_values(kShape);
  ASSERT_EQ(derived.size(), 2U);
  EXPECT_EQ(derived[0], std::pair(std::string_view("out_height"), kShape.out_height()));
  EXPECT_EQ(derived[1], std::pair(std::string_view("out_width"), kShape.out_width()));
}

TEST(Sizes, AreReadInAnyOrderAndLeaveOutWhatIsUsual) {
  const Problem& pooling = *find_problem("max-pooling");
  const ProblemSize size = parse_size(pooling, "K2S3H9C4W8");
  EXPECT_EQ(size_name(size), "C4H9W8K2S3");
  EXPECT_EQ(size.at("S"), 3);
  EXPECT_EQ(size_name(parse_size(*find_problem("softmax"), "C10H1")), "C10");
}

TEST(Sizes, SayWhatIsWrong) {
  const Problem& pooling = *find_problem("max-pooling");
  const auto refused = [&](const std::string& text, const std::string& why) {
    expect_error<std::invalid_argument>([&] { parse_size(pooling, text); }, {why});
  };
  refused("C4H9W8K2", "S is missing");
  refused("C4H9W8K2S2X1", "'X' is not one of its dimensions");
  refused("C4H9W8K2S2S2", "expected one number after S");
  refused("C4H9W8KS2", "'KS' is not one of its dimensions");
  refused("C4H9W8K-2S2", "must be 1 to");
  refused("4H9", "'' is not one of its dimensions");
  refused("C4H9W8K10S2", "pools of 10 are larger than the input");
  refused("C99999999999H9W8K2S2", "expected one number after C");
  EXPECT_THROW(parse_size(pooling, "C4H9W8K2S2").at("Q"), std::logic_error);
  EXPECT_THROW(conv_shape(parse_size(pooling, "C4H9W8K2S2")), std::logic_error);
}

}  // namespace
}  // namespace convladder

#include "variants/convolution/conv_shape.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "expect_error.hpp"

namespace convladder {
namespace {

constexpr int kHuge = std::numeric_limits<int>::max();

ConvShape changed(int ConvShape::*field, int value) {
  ConvShape shape{2, 4, 9, 7, 6, 3, 1, 1, 2};
  shape.*field = value;
  return shape;
}

struct OutputSize {
  ConvShape shape;
  int height;
  int width;
};

TEST(ConvShape, OutputSizesCountTheFiltersThatFit) {
  const OutputSize cases[] = {
      {{1, 1, 28, 28, 50, 5}, 24, 24},
      {{1, 12, 33, 33, 24, 7}, 27, 27},
      {{1, 3, 227, 227, 96, 11, 4}, 55, 55},
      {{1, 96, 27, 27, 256, 5, 1, 2}, 27, 27},
      {{1, 1, 5, 9, 1, 5}, 1, 5},
      {{1, 1, 8, 9, 1, 3, 2}, 3, 4},
      {{1, 1, 8, 9, 1, 3, 2, 1}, 4, 5},
      {{1, 1, 1, 1, 1, 1}, 1, 1},
      {{1, 1, 1, 1, 1, 3, 4, 1}, 1, 1},
      {{1, 1, 10, 10, 1, 1, 4}, 3, 3},
      {{1, 1, 10, 10, 1, 4, kHuge, 0}, 1, 1},
  };
  for (const OutputSize& expected : cases) {
    EXPECT_EQ(shape_error(expected.shape), "") << shape_name(expected.shape);
    EXPECT_EQ(expected.shape.out_height(), expected.height) << shape_name(expected.shape);
    EXPECT_EQ(expected.shape.out_width(), expected.width) << shape_name(expected.shape);
  }
}

TEST(ConvShape, CountsElementsWorkAndBytes) {
  const ConvShape shape{10, 4, 9, 7, 6, 3, 2, 1, 2};  // output 5 x 4
  EXPECT_EQ(shape.channels_per_group(), 2);
  EXPECT_EQ(shape.maps_per_group(), 3);
  EXPECT_EQ(shape.input_elements_per_image(), 4 * 9 * 7);
  EXPECT_EQ(shape.input_elements(), 10 * 4 * 9 * 7);
  EXPECT_EQ(shape.weight_elements(), 6 * 2 * 3 * 3);
  EXPECT_EQ(shape.output_elements_per_image(), 6 * 5 * 4);
  EXPECT_EQ(shape.output_elements(), 10 * 6 * 5 * 4);
  EXPECT_EQ(shape.flop(), 2.0 * 1200 * 2 * 9);
  EXPECT_EQ(shape.minimum_bytes(), 4.0 * (2520 + 108 + 1200));
  EXPECT_EQ(shape.with_batch(3).batch, 3);
  EXPECT_EQ(shape.with_batch(3).with_batch(10), shape);
}

TEST(ConvShape, WorkOfPublishedLayersIsTheirs) {
  EXPECT_NEAR((ConvShape{10000, 1, 28, 28, 50, 5}.flop()), 14.40e9, 0.01e9);
  EXPECT_NEAR((ConvShape{10000, 12, 33, 33, 24, 7}.flop()), 205.8e9, 0.1e9);
  EXPECT_NEAR((ConvShape{1, 96, 27, 27, 256, 5, 1, 2}.flop()), 0.896e9, 0.001e9);
}

TEST(ConvShape, TensorsOfMoreThanTwoToThe32ElementsAreCountedRight) {
  const ConvShape shape{1000000, 1, 100, 100, 2, 1};
  EXPECT_EQ(shape.input_elements(), 10'000'000'000);
  EXPECT_EQ(shape.output_elements(), 20'000'000'000);
}

TEST(ShapeError, NamesEveryFieldThatMustBePositive) {
  const std::pair<int ConvShape::*, const char*> fields[] = {
      {&ConvShape::batch, "batch"},   {&ConvShape::in_channels, "in_channels"},
      {&ConvShape::height, "height"}, {&ConvShape::width, "width"},
      {&ConvShape::kernel, "kernel"}, {&ConvShape::out_channels, "out_channels"},
      {&ConvShape::stride, "stride"}, {&ConvShape::groups, "groups"}};
  for (const auto& [field, name] : fields) {
    for (const int value : {0, -1, -kHuge - 1}) {
      const std::string error = shape_error(changed(field, value));
      EXPECT_EQ(error.rfind(name, 0), 0U) << error;
      expect_one_line(error, {std::to_string(value), "at least 1"});
    }
  }
}

TEST(ShapeError, RefusesImpossiblePaddingKernelsAndGroups) {
  expect_one_line(shape_error(changed(&ConvShape::padding, -1)), {"padding is -1"});
  expect_one_line(shape_error(changed(&ConvShape::padding, 3)), {"padding 3", "kernel 3"});
  expect_one_line(shape_error(changed(&ConvShape::kernel, 10)), {"10x10", "11x9"});
  expect_one_line(shape_error(changed(&ConvShape::height, 0)), {"height"});
  expect_one_line(shape_error(changed(&ConvShape::groups, 3)), {"groups 3", "in_channels 4"});
  expect_one_line(shape_error(changed(&ConvShape::groups, 4)), {"groups 4", "out_channels 6"});
  EXPECT_EQ(shape_error(changed(&ConvShape::groups, 1)), "");
  EXPECT_EQ(shape_error(changed(&ConvShape::kernel, 9)), "");  // as wide as the padded image
}

TEST(ShapeError, RefusesAbsurdSizesInsteadOfOverflowing) {
  const ConvShape absurd[] = {
      {1, kHuge, 2, 1, 1, 1},
      {1, 1, kHuge, kHuge, 1, 1},
      {1, 1, 2, 1, kHuge, 1},
      {1, 1, 65536, 32768, 1, 1},
      {1, 32768, 1, 1, 65536, 1},                // the weights alone
      {1, 1, kHuge, 1, 1, 2, 1, 1},              // padding carries the height over the edge of an int
      {1, 1, 1, kHuge, 1, 3, 1, 2},              //
      {1, 1, 1, 1, 1, kHuge, 1, kHuge - 1},      // twice the padding is no int
      {1, 1, 1, 1, 1, kHuge, 1, kHuge / 2 + 1},  //
      {kHuge, kHuge, kHuge, kHuge, kHuge, kHuge, kHuge, kHuge - 1, kHuge},
  };
  for (const ConvShape& shape : absurd) EXPECT_NE(shape_error(shape), "") << shape_name(shape);
}

TEST(ShapeError, AcceptsWhatJustFits) {
  EXPECT_EQ(shape_error({kHuge, 1, 28, 28, 50, 5}), "");         // a batch is limited by memory alone
  EXPECT_EQ(shape_error({1, 1, 65536, 32767, 1, 1}), "");        // 2^31 - 65536 elements an image
  EXPECT_EQ(shape_error({1, 1, 1, 1, 1, 5, 1, 2}), "");          // most taps on padding
  EXPECT_EQ(shape_error({1, 8, 4, 4, 8, 1, 1, 0, 8}), "");       // a channel a group
  EXPECT_EQ(shape_error({1, 1, 300, 300, 1, 3, kHuge}), "");     // a stride past the image: one output
  EXPECT_NE(shape_error({1, 1, 65536, 32768, 1, 1, 1000}), "");  // 2^31 elements an image
}

TEST(ShapeName, AppendsOnlyWhatMatters) {
  EXPECT_EQ(shape_name({100, 12, 33, 33, 24, 7}), "C12H33W33M24K7");
  EXPECT_EQ(shape_name({1, 3, 227, 227, 96, 11, 4}), "C3H227W227M96K11S4");
  EXPECT_EQ(shape_name({1, 96, 27, 27, 256, 5, 1, 2}), "C96H27W27M256K5P2");
  EXPECT_EQ(shape_name({1, 8, 5, 6, 4, 3, 2, 1, 4}), "C8H5W6M4K3S2P1G4");
}

TEST(ShapeName, TellsDifferentLayersApartAndIgnoresTheBatch) {
  const ConvShape shape{1, 4, 8, 9, 4, 3, 2, 1, 2};
  std::set<std::string> names{shape_name(shape)};
  for (int ConvShape::*field :
       {&ConvShape::in_channels, &ConvShape::height, &ConvShape::width, &ConvShape::out_channels, &ConvShape::kernel,
        &ConvShape::stride, &ConvShape::padding, &ConvShape::groups}) {
    ConvShape other = shape;
    ++(other.*field);
    EXPECT_TRUE(names.insert(shape_name(other)).second) << shape_name(other);
  }
  EXPECT_EQ(shape_name(shape.with_batch(7)), shape_name(shape));
}

}  // namespace
}  // namespace convladder

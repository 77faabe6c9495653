// Shifted rows: every width of an output row, cut into columns that are read in place and columns that are copied, and
// every way of storing, are exact.
#include "variants/convolution/cpu/shifted_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "variants/convolution/conv_test_data.hpp"
#include "variants/convolution/reference.hpp"

namespace convladder {
namespace {

constexpr const char* kSetVariable = "CONVLADDER_INSTRUCTION_SET";

std::vector<InstructionSet> instruction_sets() {
  std::vector<InstructionSet> result;
  for (const char* const name : {"avx512", "avx2", "baseline"}) {
    setenv(kSetVariable, name, 1);
    try {
      result.push_back(chosen_instruction_set());
    } catch (const std::runtime_error&) {  // this processor does not have it
    }
  }
  unsetenv(kSetVariable);
  return result;
}

/// What `rows` computes of one image, all bands; NaN where nothing was written. Behind it are numbers that must stay.
std::vector<float> convolved(const ShiftedRows& rows, const ConvShape& shape, const std::vector<float>& input,
                             TileStores stores) {
  const auto elements = static_cast<std::size_t>(shape.output_elements_per_image());
  constexpr std::size_t kBehind = 64;
  std::vector<float> output(elements + kBehind, std::nanf(""));
  std::fill(output.begin() + static_cast<std::ptrdiff_t>(elements), output.end(), 7.0F);
  AlignedFloats copies(rows.copy_floats());
  for (int band = 0; band < rows.bands(); ++band) {
    rows.convolve(copies.data(), input.data(), output.data(), band, stores);
  }
  for (std::size_t i = elements; i < output.size(); ++i) EXPECT_EQ(output[i], 7.0F) << "written behind the output";
  output.resize(elements);
  return output;
}

TEST(ShiftedRows, AreExactForEveryWidthWhicheverColumnsAreReadInPlace) {
  std::set<std::string> ways;
  for (const InstructionSet& set : instruction_sets()) {
    for (int width = 3; width <= 3 * set.lanes + 4; ++width) {
      // Two groups of three channels, maps whose tiles differ in size, and an odd number of rows.
      const ConvShape shape{1, 6, 13, width + 2, 2 * (set.maps + 1), 3, 1, 0, 2};
      const ConvTestData data = integer_data(shape, 7);
      const ReferenceOutput expected = reference_convolution(shape, data.input.data(), data.weights.data());
      const std::vector<float> wanted(expected.value.begin(), expected.value.end());
      for (const int threads : {1, 3}) {  // three bands
        const ShiftedRowsDivision division(shape, threads, {}, set);
        const ShiftedRows rows(shape, data.weights.data(), division);
        SCOPED_TRACE(shape_name(shape) + " " + rows.choice());
        EXPECT_EQ(convolved(rows, shape, data.input, TileStores::plain), wanted);
        EXPECT_EQ(convolved(rows, shape, data.input, TileStores::prefetched), wanted);
        const ShiftedRows copied(shape, data.weights.data(), division.all_copied());
        EXPECT_FALSE(copied.in_place());
        EXPECT_EQ(convolved(copied, shape, data.input, TileStores::prefetched), wanted);
        ways.insert(!rows.in_place() ? "copied" : rows.copied_columns() == 0 ? "in place" : "both");
      }
    }
  }
  EXPECT_EQ(ways, (std::set<std::string>{"both", "copied", "in place"})) << "not every way was tested";
}

TEST(ShiftedRows, ReadNothingInPlaceWhereThereIsABorderOrAStride) {
  for (const ConvShape& shape : {ConvShape{1, 1, 40, 40, 8, 7, 1, 3}, {1, 1, 75, 75, 8, 7, 2}}) {
    const ConvTestData data = integer_data(shape, 3);
    const ShiftedRows rows(shape, data.weights.data(), ShiftedRowsDivision(shape, 1, {}));
    EXPECT_FALSE(rows.in_place()) << shape_name(shape);
  }
}

// Maps that are whole lines can be streamed from registers, which takes one line of all outputs.
TEST(ShiftedRows, LeaveMapsOfWholeLinesInOneLine) {
  const ConvShape shape{1, 1, 18, 36, 8, 3};
  const ConvTestData data = integer_data(shape, 3);
  const ShiftedRows rows(shape, data.weights.data(), ShiftedRowsDivision(shape, 1, {}));
  ASSERT_EQ(shape.out_height() * shape.out_width() % 16, 0);
  EXPECT_TRUE(rows.whole_lines());
  EXPECT_TRUE(!rows.in_place() || rows.copied_columns() == 0) << rows.choice();
}

}  // namespace
}  // namespace convladder

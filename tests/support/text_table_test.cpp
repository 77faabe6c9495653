#include "support/text_table.hpp"

#include <gtest/gtest.h>

namespace convladder {
namespace {

TEST(TextTable, AlignsTextsLeftAndNumbersRight) {
  EXPECT_EQ(text_table({{"stage", "", false}, {"time", "ms", true}}, {{"baseline", "12.5"}, {"µ", "3"}}),
            "stage     time\n"
            "            ms\n"
            "baseline  12.5\n"
            "µ            3\n");
}

TEST(TextTable, HasNoLineOfUnitsWithoutUnits) {
  EXPECT_EQ(text_table({{"a", "", false}, {"b", "", true}}, {{"x", "1"}}), "a  b\nx  1\n");
  EXPECT_EQ(text_table({}, {}), "");
}

TEST(TextTable, BreaksTheWidestTextToFit) {
  EXPECT_EQ(text_table({{"stage", "", false}, {"t", "s", true}}, {{"shared memory and block remap", "0.3"}}, 24),
            "stage                  t\n"
            "                       s\n"
            "shared memory and    0.3\n"
            "block remap\n");
}

TEST(TextTable, BreaksAWordThatIsWiderThanItsColumn) {
  EXPECT_EQ(text_table({{"stage", "", false}, {"t", "", true}}, {{"conv1=fused-shifted-rows, conv2", "0.3"}}, 25),
            "stage                   t\n"
            "conv1=fused-shifted-  0.3\n"
            "rows,\n"
            "conv2\n");
}

TEST(TextTable, BreaksTitlesOfNumbersToFit) {
  EXPECT_EQ(text_table({{"batch", "", true}, {"memcpy_htod", "", true}, {"cudaFreeHost", "", true}},
                       {{"1", "40.16", "307.19"}}, 22),
            "                  cuda\n"
            "       memcpy_    Free\n"
            "batch     htod    Host\n"
            "    1    40.16  307.19\n");
}

TEST(TextTable, WrapsBetweenWords) {
  EXPECT_EQ(wrapped("one two  three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrapped("indivisible one", 4), (std::vector<std::string>{"indivisible", "one"}));
  EXPECT_EQ(wrapped("", 4), (std::vector<std::string>{""}));
}

}  // namespace
}  // namespace convladder

#include "support/nearest_name.hpp"

#include <gtest/gtest.h>

namespace convladder {
namespace {

using Names = std::vector<std::string>;

TEST(NearestNames, SortsByTheNumberOfChangedLetters) {
  EXPECT_EQ(nearest_names("conv2", {"pool1", "conv1x", "conv1", "conv2"}),
            (Names{"conv2", "conv1", "conv1x", "pool1"}));
}

TEST(NearestNames, CountsInsertionsDeletionsAndSubstitutions) {
  EXPECT_EQ(nearest_names("abc", {"xyz", "abcde", "ab", "abc"}), (Names{"abc", "ab", "abcde", "xyz"}));
  EXPECT_EQ(nearest_names("kitten", {"mitten", "sitting"}), (Names{"mitten", "sitting"}));
  EXPECT_EQ(nearest_names("bcd", {"axcd", "abcd"}), (Names{"abcd", "axcd"}));  // one insertion, against two changes
}

TEST(NearestNames, KeepsTheOrderOfEquallyDistantNames) {
  EXPECT_EQ(nearest_names("x", {"c", "a", "b"}), (Names{"c", "a", "b"}));
}

TEST(NearestNames, NamesEachNameOnceWhereverItStood) {
  EXPECT_EQ(nearest_names("conv1", {"conv1", "lenet28.conv1", "conv1", "conv2", "lenet72.conv1", "conv2", "conv1"}),
            (Names{"conv1", "conv2", "lenet28.conv1", "lenet72.conv1"}));
  // The same name twice, another of the same distance in between.
  EXPECT_EQ(nearest_names("conv3", {"conv1", "conv2", "conv1"}), (Names{"conv1", "conv2"}));
}

TEST(NearestNames, TakesEmptyTextsAndLists) {
  EXPECT_EQ(nearest_names("", {"ab", "a"}), (Names{"a", "ab"}));
  EXPECT_TRUE(nearest_names("a", {}).empty());
}

TEST(UnknownNameMessage, SaysWhatIsUnknownAndWhatIsKnownNearestFirst) {
  EXPECT_EQ(unknown_name_message("variant", "shared-memroy", {"block-remap", "shared-memory"}),
            "unknown variant 'shared-memroy'; known: shared-memory, block-remap");
}

TEST(UnknownNameMessage, NamesOnlyTheNearestOfMany) {
  EXPECT_EQ(unknown_name_message("x", "a", {"h", "g", "f", "e", "d", "c", "b", "a", "i"}),
            "unknown x 'a'; known: a, h, g, f, e and 4 more");
}

}  // namespace
}  // namespace convladder

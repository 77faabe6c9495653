// What can be chosen of a variant: reading it, and saying why something is not possible.
#include "variants/configuration.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace convladder {
namespace {

TEST(Configuration, IsWrittenAsItIsRead) {
  const Configuration configuration = Configuration::parse("maps=8,pixels=9,images=2");
  EXPECT_EQ(configuration.text(), "maps=8,pixels=9,images=2");
  EXPECT_EQ(configuration.value("pixels"), 9);
  EXPECT_EQ(configuration.value("rows"), std::nullopt);
  EXPECT_EQ(configuration.without("pixels").with(Configuration::parse("rows=3,maps=4")).text(),
            "maps=4,images=2,rows=3");
}

TEST(Configuration, RefusesWhatIsNone) {
  for (const char* const text :
       {"", "maps", "maps=", "=8", "maps=8x", "maps=99999999999", "maps=8,", "maps=8;pixels=9", "maps=8,maps=8"}) {
    EXPECT_THROW(Configuration::parse(text), std::invalid_argument) << text;
  }
}

TEST(Configuration, SaysWhichValueDoesNotGoWithThoseBeforeIt) {
  const std::vector<Configuration> all = {Configuration::parse("maps=8,pixels=9"),
                                          Configuration::parse("maps=8,pixels=4"),
                                          Configuration::parse("maps=4,pixels=16")};
  const auto why = [&](const char* text) { return impossible_configuration(Configuration::parse(text), all, "C1"); };
  EXPECT_EQ(why("maps=8"), "");
  EXPECT_EQ(why("pixels=16,maps=4"), "");
  EXPECT_EQ(why("map=8"), "unknown parameter 'map'; known: maps, pixels");
  EXPECT_EQ(why("maps=5"), "maps=5 is not possible for C1; possible: 4, 8");
  EXPECT_EQ(why("maps=8,pixels=16"), "pixels=16 is not possible for C1 with maps=8; possible: 4, 9");
  EXPECT_EQ(candidates_of(all, Configuration::parse("maps=8"), 1), std::vector{all[0]});
}

}  // namespace
}  // namespace convladder

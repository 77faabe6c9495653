#include "support/reasons.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace convladder {
namespace {

using ::testing::ElementsAre;

TEST(Reasons, AreSaidOnceInTheOrderInWhichTheyCame) {
  Reasons reasons;
  EXPECT_TRUE(reasons.empty());
  for (const char* name : {"a", "b", "b"}) reasons.add("no GPU", name);
  reasons.add("too large", "c");
  reasons.add("no GPU", "d");
  EXPECT_THAT(reasons.lines(), ElementsAre("a, b, d: no GPU", "c: too large"));
  for (const char* name : {"e", "f"}) reasons.add("no GPU", name);
  EXPECT_THAT(reasons.lines(), ElementsAre("a, b, d, e, f: no GPU", "c: too large"));
  reasons.add("no GPU", "g");
  EXPECT_THAT(reasons.lines(), ElementsAre("a, b, d, e and 2 more: no GPU", "c: too large"));
}

}  // namespace
}  // namespace convladder

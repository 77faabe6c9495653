#include "devices/cpu/other_threads.hpp"

#include <gtest/gtest.h>

namespace convladder {
namespace {

TEST(OtherThreads, RestAsLongAsTheyLive) {
  EXPECT_FALSE(OtherThreads::any());
  int rests = 0;
  {
    const OtherThreads silent;
    const OtherThreads resting([&] { ++rests; });
    EXPECT_TRUE(OtherThreads::any());
    OtherThreads::rest();
    OtherThreads::rest();
    EXPECT_EQ(rests, 2);
  }
  EXPECT_FALSE(OtherThreads::any());
  OtherThreads::rest();
  EXPECT_EQ(rests, 2);
}

}  // namespace
}  // namespace convladder

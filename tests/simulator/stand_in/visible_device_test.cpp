#include "simulator/stand_in/visible_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace convladder::stand_in {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(VisibleDevice, IsHiddenByWhatNamesNoGpuBeforeIt) {
  for (const char* const list :
       {"0", "0,1", " 0 , 5", "00", "0,-1", "GPU-636f6e76", "GPU-636f6e76-6c61-6464-6572-2d6770752d30"}) {
    EXPECT_THAT(visible_devices(list, 1), ElementsAre(0)) << list;
  }
  for (const char* const list :
       {"", " ", "-1", "1", "1,0", "-1,0", "x", "0x", "GPU-", "GPU-1234", ",0", "MIG-636f6e76"}) {
    EXPECT_THAT(visible_devices(list, 1), IsEmpty()) << list;
  }
  EXPECT_THAT(visible_devices(nullptr, 1), ElementsAre(0));
}

TEST(VisibleDevice, IsWhereTheListNamesIt) {
  EXPECT_THAT(visible_devices(nullptr, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(visible_devices("2,0", 3), ElementsAre(2, 0));
  EXPECT_THAT(visible_devices("1,7,0", 3), ElementsAre(1));
  EXPECT_THAT(visible_devices("GPU-636f6e76-6c61-6464-6572-2d6770752d32,0", 3), ElementsAre(2, 0));
  EXPECT_THAT(visible_devices("GPU-636f6e76", 3), IsEmpty()) << "each of them begins so";
  EXPECT_THAT(visible_devices("0,0", 3), IsEmpty()) << "named twice";
  EXPECT_THAT(visible_devices("3", 16), ElementsAre(3));
}

}  // namespace
}  // namespace convladder::stand_in

#include "simulator/stand_in/visible_device.hpp"

#include <gtest/gtest.h>

namespace convladder::stand_in {
namespace {

TEST(VisibleDevice, IsHiddenByWhatNamesNoGpuBeforeIt) {
  for (const char* const list :
       {"0", "0,1", " 0 , 5", "00", "0,-1", "GPU-636f6e76", "GPU-636f6e76-6c61-6464-6572-2d6770752d30"}) {
    EXPECT_TRUE(is_device_visible(list)) << list;
  }
  for (const char* const list :
       {"", " ", "-1", "1", "1,0", "-1,0", "x", "0x", "GPU-", "GPU-1234", ",0", "MIG-636f6e76"}) {
    EXPECT_FALSE(is_device_visible(list)) << list;
  }
  EXPECT_TRUE(is_device_visible(nullptr));
}

}  // namespace
}  // namespace convladder::stand_in

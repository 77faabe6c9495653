// What the system says of its processes, while they come and go.
#include "harness/measure/machine/machine_load.hpp"

#include <gtest/gtest.h>

namespace convladder {
namespace {

/// As the file of a process that ends between the opening and the reading, a folder can be opened and not read.
TEST(SystemText, IsEmptyWhereTheReadingFails) {
  EXPECT_EQ(system_text("/"), "");
  EXPECT_EQ(system_text("/no/such/file"), "");
  EXPECT_NE(system_text("/proc/self/stat"), "");
}

}  // namespace
}  // namespace convladder

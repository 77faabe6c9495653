// The highest rates that a machine has reached, as they are kept from one run to the next.
#include "harness/measure/machine/kept_ceilings.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace convladder {
namespace {

TEST(KeptCeilings, AreTheHighestOfAll) {
  const double before = kept_ceiling("a device", "its limit").value_or(0);
  keep_ceiling("a device", "its limit", before + 2);
  keep_ceiling("a device", "its limit", before + 1);
  keep_ceiling("a device", "its limit", std::nan(""));
  keep_ceiling("a device", "another", before + 5);
  EXPECT_EQ(kept_ceiling("a device", "its limit"), before + 2);
  EXPECT_FALSE(kept_ceiling("another device", "its limit").has_value());
}

}  // namespace
}  // namespace convladder

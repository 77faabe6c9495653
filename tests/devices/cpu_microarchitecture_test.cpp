#include "devices/cpu/cpu_microarchitecture.hpp"

#include <gtest/gtest.h>

namespace convladder {
namespace {

TEST(CpuMicroarchitecture, NamesTheCores) {
  EXPECT_EQ(microarchitecture_name("AuthenticAMD", 25, 0x21), "zen3");
  EXPECT_EQ(microarchitecture_name("AuthenticAMD", 25, 0x11), "zen4");
  EXPECT_EQ(microarchitecture_name("AuthenticAMD", 26, 0x02), "zen5");
  EXPECT_EQ(microarchitecture_name("GenuineIntel", 6, 0x55), "skylake-server");
  EXPECT_EQ(microarchitecture_name("GenuineIntel", 6, 0x8f), "sapphire-rapids");
  EXPECT_EQ(microarchitecture_name("GenuineIntel", 6, 0xcf), "sapphire-rapids");
}

TEST(CpuMicroarchitecture, OfOthersIsTheirNumbers) {
  EXPECT_EQ(microarchitecture_name("AuthenticAMD", 21, 2), "amd-21-2");
  EXPECT_EQ(microarchitecture_name("GenuineIntel", 6, 1), "intel-6-1");
  EXPECT_EQ(microarchitecture_name("GenuineIntel", 19, 1), "intel-19-1");
  EXPECT_EQ(microarchitecture_name("SomebodyElse", 6, 1), "unknown");
  EXPECT_FALSE(cpu_microarchitecture().empty());
}

TEST(CpuMicroarchitecture, OfThoseWithAvx512Zen4HasHalfTheUnits) {
  EXPECT_TRUE(halves_wide_vectors("zen4"));
  for (const char* const name : {"zen5", "sapphire-rapids", "skylake-server", "unknown"}) {
    EXPECT_FALSE(halves_wide_vectors(name)) << name;
  }
}

}  // namespace
}  // namespace convladder

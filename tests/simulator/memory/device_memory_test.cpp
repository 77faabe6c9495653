#include "simulator/memory/device_memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <new>

namespace convladder::simulated {
namespace {

#ifndef __SANITIZE_ADDRESS__  // whose shadow is not to be had under such a limit
/// Of the address space of this process.
std::uint64_t used_addresses() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

TEST(DeviceMemoryDeathTest, LivesWithFewAddressesAndUsesThemAgain) {
  const auto limited = [] {
    constexpr std::uint64_t piece = 48 << 20;
    const rlimit limit{used_addresses() + (std::uint64_t{512} << 20), RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &limit);
    DeviceMemory memory(std::uint64_t{1} << 40);
    if (!memory.is_cramped() || memory.capacity() > std::uint64_t{256} << 20) std::exit(1);
    const std::uint64_t kept = memory.allocate(piece, "kept");
    for (int i = 0; i < 100; ++i) {
      const std::uint64_t address = memory.allocate(piece, "passing");
      *memory.host(address) = std::byte{1};
      *memory.host(address + piece - 1) = std::byte{1};
      if (memory.find(kept) == nullptr || address == kept) std::exit(2);
      if (*memory.host(address + piece / 2) != std::byte{0}) std::exit(3);
      memory.free(address);
    }
    try {
      memory.allocate(memory.capacity(), "all");
    } catch (const std::bad_alloc&) {
      std::exit(0);
    }
    std::exit(4);
  };
  EXPECT_EXIT(limited(), testing::ExitedWithCode(0), "");
}
#endif

TEST(DeviceMemory, GivesMappingsBack) {
  DeviceMemory memory(std::uint64_t{1} << 30);
  constexpr int pieces = 40'000;  // Linux has 65530 mappings for a process, and each piece between others takes two
  for (int i = 0; i < pieces; ++i) {
    const std::uint64_t address = memory.allocate(1, "passing");
    if (i % 100 == 0) *memory.host(address) = std::byte{1};
    memory.free(address);
  }
  EXPECT_EQ(memory.used(), 0U);
}

}  // namespace
}  // namespace convladder::simulated

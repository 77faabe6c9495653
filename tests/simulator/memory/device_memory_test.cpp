#include "simulator/memory/device_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <new>
#include <stdexcept>

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

TEST(DeviceMemory, IsReachedByKernelsOfItsDeviceAndOfThoseThatWereLetIn) {
  DeviceMemory memory(std::uint64_t{1} << 30);
  const std::uint64_t first = memory.allocate(256, "first");
  memory.set_device(1);
  const std::uint64_t second = memory.allocate(256, "second");
  EXPECT_NE(memory.find(first), nullptr) << "the host reaches all";
  memory.run_kernel(true);
  EXPECT_EQ(memory.find(first), nullptr);
  EXPECT_NE(memory.find(second), nullptr);
  memory.let_reach(1, 0, true);
  EXPECT_NE(memory.find(first), nullptr);
  memory.set_device(0);
  EXPECT_EQ(memory.find(second), nullptr) << "the other way is another";
  memory.set_devices(second, 3);
  EXPECT_NE(memory.find(second), nullptr);
}

TEST(DeviceMemory, HasWhatIsMappedAndMayBeReachedAsOnePiece) {
  constexpr std::uint64_t unit = std::uint64_t{1} << 16;
  DeviceMemory memory(std::uint64_t{1} << 30);
  const int file = memfd_create("test", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(file, unit), 0);
  const std::uint64_t begin = memory.reserve(4 * unit, unit, "reserved");
  EXPECT_EQ(begin % unit, 0U);
  EXPECT_EQ(memory.find(begin), nullptr);
  memory.map(begin, unit, file, 0);
  memory.map(begin + unit, unit, file, 0);
  memory.let_access(begin + unit, unit, 1);
  EXPECT_EQ(memory.find(begin), nullptr);
  memory.let_access(begin, unit, 1);
  ASSERT_NE(memory.find(begin), nullptr);
  EXPECT_EQ(memory.find(begin)->end, begin + 2 * unit);
  *memory.host(begin + 5) = std::byte{7};
  EXPECT_EQ(*memory.host(begin + unit + 5), std::byte{7}) << "the same pages at both";
  memory.unmap(begin, unit);
  EXPECT_EQ(memory.find(begin), nullptr);
  EXPECT_NE(memory.find(begin + unit), nullptr);
  EXPECT_THROW(memory.give_back(begin, 4 * unit), std::invalid_argument);
  memory.unmap(begin + unit, unit);
  EXPECT_THROW(memory.give_back(begin, unit), std::invalid_argument);
  memory.give_back(begin, 4 * unit);
  close(file);
}

}  // namespace
}  // namespace convladder::simulated

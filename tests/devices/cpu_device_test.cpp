#include "devices/cpu/cpu_device.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <limits>
#include <numeric>

#include "devices/device_error.hpp"
#include "devices/device_registry.hpp"
#include "expect_error.hpp"

namespace convladder {
namespace {

std::byte* first_byte(const DeviceBuffer& buffer) { return static_cast<std::byte*>(buffer.address()); }

std::byte* end_of(const DeviceBuffer& buffer) { return first_byte(buffer) + buffer.bytes(); }

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

const std::size_t kSizes[] = {1, 4, 63, 64, 65, 4092, 4096, 4097, 100000, std::size_t{5} << 20};

TEST(CpuDevice, AllocationsAreAlignedToACacheLineAndWritableToTheLastByte) {
  CpuDevice device;
  for (const std::size_t bytes : kSizes) {
    const DeviceBuffer buffer = device.allocate(bytes, "tensor");
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.address()) % 64, 0U) << bytes;
    EXPECT_EQ(buffer.bytes(), bytes);
    std::fill(first_byte(buffer), end_of(buffer), std::byte{0x5A});
    EXPECT_EQ(std::count(first_byte(buffer), end_of(buffer), std::byte{0x5A}), static_cast<std::ptrdiff_t>(bytes));
    EXPECT_EQ(device.memory_violation(), "") << bytes;
  }
}

TEST(CpuDevice, AnAllocationOfNothingIsPossible) {
  CpuDevice device;
  const DeviceBuffer buffer = device.allocate(0, "nothing");
  EXPECT_EQ(buffer.bytes(), 0U);
  EXPECT_EQ(device.memory_violation(), "");
}

TEST(CpuDevice, WhatIsReadJustPastATensorIsNotANumber) {
  CpuDevice device;
  const DeviceBuffer buffer = device.allocate(4 * sizeof(float), "tensor");
  const float* volatile values = buffer.floats();
  EXPECT_NE(values[4], values[4]);
  EXPECT_NE(values[-1], values[-1]);
}

// Threadsafe: OpenMP's threads may be running, and a fork would lose them.
class CpuDeviceDeathTest : public testing::Test {
 protected:
  CpuDeviceDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(CpuDeviceDeathTest, ReadingBeyondTheRestOfTheLastCacheLineCrashes) {
  for (const std::size_t bytes : kSizes) {
    CpuDevice device;
    const DeviceBuffer buffer = device.allocate(bytes, "tensor");
    const volatile std::byte* const beyond = first_byte(buffer) + (bytes + 63) / 64 * 64;
    EXPECT_DEATH(static_cast<void>(std::to_integer<int>(*beyond)), "") << bytes;
  }
}

TEST_F(CpuDeviceDeathTest, WritingBeyondTheLastCacheLineCrashes) {
  CpuDevice device;
  const DeviceBuffer buffer = device.allocate(128, "tensor");
  EXPECT_DEATH(*static_cast<volatile char*>(static_cast<void*>(end_of(buffer))) = 0, "");
}

TEST_F(CpuDeviceDeathTest, ReadingAPageBeforeATensorCrashes) {
  CpuDevice device;
  const DeviceBuffer buffer = device.allocate(2 * page_bytes(), "tensor");
  const volatile std::byte* const before = first_byte(buffer) - 1;
  EXPECT_DEATH(static_cast<void>(std::to_integer<int>(*before)), "");
}

TEST_F(CpuDeviceDeathTest, FreedMemoryIsGone) {
  CpuDevice device;
  const volatile std::byte* freed = nullptr;
  {
    const DeviceBuffer buffer = device.allocate(64, "tensor");
    freed = first_byte(buffer);
  }
  EXPECT_DEATH(static_cast<void>(std::to_integer<int>(*freed)), "");
}

TEST(CpuDevice, FindsAByteWrittenJustAfterAnAllocation) {
  CpuDevice device;
  const DeviceBuffer buffer = device.allocate(100, "output");
  *end_of(buffer) = std::byte{0};
  expect_one_line(device.memory_violation(), {"0 bytes after the end of output"});
}

TEST(CpuDevice, FindsTheLastByteThatCanBeWrittenAfterAnAllocation) {
  CpuDevice device;
  const DeviceBuffer buffer = device.allocate(100, "output");
  first_byte(buffer)[127] = std::byte{0};
  expect_one_line(device.memory_violation(), {"27 bytes after the end of output"});
}

TEST(CpuDevice, FindsAByteWrittenBeforeAnAllocation) {
  CpuDevice device;
  const DeviceBuffer first = device.allocate(100, "input");
  const DeviceBuffer second = device.allocate(100, "output");
  *(first_byte(second) - 1) = std::byte{0};
  expect_one_line(device.memory_violation(), {"1 bytes before the start of output"});
}

TEST(CpuDevice, SaysAViolationOnceAndAlsoAfterTheMemoryIsFreed) {
  CpuDevice device;
  {
    const DeviceBuffer buffer = device.allocate(sizeof(float), "workspace");
    buffer.floats()[1] = 1.0F;
  }
  expect_one_line(device.memory_violation(), {"after the end of workspace"});
  EXPECT_EQ(device.memory_violation(), "");
}

TEST(CpuDevice, CopiesTensorsThereAndBack) {
  CpuDevice device;
  std::vector<float> values(1000);
  std::iota(values.begin(), values.end(), 1.0F);
  const DeviceBuffer buffer = device.allocate(values.size() * sizeof(float), "tensor");
  device.copy_to_device(buffer.address(), values.data(), buffer.bytes());
  EXPECT_EQ(buffer.floats()[999], 1000.0F);
  std::vector<float> back(values.size());
  device.copy_to_host(back.data(), buffer.address(), buffer.bytes());
  EXPECT_EQ(back, values);
}

TEST(CpuDevice, ABufferCanBeMovedAndIsFreedOnce) {
  CpuDevice device;
  DeviceBuffer first = device.allocate(256, "tensor");
  void* const address = first.address();
  DeviceBuffer second = std::move(first);
  EXPECT_EQ(second.address(), address);
  first = device.allocate(512, "another");
  second = std::move(first);
  EXPECT_EQ(second.bytes(), 512U);
}

TEST(CpuDevice, TimesTheWorkInNanoseconds) {
  CpuDevice device;
  int calls = 0;
  const double nanoseconds = device.time_ns([&] {
    ++calls;
    timespec nap{0, 20'000'000};
    while (nanosleep(&nap, &nap) != 0) {
    }
  });
  EXPECT_EQ(calls, 1);
  EXPECT_GE(nanoseconds, 20e6);  // a sleep is never shorter than asked for: this is the unit, not the speed
}

TEST(CpuDevice, ATensorBeyondTheMemoryIsRefusedWithItsFigures) {
  CpuDevice device;
  constexpr std::size_t kAbsurd = std::size_t{1} << 62;
  expect_error<OutOfDeviceMemory>([&] { static_cast<void>(device.allocate(kAbsurd, "output")); },
                                  {"output needs 4611686018427387904 bytes", "bytes of memory are available"});
  EXPECT_EQ(device.memory_violation(), "");
}

TEST(CpuDevice, ASizeThatCannotBeRoundedUpToPagesIsRefusedToo) {
  CpuDevice device;
  expect_error<OutOfDeviceMemory>(
      [&] { static_cast<void>(device.allocate(std::numeric_limits<std::size_t>::max() - 10, "output")); },
      {"output needs 18446744073709551605 bytes"});
}

TEST(CpuDevice, LaunchesNoKernels) {
  CpuDevice device;
  expect_error<DeviceError>([&] { device.launch({}); }, {"cannot launch kernels"});
}

TEST(CpuDevice, IsRegisteredAndAlwaysThere) {
  const std::vector<DeviceKind> kinds = device_kinds();
  const auto kind = std::ranges::find(kinds, std::string_view("cpu"), &DeviceKind::name);
  ASSERT_NE(kind, kinds.end());
  EXPECT_EQ(kind->family, "cpu");
  EXPECT_EQ(kind->unavailable(), "");
  EXPECT_GT(kind->open()->free_bytes(), 0U);
  ASSERT_FALSE(kind->facts().empty());
  EXPECT_EQ(kind->facts().front().name, "name");
}

}  // namespace
}  // namespace convladder

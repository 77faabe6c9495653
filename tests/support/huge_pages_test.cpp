#include "support/huge_pages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace convladder {
namespace {

bool begins_at_a_huge_page(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) % kHugePageBytes == 0;
}

TEST(HugePages, BeginAtOneAndAreZeroAndWritable) {
  for (const std::size_t bytes : {std::size_t{1}, kHugePageBytes - 1, kHugePageBytes, 3 * kHugePageBytes + 5}) {
    auto* const memory = static_cast<unsigned char*>(allocate_huge(bytes));
    EXPECT_TRUE(begins_at_a_huge_page(memory)) << bytes;
    EXPECT_TRUE(std::all_of(memory, memory + bytes, [](unsigned char byte) { return byte == 0; })) << bytes;
    std::fill(memory, memory + bytes, static_cast<unsigned char>(1));
    free_huge(memory, bytes);
  }
}

TEST(HugePages, TooMuchIsBadAlloc) {
  EXPECT_THROW(allocate_huge(static_cast<std::size_t>(-1)), std::bad_alloc);
  EXPECT_THROW(allocate_huge(static_cast<std::size_t>(1) << 60), std::bad_alloc);
  HugePageAllocator<double> allocator;
  EXPECT_THROW(static_cast<void>(allocator.allocate(static_cast<std::size_t>(-1) / 4)), std::bad_alloc);
}

TEST(HugePages, HoldContainersOfEverySize) {
  using Values = std::vector<int, HugePageAllocator<int>>;
  constexpr std::size_t kLeast = HugePageAllocator<int>::kLeastBytes / sizeof(int);
  for (const std::size_t count : {std::size_t{0}, std::size_t{3}, kLeast - 1, kLeast, 4 * kLeast + 1}) {
    Values values(count, 7);
    values.push_back(8);  // may move to larger memory
    const Values copy = values;
    EXPECT_EQ(copy.size(), count + 1);
    EXPECT_EQ(std::count(copy.begin(), copy.end(), 7), static_cast<std::ptrdiff_t>(count));
    if (HugePageAllocator<int>::kHuge) {
      EXPECT_EQ(begins_at_a_huge_page(copy.data()), count + 1 >= kLeast) << count;
    }
  }
}

}  // namespace
}  // namespace convladder

#include "harness/measure/cases/outputs_at_return.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace convladder {
namespace {

TEST(OutputsAtReturn, SeeEachByteOfSmallMemory) {
  for (const std::size_t bytes : {1, 63, 64, 65, 1000, 262144}) {
    std::vector<std::byte> memory(bytes);
    OutputsAtReturn outputs;
    outputs.keep(memory);
    EXPECT_FALSE(outputs.changed()) << bytes;
    for (const std::size_t at : {std::size_t{0}, bytes / 2, bytes - 1}) {
      memory[at] = std::byte{1};
      EXPECT_TRUE(outputs.changed()) << bytes << " at " << at;
      memory[at] = std::byte{0};
    }
  }
}

TEST(OutputsAtReturn, SeeAPartOfLargeMemoryWhereverItLies) {
  constexpr std::size_t bytes = 50'000'000;
  std::vector<std::byte> memory(bytes);
  OutputsAtReturn outputs;
  outputs.keep(memory);
  constexpr std::size_t part = bytes / 2000;
  for (const std::size_t first : {std::size_t{0}, std::size_t{12'345'678}, bytes - part}) {
    for (std::size_t i = 0; i < part; ++i) memory[first + i] = std::byte{1};
    EXPECT_TRUE(outputs.changed()) << first;
    for (std::size_t i = 0; i < part; ++i) memory[first + i] = std::byte{0};
  }
  EXPECT_FALSE(outputs.changed());
}

TEST(OutputsAtReturn, AreForgottenBeforeTheNextCall) {
  std::vector<std::byte> memory(10);
  OutputsAtReturn outputs;
  outputs.keep(memory);
  outputs.keep({});
  memory[3] = std::byte{7};
  outputs.forget();
  EXPECT_FALSE(outputs.changed());
}

}  // namespace
}  // namespace convladder

#include "harness/measure/isolation/handover.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <thread>

namespace convladder {
namespace {

TEST(Handover, WaitsForTheValueAwakeAndAsleep) {
  for (const HandoverNumber::Patience patience : {HandoverNumber::Patience{}, kForOther}) {
    HandoverNumber wanted;
    HandoverNumber done;
    std::jthread other([&] {
      for (std::uint32_t call = 1; call <= 200; ++call) {
        ASSERT_TRUE(wanted.wait(call, patience, [] { return true; }));
        EXPECT_EQ(done.value(), call - 1);
        done.set(call);
      }
    });
    for (std::uint32_t call = 1; call <= 200; ++call) {
      wanted.set(call);
      ASSERT_TRUE(done.wait(call, patience, [] { return true; }));
      EXPECT_EQ(done.value(), call);
    }
  }
}

TEST(Handover, EndsWhereTheOtherHasEnded) {
  HandoverNumber number;
  int asked = 0;
  EXPECT_FALSE(number.wait(1, {}, [&] { return ++asked < 3; }));
  EXPECT_EQ(asked, 3);
}

TEST(Handover, HasATextBehindThePage) {
  std::array<std::byte, kHandoverBytes> memory{};
  EXPECT_EQ(handover_text(memory.data()), "");
  set_handover_text(memory.data(), std::string(2 * kHandoverBytes, 'x'));
  EXPECT_EQ(handover_text(memory.data()).size(), kHandoverBytes - sizeof(Handover) - 1);
}

}  // namespace
}  // namespace convladder

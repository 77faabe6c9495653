#include "harness/measure/isolation/handshake.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <thread>

namespace convladder {
namespace {

TEST(Handshake, WaitsForTheValueAwakeAndAsleep) {
  for (const HandshakeNumber::Patience patience : {HandshakeNumber::Patience{}, kForOther}) {
    HandshakeNumber wanted;
    HandshakeNumber done;
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

TEST(Handshake, EndsWhereTheOtherHasEnded) {
  HandshakeNumber number;
  int asked = 0;
  EXPECT_FALSE(number.wait(1, {}, [&] { return ++asked < 3; }));
  EXPECT_EQ(asked, 3);
}

TEST(Handshake, HasATextBehindThePage) {
  std::array<std::byte, kHandshakeBytes> memory{};
  EXPECT_EQ(handshake_text(memory.data()), "");
  set_handshake_text(memory.data(), std::string(2 * kHandshakeBytes, 'x'));
  EXPECT_EQ(handshake_text(memory.data()).size(), kHandshakeBytes - sizeof(Handshake) - 1);
}

}  // namespace
}  // namespace convladder

#include "harness/measure/isolation/handshake.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <ctime>

namespace convladder {
namespace {

using Clock = std::chrono::steady_clock;

constexpr long kSleepNs = 50'000'000;
constexpr int kLooksAtOnce = 64;  // between two looks at the clock

void pause_a_moment() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

double ns_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

}  // namespace

void HandshakeNumber::set(std::uint32_t value) {
  value_.store(value, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&value_), FUTEX_WAKE, 1 << 10, nullptr, nullptr, 0);
}

std::string handshake_text(const std::byte* memory) {
  const auto* const text = reinterpret_cast<const char*>(memory + sizeof(Handshake));
  return {text, strnlen(text, kHandshakeBytes - sizeof(Handshake))};
}

void set_handshake_text(std::byte* memory, std::string_view text) {
  text.copy(reinterpret_cast<char*>(memory + sizeof(Handshake)), kHandshakeBytes - sizeof(Handshake) - 1);
}

bool HandshakeNumber::wait(std::uint32_t value, Patience patience, const std::function<bool()>& goes_on) {
  const auto begin = Clock::now();
  for (double waited = 0; waited < patience.spin_ns; waited = ns_since(begin)) {
    for (int look = 0; look < kLooksAtOnce; ++look) {
      if (this->value() == value) return true;
      pause_a_moment();
    }
    if (waited > patience.alone_ns) sched_yield();
  }
  for (;;) {
    const std::uint32_t seen = this->value();
    if (seen == value) return true;
    ++sleepers_;
    const timespec most{0, kSleepNs};
    if (this->value() == seen) {
      syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&value_), FUTEX_WAIT, seen, &most, nullptr, 0);
    }
    --sleepers_;
    if (this->value() == value) return true;
    if (!goes_on()) return false;
  }
}

}  // namespace convladder

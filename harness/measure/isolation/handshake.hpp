// How two processes hand a call over to each other: a page of memory that both map, and a way to wait on it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace convladder {

/// A number that one process raises and another waits for. Short waits look again and again, so that no sleep and no
/// waking is in a time; meanwhile they yield to whatever else could run on the processor. Where both have the same
/// processors, the looking process could keep the other from going on: there the right patience is none.
class HandshakeNumber {
 public:
  /// Raises the number, and wakes a process that sleeps until then.
  void set(std::uint32_t value);
  std::uint32_t value() const { return value_.load(std::memory_order_acquire); }
  /// How long to look without sleeping, and how long of that without giving the processor to others.
  struct Patience {
    double spin_ns = 0;
    double alone_ns = 0;
  };
  /// Returns when the number is `value`. Every 50 ms of sleep asks `goes_on`: false ends the wait, and returns false.
  bool wait(std::uint32_t value, Patience patience, const std::function<bool()>& goes_on);

 private:
  std::atomic<std::uint32_t> value_{0};
  std::atomic<std::uint32_t> sleepers_{0};
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "it is shared between processes");
};

/// Patience for a process that gets ready, or that waits for one getting ready.
inline constexpr HandshakeNumber::Patience kForOther{.spin_ns = 200e3, .alone_ns = 20e3};

/// The page of a handshake. The caller raises `wanted`, waits for `ready`, reads the clock, raises `begun`, and waits
/// for `done`.
struct Handshake {
  alignas(64) HandshakeNumber loaded;  ///< 1: the library is loaded, or a text says why it cannot be
  alignas(64) HandshakeNumber wanted;
  alignas(64) HandshakeNumber ready;
  alignas(64) HandshakeNumber begun;
  alignas(64) HandshakeNumber done;
};

/// The size of the memory that holds the page and, after it, a text.
inline constexpr std::size_t kHandshakeBytes = 64 << 10;
std::string handshake_text(const std::byte* memory);
void set_handshake_text(std::byte* memory, std::string_view text);

}  // namespace convladder

#include "devices/cpu/guards.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace convladder {
namespace {

constexpr std::size_t kAlignment = 64;  // a cache line, and the widest vector

std::size_t round_up(std::size_t value, std::size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace

std::size_t guarded_page_bytes(std::size_t bytes) {
  return round_up(std::max<std::size_t>(bytes, 1), static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
}

GuardedMemory guarded_in(std::byte* pages, std::size_t bytes) {
  const std::size_t of_pages = guarded_page_bytes(bytes);
  return {pages, of_pages, pages + (of_pages - round_up(bytes, kAlignment)), bytes};
}

GuardedMemory guarded_at(std::byte* address, std::size_t bytes) {
  return guarded_in(address + round_up(bytes, kAlignment) - guarded_page_bytes(bytes), bytes);
}

std::string guards_violation(std::span<const std::byte> before, std::span<const std::byte> behind,
                             std::string_view label) {
  const auto is_other = [](std::byte one) { return one != kGuardByte; };
  if (const auto found = std::ranges::find_if(before, is_other); found != before.end()) {
    return fmt::format("memory {} bytes before the start of {} was overwritten", before.end() - found, label);
  }
  if (const auto found = std::ranges::find_if(behind, is_other); found != behind.end()) {
    return fmt::format("memory {} bytes after the end of {} was overwritten", found - behind.begin(), label);
  }
  return {};
}

}  // namespace convladder

// A hash of text that is the same on every machine and with every library, unlike std::hash: results of a seed must be
// the same everywhere.
#pragma once

#include <cstdint>
#include <string_view>

namespace convladder {

/// FNV-1a, 64 bits (Fowler, Noll, Vo; RFC 9923). For random numbers, not for protection against attacks.
constexpr std::uint64_t text_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char one : text) hash = (hash ^ static_cast<unsigned char>(one)) * 0x100000001b3;
  return hash;
}

}  // namespace convladder

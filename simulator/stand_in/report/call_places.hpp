// The places of this process from which it calls, or at which it was interrupted.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "simulator/stand_in/report/host_place.hpp"

namespace convladder::stand_in {

/// The place of an instruction; none if it is nobody's or ours.
std::optional<CallPlace> place_of(std::uint64_t instruction);

/// Where the program has called from, innermost first, without our own functions.
CallPlaces calling_places();

/// The addresses to which this thread's functions return, innermost first. In a signal's handler, too.
struct Frames {
  static constexpr int kMost = 48;  // calls of libraries go through some twenty of ours
  std::array<void*, kMost> addresses{};
  int count = 0;

  void take();
  std::span<void* const> all() const { return {addresses.data(), static_cast<std::size_t>(count)}; }
};
/// Where a signal has interrupted the program, at this instruction: `frames` are those of its handler.
CallPlaces interrupted_places(const Frames& frames, std::uint64_t instruction);

}  // namespace convladder::stand_in

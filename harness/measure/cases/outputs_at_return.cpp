#include "harness/measure/cases/outputs_at_return.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace convladder {
namespace {

constexpr std::size_t kMostPlaces = 4096;
constexpr std::size_t kPlaceBytes = 64;

std::size_t bytes_at(std::span<const std::byte> memory, std::size_t place) {
  return std::min(kPlaceBytes, memory.size() - place);
}

}  // namespace

void OutputsAtReturn::keep(std::span<const std::byte> memory) {
  if (memory.empty()) return;
  const std::size_t whole = (memory.size() + kPlaceBytes - 1) / kPlaceBytes;
  const std::size_t count = std::min(whole, kMostPlaces);
  Kept kept{memory, {}, std::vector<std::byte>(count * kPlaceBytes)};
  kept.places.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place = (whole - 1 - i * whole / count) * kPlaceBytes;
    kept.places.push_back(place);
    std::memcpy(kept.content.data() + i * kPlaceBytes, memory.data() + place, bytes_at(memory, place));
  }
  kept_.push_back(std::move(kept));
}

bool OutputsAtReturn::changed() const {
  return std::ranges::any_of(kept_, [](const Kept& one) {
    for (std::size_t i = 0; i < one.places.size(); ++i) {
      const std::size_t place = one.places[i];
      const std::byte* const before = one.content.data() + i * kPlaceBytes;
      if (std::memcmp(before, one.memory.data() + place, bytes_at(one.memory, place)) != 0) return true;
    }
    return false;
  });
}

}  // namespace convladder

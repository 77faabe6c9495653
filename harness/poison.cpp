#include "harness/poison.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace convladder {
namespace {

// A quiet NaN with a payload: hardware makes 0x7fc00000 or 0xffc00000 of invalid operations, never this.
constexpr std::uint32_t kPoison = 0x7fd1e5a1;
constexpr std::size_t kChunkFloats = std::size_t{1} << 24;

bool is_poison(float value) { return std::bit_cast<std::uint32_t>(value) == kPoison; }

}  // namespace

void poison(Device& device, float* address, std::size_t floats) {
  const std::vector<std::uint32_t> pattern(std::min(floats, kChunkFloats), kPoison);
  for (std::size_t first = 0; first < floats; first += pattern.size()) {
    const std::size_t count = std::min(pattern.size(), floats - first);
    device.copy_to_device(address + first, pattern.data(), count * sizeof(float));
  }
}

std::int64_t count_poison(Device& device, const float* address, std::size_t floats) {
  std::int64_t unwritten = 0;
  std::vector<float> values(std::min(floats, kChunkFloats));
  for (std::size_t first = 0; first < floats; first += values.size()) {
    const std::size_t count = std::min(values.size(), floats - first);
    device.copy_to_host(values.data(), address + first, count * sizeof(float));
    unwritten += std::count_if(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count), is_poison);
  }
  return unwritten;
}

}  // namespace convladder

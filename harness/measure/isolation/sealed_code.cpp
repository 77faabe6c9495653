#include "harness/measure/isolation/sealed_code.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

namespace convladder {
namespace {

constexpr long kSeal = 462;  // on every architecture

/// Beginning and end of the executable memory: "7f00-7f20 r-xp …". Leaves out memory that the system maps above the
/// processes' half of the addresses.
std::vector<std::pair<std::uint64_t, std::uint64_t>> executable_ranges() {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const char* const end = line.data() + line.size();
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    const auto [dash, bad] = std::from_chars(line.data(), end, first, 16);
    if (bad != std::errc() || dash == end) continue;
    const auto [access, worse] = std::from_chars(dash + 1, end, last, 16);
    if (worse != std::errc() || end - access < 4 || access[3] != 'x' || (first >> 63U) != 0) continue;
    ranges.emplace_back(first, last);
  }
  return ranges;
}

}  // namespace

std::string seal_code() {
  const auto ranges = executable_ranges();
  if (ranges.empty()) return "no sealed code: /proc/self/maps cannot be read";
  for (const auto& [first, last] : ranges) {
    if (syscall(kSeal, first, last - first, 0) == 0) continue;
    return errno == ENOSYS ? "no sealed code (mseal): the kernel is older than 6.10"
                           : fmt::format("no sealed code (mseal): {}", std::strerror(errno));
  }
  return {};
}

}  // namespace convladder

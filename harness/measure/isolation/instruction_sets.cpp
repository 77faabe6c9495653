#include "harness/measure/isolation/instruction_sets.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace convladder {
namespace {

#define CONVLADDER_NAME(name, macro, builtin) std::string_view(name),
constexpr std::array kNames = {CONVLADDER_INSTRUCTION_SETS(CONVLADDER_NAME)};
static_assert(kNames.size() <= 32);

}  // namespace

std::uint32_t instruction_sets_here() {
#ifdef __x86_64__
  __builtin_cpu_init();
#define CONVLADDER_IS_HERE(name, macro, builtin) __builtin_cpu_supports(builtin) != 0,
  constexpr std::size_t count = kNames.size();
  const std::array<bool, count> here = {CONVLADDER_INSTRUCTION_SETS(CONVLADDER_IS_HERE)};
  std::uint32_t bits = 0;
  for (std::size_t one = 0; one < count; ++one) bits |= here[one] ? std::uint32_t{1} << one : 0;
  return bits;
#else
  return kCompiledInstructionSets;
#endif
}

std::size_t instruction_set_names(std::uint32_t sets, std::span<char> room) {
  std::size_t used = 0;
  const auto add = [&](std::string_view text) {
    text = text.substr(0, room.size() - used);
    std::ranges::copy(text, room.begin() + static_cast<std::ptrdiff_t>(used));
    used += text.size();
  };
  for (std::size_t one = 0; one < kNames.size(); ++one) {
    if ((sets >> one & 1) == 0) continue;
    if (used > 0) add(", ");
    add(kNames[one]);
  }
  return used;
}

}  // namespace convladder

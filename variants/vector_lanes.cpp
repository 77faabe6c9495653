#include "variants/vector_lanes.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "devices/cpu/cpu_microarchitecture.hpp"

namespace convladder {
namespace {

using Kind = InstructionSet::Kind;

template <typename Set>
constexpr InstructionSet described(Kind kind, const char* name) {
  return {kind, name, Set::lanes, Set::maps, Set::vectors};
}

constexpr std::array kSets = {described<Avx512>(Kind::avx512, "avx512"), described<Avx2>(Kind::avx2, "avx2"),
                              described<BaselineLanes>(Kind::baseline, "baseline")};

bool processor_has(Kind kind) {
  if (kind == Kind::baseline) return true;
#ifdef __x86_64__
  const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  if (kind == Kind::avx2) return avx2;
  return avx2 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
         __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0;
#else
  return false;
#endif
}

}  // namespace

InstructionSet chosen_instruction_set() {
  const char* const wish = std::getenv("CONVLADDER_INSTRUCTION_SET");
  for (const InstructionSet& set : kSets) {
    if (wish == nullptr || *wish == '\0') {
      if (processor_has(set.kind)) return set;
    } else if (std::string_view(wish) == set.name) {
      if (processor_has(set.kind)) return set;
      throw std::runtime_error(
          fmt::format("CONVLADDER_INSTRUCTION_SET is {}, which this processor does not support", wish));
    }
  }
  throw std::runtime_error(
      fmt::format("CONVLADDER_INSTRUCTION_SET is '{}', it must be avx512, avx2 or baseline", wish));
}

InstructionSet instruction_set_for(std::int64_t lanes) {
  static const bool halves = halves_wide_vectors(cpu_microarchitecture());
  const char* const wish = std::getenv("CONVLADDER_INSTRUCTION_SET");
  return instruction_set_for(lanes, chosen_instruction_set(), halves && (wish == nullptr || *wish == '\0'));
}

InstructionSet instruction_set_for(std::int64_t lanes, const InstructionSet& chosen, bool halves_wide_vectors) {
  if (chosen.kind != Kind::avx512 || !halves_wide_vectors) return chosen;
  constexpr InstructionSet kHalf = described<Avx2>(Kind::avx2, "avx2");
  return lanes <= kHalf.lanes ? kHalf : chosen;
}

InstructionSet baseline_instruction_set() { return kSets.back(); }

}  // namespace convladder

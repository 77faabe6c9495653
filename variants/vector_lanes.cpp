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

bool halves_here() {
  static const bool halves = halves_wide_vectors(cpu_microarchitecture());
  return halves;
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

std::vector<InstructionSet> instruction_sets_to_choose_from() {
  const char* const wish = std::getenv("CONVLADDER_INSTRUCTION_SET");
  return instruction_sets_to_choose_from(chosen_instruction_set(), halves_here() && (wish == nullptr || *wish == '\0'));
}

std::vector<InstructionSet> instruction_sets_to_choose_from(const InstructionSet& chosen, bool halves_wide_vectors) {
  if (chosen.kind != Kind::avx512 || !halves_wide_vectors) return {chosen};
  return {chosen, described<Avx2>(Kind::avx2, "avx2")};
}

double cycles_of_vector(const InstructionSet& set) {
  constexpr double kHalved = 1.65;  // not 2: tiles of half as many registers load more for each multiply-add
  return set.kind == Kind::avx512 && halves_here() ? kHalved : 1;
}

InstructionSet baseline_instruction_set() { return kSets.back(); }

}  // namespace convladder

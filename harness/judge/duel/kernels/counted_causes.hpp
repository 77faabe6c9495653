// Why a GPU kernel got slower or faster: both sides of a duel counted on the simulated device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/judge/duel/kernels/kernel_duel.hpp"

namespace convladder {

/// The counters that differ most between the pair's sides, and the lines of source where they do, a line each; where
/// nothing can be counted, the reason. Empty for kernels of processors and of libraries. `seconds`: for each side.
std::vector<std::string> counted_causes(const KernelPair& pair, const std::string& base_program,
                                        const std::string& new_program, std::uint64_t seed, double seconds);

}  // namespace convladder

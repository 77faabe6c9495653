// What an output is filled with before a step of a network, to see what the step left unwritten.
#pragma once

#include <cstdint>

#include "devices/device.hpp"

namespace convladder {

/// Fills `floats` of device memory with a NaN of a pattern that no arithmetic produces.
void poison(Device& device, float* address, std::size_t floats);
/// How many of them still hold it.
std::int64_t count_poison(Device& device, const float* address, std::size_t floats);

}  // namespace convladder

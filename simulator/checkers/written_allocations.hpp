// The allocations that a launch can write: those from which the kernel's store addresses are derived.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "simulator/memory/device_memory.hpp"
#include "simulator/state/program.hpp"

namespace convladder::simulated {

/// The beginnings of the live allocations that a store, an atomic or another writing access of the kernel can reach
/// with these parameters (laid out as Program::parameter_offsets says), judged by where its address comes from. All
/// allocations if an address comes from memory or from a variable. Arithmetic that leads from one allocation into
/// another is not followed: memcheck finds that.
std::set<std::uint64_t> written_allocations(const Program& program, const std::vector<std::byte>& parameters,
                                            const DeviceMemory& memory);

}  // namespace convladder::simulated

// Which bits of registers matter: those that a stored value, an address, a condition or another lane may depend on. The
// other bits of what a load brings, as the padding of a structure, may be anything.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/ptx/module.hpp"

namespace convladder::simulated {

/// By register, a bit for each bit that something may depend on. Backward data flow over the kernel's instructions in
/// any order; an instruction that is not known demands all of its sources.
std::vector<std::uint64_t> demanded_bits(const ptx::Kernel& kernel);

/// A bit for each byte of what the instruction `load` brings, in the order of memory, on which something may depend.
/// Anything but a plain load of at most 32 bytes counts as used.
std::uint32_t demanded_bytes(const ptx::Kernel& kernel, int load, const std::vector<std::uint64_t>& demanded);

}  // namespace convladder::simulated

// Where an address of global memory is, for messages.
#pragma once

#include <cstdint>
#include <string>

#include "simulator/memory/device_memory.hpp"

namespace convladder::simulated {

/// "byte 4 of 'in' (4096 bytes)", or what the address is near to. `label` becomes the allocation's, if there is one.
std::string global_place(const DeviceMemory& memory, std::uint64_t address, std::string& label);

}  // namespace convladder::simulated

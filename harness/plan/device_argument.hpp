// A kind of device as typed on the command line or named by another process.
#pragma once

#include <string_view>

#include "devices/device_registry.hpp"

namespace convladder {

/// The device kind of that name. Throws UserError with the known ones, nearest first.
const DeviceKind& find_device_kind(std::string_view name);

}  // namespace convladder

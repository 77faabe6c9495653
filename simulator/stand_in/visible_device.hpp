// Whether CUDA_VISIBLE_DEVICES makes the one GPU visible to the program.
#pragma once

#include <string_view>

namespace convladder::stand_in {

/// The 16 bytes of the UUID.
inline constexpr std::string_view kDeviceUuid = "convladder-gpu-0";

/// `list` is the variable's value, null where it is not set: numbers and beginnings of UUIDs, which count up to the
/// first that names no GPU, by the driver's rule.
bool is_device_visible(const char* list);

}  // namespace convladder::stand_in

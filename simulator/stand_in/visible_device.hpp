// Whether CUDA_VISIBLE_DEVICES leaves the program the one GPU that there is.
#pragma once

#include <string_view>

namespace convladder::stand_in {

/// 16 bytes.
inline constexpr std::string_view kDeviceUuid = "convladder-gpu-0";

/// `list`: what the variable says, null where it is not set. Numbers and beginnings of UUIDs, which count up to the
/// first that names no GPU: the driver's rule.
bool is_device_visible(const char* list);

}  // namespace convladder::stand_in

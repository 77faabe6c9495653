// Whether CUDA_VISIBLE_DEVICES makes the one GPU visible to the program.
#pragma once

#include <string>
#include <string_view>

namespace convladder::stand_in {

/// The 16 bytes of the UUID.
inline constexpr std::string_view kDeviceUuid = "convladder-gpu-0";
/// The UUID as nvidia-smi writes it: "GPU-636f6e76-6c61-6464-6572-2d6770752d30".
std::string uuid_text();
/// The place on the PCI bus.
inline constexpr const char* kDeviceBusId = "0000:01:00.0";

/// `list` is the variable's value, null where it is not set: numbers and beginnings of UUIDs, which count up to the
/// first that names no GPU, by the driver's rule.
bool is_device_visible(const char* list);

}  // namespace convladder::stand_in

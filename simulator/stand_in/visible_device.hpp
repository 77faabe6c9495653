// Which GPUs CUDA_VISIBLE_DEVICES makes visible to the program, and in which order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace convladder::stand_in {

/// The most GPUs that a machine may have.
inline constexpr int kMostGpus = 16;

/// The 16 bytes of the UUID of a GPU of the machine, numbered from 0.
std::string device_uuid(int gpu);
/// The UUID as nvidia-smi writes it: "GPU-636f6e76-6c61-6464-6572-2d6770752d30".
std::string uuid_text(int gpu);
/// The number of its bus.
constexpr int bus_of(int gpu) { return 1 + gpu; }
/// Its place on the PCI bus: "0000:01:00.0".
std::string bus_text(int gpu);

/// The numbers of the GPUs that the program sees, of `gpus` in the machine. `list` is the variable's value, null where
/// it is not set: numbers and beginnings of UUIDs, which count up to the first that names no GPU, by the driver's rule.
/// If one is named twice, there is none.
std::vector<int> visible_devices(const char* list, int gpus);

}  // namespace convladder::stand_in

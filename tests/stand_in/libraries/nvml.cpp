// An NVML for the tests, with two GPUs: the stand-in's, which answers everything and has 40 other processes on it, and
// one that knows little. nvml.h is not part of every toolkit: the types are those of devices/cuda/nvml.cpp.
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "calls.hpp"

namespace {
constexpr int success = 0;
constexpr int not_supported = 3;
constexpr int not_found = 6;
constexpr int insufficient_size = 7;
int gpus[2];

struct Process {
  unsigned process;
  unsigned long long memory_bytes;
  unsigned instances[2];
};

bool knows_all(const void* device) { return device == gpus; }

int copied(const char* text, char* to, unsigned bytes) {
  if (std::strlen(text) >= bytes) return insufficient_size;
  std::strcpy(to, text);
  return success;
}

template <typename Work>
int answered(const char* call, const void* device, const Work& work) {
  return library_of_tests::answered<int>(call, device, work);
}
}  // namespace

extern "C" {
int nvmlInit_v2() {
  return answered("nvmlInit", nullptr, [] { return success; });
}
int nvmlShutdown() {
  return answered("nvmlShutdown", nullptr, [] { return success; });
}
int nvmlSystemGetDriverVersion(char* text, unsigned bytes) {
  return answered("nvmlSystemGetDriverVersion", nullptr, [&] { return copied("580.65.06", text, bytes); });
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
  return answered("nvmlDeviceGetHandleByPciBusId", nullptr, [&] {
    if (std::strcmp(bus_id, "0000:01:00.0") == 0) *device = gpus;
    if (std::strcmp(bus_id, "0000:02:00.0") == 0) *device = gpus + 1;
    return std::strncmp(bus_id, "0000:0", 6) == 0 ? success : not_found;
  });
}
int nvmlDeviceGetUUID(void* device, char* text, unsigned bytes) {
  return answered("nvmlDeviceGetUUID", device,
                  [&] { return knows_all(device) ? copied("GPU-of-the-tests", text, bytes) : not_supported; });
}
/// What is free of 80 GB: all, or CONVLADDER_TEST_GPU_FREE_BYTES where others have the rest.
int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* total_free_used) {
  return answered("nvmlDeviceGetMemoryInfo", device, [&] {
    constexpr unsigned long long total = 80'000'000'000;
    const char* const free_bytes = std::getenv("CONVLADDER_TEST_GPU_FREE_BYTES");
    total_free_used[0] = total;
    total_free_used[1] = free_bytes == nullptr ? total : std::strtoull(free_bytes, nullptr, 10);
    total_free_used[2] = total - total_free_used[1];
    return knows_all(device) ? success : not_supported;
  });
}
int nvmlDeviceGetComputeMode(void* device, int* mode) {
  return answered("nvmlDeviceGetComputeMode", device, [&] {
    *mode = knows_all(device) ? 3 : 0;
    return success;
  });
}
int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
  return answered("nvmlDeviceGetMigMode", device, [&] {
    *current = *pending = 1;
    return knows_all(device) ? success : not_supported;
  });
}
int nvmlDeviceGetClockInfo(void* device, int type, unsigned* megahertz) {
  return answered("nvmlDeviceGetClockInfo", device, [&] {
    *megahertz = 1980;
    return knows_all(device) && type == 1 ? success : not_supported;
  });
}
int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* celsius) {
  return answered("nvmlDeviceGetTemperature", device, [&] {
    *celsius = 41;
    return knows_all(device) && sensor == 0 ? success : not_supported;
  });
}
int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* reasons) {
  return answered("nvmlDeviceGetCurrentClocksEventReasons", device, [&] {
    *reasons = 0x4;
    return knows_all(device) ? success : not_supported;
  });
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, Process* list) {
  return answered("nvmlDeviceGetComputeRunningProcesses", device, [&] {
    constexpr unsigned all = 41;
    if (!knows_all(device)) return not_supported;
    const unsigned room = *count;
    *count = all;
    if (room < all) return insufficient_size;
    for (unsigned i = 0; i < all; ++i) list[i] = {i == 7 ? static_cast<unsigned>(getpid()) : 4'000'000 + i, 1, {}};
    return success;
  });
}
}

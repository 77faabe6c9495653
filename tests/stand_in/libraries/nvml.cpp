// An NVML for the tests, with two GPUs: the stand-in's, which answers everything and has 40 other processes on it, and
// one that knows little. nvml.h is not part of every toolkit: the types are those of devices/cuda/nvml.cpp.
//
// By the stand-in's real clock (docs/use/stand_in.md) the first GPU says what the device does at that moment, and has
// the counters that go on: energy, and how long its clock was held down for each reason. Numbers of fields and policies
// are those of NVIDIA's "NVML API Reference Guide": "Field Value Enums" and "nvmlPerfPolicyType_t".
#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "calls.hpp"
#include "simulator/stand_in/gpu_state.hpp"

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

using convladder::stand_in::GpuState;

/// nvmlFieldValue_t.
struct Field {
  unsigned field;
  unsigned scope;
  long long timestamp;
  long long latency_us;
  int type;
  int status;
  unsigned long long value;
};
constexpr int unsigned_long_long = 3;  // nvmlValueType_t

/// nvmlViolationTime_t.
struct ViolationTime {
  unsigned long long reference_us;
  unsigned long long violation_ns;
};

/// Numbers of bits of nvmlClocksEventReasons.
enum Reason { software_power_cap = 2, sync_boost = 4, software_thermal = 5, hardware_thermal = 6, power_brake = 7 };

/// Whether there is a real clock, and what the device does by it now.
bool asked(GpuState& state) {
  static const auto ask =
      reinterpret_cast<convladder::stand_in::AskGpuState>(dlsym(RTLD_DEFAULT, convladder::stand_in::kGpuState));
  return ask != nullptr && ask(&state) != 0;
}

bool is_missing(const char* function) {
  static const auto ask =
      reinterpret_cast<convladder::stand_in::AskNvmlLacks>(dlsym(RTLD_DEFAULT, convladder::stand_in::kNvmlLacks));
  return ask != nullptr && ask(function) != 0;
}

/// What the field of a cumulative counter has; false for other fields.
bool reason_time(unsigned field, const GpuState& state, unsigned long long& ns) {
  switch (field) {
    case 74:  // NVML_FI_DEV_PERF_POLICY_POWER, NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP
      ns = state.reason_ns[software_power_cap];
      return true;
    case 75:   // NVML_FI_DEV_PERF_POLICY_THERMAL
    case 251:  // NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN
      ns = state.reason_ns[software_thermal];
      return true;
    case 76:  // NVML_FI_DEV_PERF_POLICY_SYNC_BOOST, NVML_FI_DEV_CLOCKS_EVENT_REASON_SYNC_BOOST
      ns = state.reason_ns[sync_boost];
      return true;
    case 252:  // NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN
      ns = state.reason_ns[hardware_thermal];
      return true;
    case 253:  // NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN
      ns = state.reason_ns[power_brake];
      return true;
    default:
      return false;
  }
}

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
    GpuState state;
    *megahertz = asked(state) ? state.mhz : 1980;
    return knows_all(device) && type == 1 ? success : not_supported;
  });
}
int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* celsius) {
  return answered("nvmlDeviceGetTemperature", device, [&] {
    GpuState state;
    *celsius = asked(state) ? state.celsius : 41;
    return knows_all(device) && sensor == 0 ? success : not_supported;
  });
}
int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* reasons) {
  return answered("nvmlDeviceGetCurrentClocksEventReasons", device, [&] {
    GpuState state;
    *reasons = asked(state) ? state.reasons : 0x4;
    return knows_all(device) ? success : not_supported;
  });
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, Process* list) {
  return answered("nvmlDeviceGetComputeRunningProcesses", device, [&] {
    if (!knows_all(device)) return not_supported;
    GpuState state;
    const bool is_real = asked(state);
    const unsigned all = is_real ? 1 + static_cast<unsigned>(state.has_other) : 41;
    const unsigned own = is_real ? 0 : 7;
    const unsigned room = *count;
    *count = all;
    if (room < all) return insufficient_size;
    for (unsigned i = 0; i < all; ++i) {
      list[i] = {i == own ? static_cast<unsigned>(getpid()) : 4'000'000 + i, is_real ? state.other_bytes : 1, {}};
    }
    return success;
  });
}
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  return answered("nvmlDeviceGetTotalEnergyConsumption", device, [&] {
    GpuState state;
    if (!knows_all(device) || !asked(state) || is_missing("nvmlDeviceGetTotalEnergyConsumption")) return not_supported;
    *millijoules = state.energy_mj;
    return success;
  });
}
int nvmlDeviceGetViolationStatus(void* device, int policy, ViolationTime* time) {
  return answered("nvmlDeviceGetViolationStatus", device, [&] {
    GpuState state;
    if (!knows_all(device) || !asked(state) || is_missing("nvmlDeviceGetViolationStatus")) return not_supported;
    // NVML_PERF_POLICY_POWER, THERMAL, SYNC_BOOST, BOARD_LIMIT, LOW_UTILIZATION, RELIABILITY
    const unsigned long long of_policy[] = {state.reason_ns[software_power_cap] + state.reason_ns[power_brake],
                                            state.reason_ns[software_thermal] + state.reason_ns[hardware_thermal],
                                            state.reason_ns[sync_boost],
                                            0,
                                            0,
                                            0};
    if (policy < 0 || policy >= 6) return not_supported;
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    time->reference_us =
        static_cast<unsigned long long>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
    time->violation_ns = of_policy[policy];
    return success;
  });
}
int nvmlDeviceGetFieldValues(void* device, int count, Field* fields) {
  return answered("nvmlDeviceGetFieldValues", device, [&] {
    GpuState state;
    if (!knows_all(device) || !asked(state)) return not_supported;
    for (int i = 0; i < count; ++i) {
      Field& field = fields[i];
      field.timestamp = 0;
      field.latency_us = 0;
      field.type = unsigned_long_long;
      const bool is_there = !is_missing("nvmlDeviceGetFieldValues") && reason_time(field.field, state, field.value);
      field.status = is_there ? success : not_supported;
    }
    return success;
  });
}
}

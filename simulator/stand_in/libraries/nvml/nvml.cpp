// NVML for the simulated GPUs: what their facts and the stand-in's clock say; anything else is "not supported", as it
// is for sensors that a GPU lacks. nvml.h is not part of every toolkit: types and numbers are those of NVIDIA's "NVML
// API Reference Guide".
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <type_traits>

#include "simulator/stand_in/gpu_state.hpp"
#include "simulator/stand_in/libraries/answer.hpp"
#include "simulator/stand_in/visible_device.hpp"

extern "C" int convladder_stand_in_gpu_state(convladder::stand_in::GpuState* state);

namespace convladder::stand_in {
namespace {

enum Return {
  success = 0,
  uninitialized = 1,
  invalid_argument = 2,
  not_supported = 3,
  not_found = 6,
  insufficient_size = 7,
  unknown = 999
};

const char* error_text(int status) {
  switch (status) {
    case success:
      return "Success";
    case uninitialized:
      return "Uninitialized";
    case invalid_argument:
      return "Invalid Argument";
    case not_supported:
      return "Not Supported";
    case not_found:
      return "Not Found";
    case insufficient_size:
      return "Insufficient Size";
    default:
      return "Unknown Error";
  }
}

const char* status_name(int status) {
  switch (status) {
    case uninitialized:
      return "NVML_ERROR_UNINITIALIZED";
    case invalid_argument:
      return "NVML_ERROR_INVALID_ARGUMENT";
    case not_supported:
      return "NVML_ERROR_NOT_SUPPORTED";
    case not_found:
      return "NVML_ERROR_NOT_FOUND";
    case insufficient_size:
      return "NVML_ERROR_INSUFFICIENT_SIZE";
    default:
      return "NVML_ERROR_UNKNOWN";
  }
}

}  // namespace

/// Its answers lead to no result of a program's: only what goes wrong within counts as a failure.
const LibraryInfo kNvml = {.name = "NVML",
                           .status_name = status_name,
                           .not_supported = not_supported,
                           .failed = unknown,
                           .is_failure = [](int status) { return status == unknown; },
                           .needs_context = false};

int refuse_nvml_call(const char* function) noexcept { return library_machine().refuse(kNvml, function); }

namespace {

std::atomic<int> initialized = 0;
/// The address of an element is the handle of a GPU.
std::array<char, kMostGpus> handles = {};

void* handle_of(int gpu) { return &handles.at(static_cast<std::size_t>(gpu)); }

void require(bool holds, Return status = invalid_argument) {
  if (!holds) throw Refused(status);
}

/// Runs `work(call)`.
template <typename Work>
int answer(const char* name, const Work& work) noexcept {
  return answer_call<int>(kNvml, name, [&](LibraryCall& call) {
    require(initialized > 0, uninitialized);
    work(call);
  });
}
/// Runs `work(gpu, its number)` for the GPU of a handle.
template <typename Work>
int of_device(const char* name, const void* device, const Work& work) noexcept {
  return answer(name, [&](const LibraryCall& call) {
    int number = 0;
    while (number < call.gpus() && handle_of(number) != device) ++number;
    require(number < call.gpus());
    const SeenGpu gpu = call.gpu(number);
    if constexpr (std::is_invocable_v<Work, const SeenGpu&, int>) {
      work(gpu, number);
    } else {
      work(gpu);
    }
  });
}
/// Gives the handle of the one GPU for which `is_wanted(gpu)` holds.
template <typename IsWanted>
void give_handle(const LibraryCall& call, void** device, const IsWanted& is_wanted) {
  require(device != nullptr);
  int number = 0;
  while (number < call.gpus() && !is_wanted(call.gpu(number))) ++number;
  require(number < call.gpus(), not_found);
  *device = handle_of(number);
}

template <typename T, typename Value>
void give(T* place, const Value& value) {
  require(place != nullptr);
  *place = static_cast<T>(value);
}
void give_text(const std::string& text, char* to, unsigned bytes) {
  require(to != nullptr);
  require(text.size() < bytes, insufficient_size);
  std::memcpy(to, text.c_str(), text.size() + 1);
}

/// The device at this moment, where its clock is real; otherwise nobody knows.
GpuState state_now() {
  GpuState state;
  require(convladder_stand_in_gpu_state(&state) != 0, not_supported);
  return state;
}

enum class Clock { graphics = 0, multiprocessors = 1, memory = 2, video = 3 };  // nvmlClockType_t

unsigned highest(const SeenGpu& gpu, int type) {
  require(type >= 0 && type <= static_cast<int>(Clock::video));
  require(type != static_cast<int>(Clock::video), not_supported);
  return type == static_cast<int>(Clock::memory) ? gpu.memory_clock_mhz : gpu.clock_mhz;
}
unsigned now(const SeenGpu& gpu, int type) {
  const unsigned most = highest(gpu, type);
  GpuState state;
  const bool is_real = type != static_cast<int>(Clock::memory) && convladder_stand_in_gpu_state(&state) != 0;
  return is_real ? state.mhz : most;  // predictions are for a clock that nothing holds down
}

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
struct MemoryV2 {
  unsigned version;
  unsigned long long total;
  unsigned long long reserved;
  unsigned long long free;
  unsigned long long used;
};
struct PciInfo {
  char legacy_bus_id[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned device_id;
  unsigned subsystem_id;
  char bus_id[32];
};
struct FieldValue {
  unsigned field;
  unsigned scope;
  long long timestamp;
  long long latency;
  int type;
  int status;  ///< of this field
  unsigned long long value;
};
struct ProcessV1 {
  unsigned process;
  unsigned long long used_bytes;
};
struct Process {
  unsigned process;
  unsigned long long used_bytes;
  unsigned gpu_instance = ~0U;  // none
  unsigned compute_instance = ~0U;
};

void fill(const SeenGpu& gpu, int number, PciInfo* info) {
  require(info != nullptr);
  *info = {};
  info->bus = static_cast<unsigned>(bus_of(number));
  std::memcpy(info->legacy_bus_id, gpu.bus_id.c_str(), gpu.bus_id.size() + 1);
  const std::string full = "0000" + gpu.bus_id;  // the domain has eight digits
  std::memcpy(info->bus_id, full.c_str(), full.size() + 1);
}

/// This process, which is the only one that the device is seen by.
template <typename One>
void give_processes(const SeenGpu& gpu, unsigned* count, One* list) {
  require(count != nullptr);
  const unsigned room = *count;
  *count = 1;
  require(room >= 1 && list != nullptr, insufficient_size);
  One one{};
  one.process = static_cast<unsigned>(getpid());
  one.used_bytes = gpu.memory_bytes - gpu.free_bytes;
  *list = one;
}

}  // namespace
}  // namespace convladder::stand_in

using namespace convladder::stand_in;

extern "C" {

const char* nvmlErrorString(int status) { return error_text(status); }

int nvmlInit_v2() {
  ++initialized;
  return answer("nvmlInit", [](const LibraryCall&) {});
}
int nvmlInit() { return nvmlInit_v2(); }
int nvmlInitWithFlags(unsigned /*flags*/) { return nvmlInit_v2(); }
int nvmlShutdown() {
  return answer("nvmlShutdown", [](const LibraryCall&) { --initialized; });
}

int nvmlSystemGetDriverVersion(char* text, unsigned bytes) {
  // NVIDIA's driver of each CUDA release; 580 is that of 13.0.
  return answer("nvmlSystemGetDriverVersion", [&](const LibraryCall& call) {
    struct Release {
      int cuda;
      const char* driver;
    };
    constexpr Release kReleases[] = {{13000, "580.65.06"}, {12090, "575.51.03"}, {12080, "570.86.10"},
                                     {12060, "560.28.03"}, {12040, "550.54.14"}, {12020, "535.54.03"},
                                     {12000, "525.60.13"}, {11080, "520.61.05"}, {0, "450.36.06"}};
    const Release* release = kReleases;
    while (release->cuda > call.gpu(0).driver_version) ++release;
    give_text(release->driver, text, bytes);
  });
}
int nvmlSystemGetNVMLVersion(char* text, unsigned bytes) {
  return answer("nvmlSystemGetNVMLVersion", [&](const LibraryCall&) { give_text("13.580.65.06", text, bytes); });
}
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return answer("nvmlSystemGetCudaDriverVersion",
                [&](const LibraryCall& call) { give(version, call.gpu(0).driver_version); });
}
int nvmlSystemGetCudaDriverVersion(int* version) { return nvmlSystemGetCudaDriverVersion_v2(version); }

int nvmlDeviceGetCount_v2(unsigned* count) {
  return answer("nvmlDeviceGetCount", [&](const LibraryCall& call) { give(count, call.gpus()); });
}
int nvmlDeviceGetCount(unsigned* count) { return nvmlDeviceGetCount_v2(count); }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  return answer("nvmlDeviceGetHandleByIndex", [&](const LibraryCall& call) {
    require(index < static_cast<unsigned>(call.gpus()) && device != nullptr);
    *device = handle_of(static_cast<int>(index));
  });
}
int nvmlDeviceGetHandleByIndex(unsigned index, void** device) { return nvmlDeviceGetHandleByIndex_v2(index, device); }
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  return answer("nvmlDeviceGetHandleByUUID", [&](const LibraryCall& call) {
    require(uuid != nullptr);
    give_handle(call, device, [&](const SeenGpu& gpu) { return gpu.uuid == uuid; });
  });
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
  return answer("nvmlDeviceGetHandleByPciBusId", [&](const LibraryCall& call) {
    require(bus_id != nullptr);
    give_handle(call, device, [&, wanted = std::string_view(bus_id)](const SeenGpu& gpu) {
      // With four or eight digits of the domain, or none.
      return wanted == gpu.bus_id || wanted == "0000" + gpu.bus_id || wanted == gpu.bus_id.substr(5);
    });
  });
}
int nvmlDeviceGetHandleByPciBusId(const char* bus_id, void** device) {
  return nvmlDeviceGetHandleByPciBusId_v2(bus_id, device);
}

int nvmlDeviceGetName(void* device, char* text, unsigned bytes) {
  return of_device("nvmlDeviceGetName", device, [&](const SeenGpu& gpu) { give_text(gpu.title, text, bytes); });
}
int nvmlDeviceGetUUID(void* device, char* text, unsigned bytes) {
  return of_device("nvmlDeviceGetUUID", device, [&](const SeenGpu& gpu) { give_text(gpu.uuid, text, bytes); });
}
int nvmlDeviceGetIndex(void* device, unsigned* index) {
  return of_device("nvmlDeviceGetIndex", device, [&](const SeenGpu&, int number) { give(index, number); });
}
int nvmlDeviceGetMinorNumber(void* device, unsigned* number) {
  return of_device("nvmlDeviceGetMinorNumber", device, [&](const SeenGpu&, int gpu) { give(number, gpu); });
}
int nvmlDeviceGetPciInfo_v3(void* device, PciInfo* info) {
  return of_device("nvmlDeviceGetPciInfo", device, [&](const SeenGpu& gpu, int number) { fill(gpu, number, info); });
}
int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  return of_device("nvmlDeviceGetMemoryInfo", device, [&](const SeenGpu& gpu) {
    give(memory, Memory{gpu.memory_bytes, gpu.free_bytes, gpu.memory_bytes - gpu.free_bytes});
  });
}
int nvmlDeviceGetMemoryInfo_v2(void* device, MemoryV2* memory) {
  return of_device("nvmlDeviceGetMemoryInfo", device, [&](const SeenGpu& gpu) {
    require(memory != nullptr && memory->version == (sizeof(MemoryV2) | 2U << 24U));
    *memory = {memory->version, gpu.memory_bytes, 0, gpu.free_bytes, gpu.memory_bytes - gpu.free_bytes};
  });
}
int nvmlDeviceGetMemoryBusWidth(void* device, unsigned* bits) {
  return of_device("nvmlDeviceGetMemoryBusWidth", device, [&](const SeenGpu& gpu) { give(bits, gpu.bus_bits); });
}
int nvmlDeviceGetClockInfo(void* device, int type, unsigned* mhz) {
  return of_device("nvmlDeviceGetClockInfo", device, [&](const SeenGpu& gpu) { give(mhz, now(gpu, type)); });
}
int nvmlDeviceGetMaxClockInfo(void* device, int type, unsigned* mhz) {
  return of_device("nvmlDeviceGetMaxClockInfo", device, [&](const SeenGpu& gpu) { give(mhz, highest(gpu, type)); });
}
int nvmlDeviceGetApplicationsClock(void* device, int type, unsigned* mhz) {
  return of_device("nvmlDeviceGetApplicationsClock", device,
                   [&](const SeenGpu& gpu) { give(mhz, highest(gpu, type)); });
}
int nvmlDeviceGetDefaultApplicationsClock(void* device, int type, unsigned* mhz) {
  return of_device("nvmlDeviceGetDefaultApplicationsClock", device,
                   [&](const SeenGpu& gpu) { give(mhz, highest(gpu, type)); });
}
int nvmlDeviceGetCudaComputeCapability(void* device, int* major, int* minor) {
  return of_device("nvmlDeviceGetCudaComputeCapability", device, [&](const SeenGpu& gpu) {
    give(major, gpu.architecture / 10);
    give(minor, gpu.architecture % 10);
  });
}
int nvmlDeviceGetArchitecture(void* device, unsigned* architecture) {
  return of_device("nvmlDeviceGetArchitecture", device, [&](const SeenGpu& gpu) {
    constexpr std::pair<int, unsigned> kNumbers[] = {{90, 9}, {89, 8}, {80, 7}, {75, 6},
                                                     {70, 5}, {60, 4}, {50, 3}, {0, 2}};
    require(gpu.architecture < 100, not_supported);
    const auto* number = kNumbers;
    while (number->first > gpu.architecture) ++number;
    give(architecture, number->second);
  });
}
int nvmlDeviceGetNumGpuCores(void* device, unsigned* cores) {
  return of_device("nvmlDeviceGetNumGpuCores", device, [&](const SeenGpu& gpu) { give(cores, gpu.cores); });
}
int nvmlDeviceGetComputeMode(void* device, int* mode) {
  return of_device("nvmlDeviceGetComputeMode", device, [&](const SeenGpu&) { give(mode, 0); });
}
int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
  return of_device("nvmlDeviceGetMigMode", device, [&](const SeenGpu&) {
    give(current, 0);
    give(pending, 0);
  });
}
int nvmlDeviceGetCurrPcieLinkGeneration(void* device, unsigned* generation) {
  return of_device("nvmlDeviceGetCurrPcieLinkGeneration", device, [&](const SeenGpu& gpu) {
    // NVIDIA's data sheets: Hopper and newer 5, Ampere and Ada 4, older ones 3.
    give(generation, gpu.architecture >= 90 ? 5 : gpu.architecture >= 80 ? 4 : 3);
  });
}
int nvmlDeviceGetCurrPcieLinkWidth(void* device, unsigned* lanes) {
  return of_device("nvmlDeviceGetCurrPcieLinkWidth", device, [&](const SeenGpu&) { give(lanes, 16); });
}
int nvmlDeviceGetFieldValues(void* device, int count, FieldValue* values) {
  return of_device("nvmlDeviceGetFieldValues", device, [&](const SeenGpu&) {
    require(count > 0 && values != nullptr);
    // Counters of links and errors; the call succeeds, and each field says that this GPU has none.
    for (int i = 0; i < count; ++i) values[i].status = not_supported;
  });
}
int nvmlDeviceGetPersistenceMode(void* device, int* mode) {
  return of_device("nvmlDeviceGetPersistenceMode", device, [&](const SeenGpu&) { give(mode, 1); });
}
int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* celsius) {
  return of_device("nvmlDeviceGetTemperature", device, [&](const SeenGpu&) {
    require(sensor == 0);
    give(celsius, state_now().celsius);
  });
}
int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* reasons) {
  return of_device("nvmlDeviceGetCurrentClocksEventReasons", device,
                   [&](const SeenGpu&) { give(reasons, state_now().reasons); });
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  return nvmlDeviceGetCurrentClocksEventReasons(device, reasons);
}
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  return of_device("nvmlDeviceGetTotalEnergyConsumption", device,
                   [&](const SeenGpu&) { give(millijoules, state_now().energy_mj); });
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, Process* list) {
  return of_device("nvmlDeviceGetComputeRunningProcesses", device,
                   [&](const SeenGpu& gpu) { give_processes(gpu, count, list); });
}
int nvmlDeviceGetComputeRunningProcesses_v2(void* device, unsigned* count, Process* list) {
  return nvmlDeviceGetComputeRunningProcesses_v3(device, count, list);
}
int nvmlDeviceGetComputeRunningProcesses(void* device, unsigned* count, ProcessV1* list) {
  return of_device("nvmlDeviceGetComputeRunningProcesses", device,
                   [&](const SeenGpu& gpu) { give_processes(gpu, count, list); });
}

}  // extern "C"

#include "devices/cuda/nvml.hpp"

#include <dlfcn.h>

#include <array>
#include <string_view>
#include <utility>

namespace convladder {
namespace {

// nvml.h is not part of every toolkit. These few declarations follow NVIDIA's "NVML API Reference Guide":
// nvmlReturn_t is an enum whose 0 is NVML_SUCCESS, nvmlDevice_t a pointer to an opaque struct.
using Return = int;
using Handle = void*;
constexpr Return success = 0;
constexpr int clock_sm = 1;         // nvmlClockType_t NVML_CLOCK_SM
constexpr int temperature_gpu = 0;  // nvmlTemperatureSensors_t NVML_TEMPERATURE_GPU

}  // namespace

struct NvmlDevice::Library {
  Return (*init)() = nullptr;
  Return (*shutdown)() = nullptr;
  Return (*device_by_pci_bus_id)(const char* bus_id, Handle* device) = nullptr;
  Return (*clock_info)(Handle device, int type, unsigned* megahertz) = nullptr;
  Return (*temperature)(Handle device, int sensor, unsigned* celsius) = nullptr;
  Return (*throttle_reasons)(Handle device, unsigned long long* reasons) = nullptr;
  bool initialised = false;

  Library() {
    // Part of the driver, so it is either there under this name or there is no driver. Never closed: other code of the
    // process may use it too.
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    const auto load = [library](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    };
    load(init, "nvmlInit_v2");
    load(shutdown, "nvmlShutdown");
    load(device_by_pci_bus_id, "nvmlDeviceGetHandleByPciBusId_v2");
    load(clock_info, "nvmlDeviceGetClockInfo");
    load(temperature, "nvmlDeviceGetTemperature");
    // The newer name of the same call; drivers before 535 only have the older one.
    load(throttle_reasons, "nvmlDeviceGetCurrentClocksEventReasons");
    if (throttle_reasons == nullptr) load(throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    initialised = init != nullptr && shutdown != nullptr && device_by_pci_bus_id != nullptr && init() == success;
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (initialised) shutdown();
  }
};

NvmlDevice::NvmlDevice(const std::string& pci_bus_id) {
  auto library = std::make_shared<const Library>();
  if (!library->initialised || library->device_by_pci_bus_id(pci_bus_id.c_str(), &device_) != success) return;
  library_ = std::move(library);
}

DeviceState NvmlDevice::state() const {
  DeviceState state;
  if (library_ == nullptr) return state;
  unsigned value = 0;
  if (library_->clock_info != nullptr && library_->clock_info(device_, clock_sm, &value) == success) {
    state.clock_mhz = value;
  }
  if (library_->temperature != nullptr && library_->temperature(device_, temperature_gpu, &value) == success) {
    state.temperature_celsius = value;
  }
  unsigned long long reasons = 0;
  if (library_->throttle_reasons != nullptr && library_->throttle_reasons(device_, &reasons) == success) {
    state.throttle_reasons = throttle_reason_names(reasons);
  }
  return state;
}

std::vector<std::string> throttle_reason_names(unsigned long long reasons) {
  // nvmlClocksEventReasons; bit 0, "GPU idle", holds the clock down because there is nothing to do.
  static constexpr std::array<std::pair<unsigned long long, std::string_view>, 8> names = {{
      {0x002, "applications clocks setting"},
      {0x004, "software power cap"},
      {0x008, "hardware slowdown"},
      {0x010, "sync boost"},
      {0x020, "software thermal slowdown"},
      {0x040, "hardware thermal slowdown"},
      {0x080, "hardware power brake slowdown"},
      {0x100, "display clock setting"},
  }};
  std::vector<std::string> present;
  for (const auto& [bit, name] : names) {
    if ((reasons & bit) != 0) present.emplace_back(name);
  }
  return present;
}

}  // namespace convladder

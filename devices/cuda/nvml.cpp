#include "devices/cuda/nvml.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <sstream>
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
constexpr Return insufficient_size = 7;
constexpr unsigned text_bytes = 96;  // NVML_DEVICE_UUID_V2_BUFFER_SIZE, and more than a driver's version

std::string_view compute_mode_name(int mode) {
  static constexpr std::array<std::string_view, 4> names = {"default", "exclusive thread", "prohibited",
                                                            "exclusive process"};
  return mode >= 0 && mode < static_cast<int>(names.size()) ? names[static_cast<std::size_t>(mode)] : "unknown";
}

}  // namespace

struct NvmlDevice::Library {
  /// nvmlProcessInfo_t of nvmlDeviceGetComputeRunningProcesses_v2 and _v3.
  struct ProcessInfo {
    unsigned process = 0;
    unsigned long long memory_bytes = 0;
    unsigned gpu_instance = 0;
    unsigned compute_instance = 0;
  };

  struct Memory {  ///< nvmlMemory_t
    unsigned long long total = 0;
    unsigned long long free = 0;
    unsigned long long used = 0;
  };

  Return (*init)() = nullptr;
  Return (*shutdown)() = nullptr;
  Return (*device_by_pci_bus_id)(const char* bus_id, Handle* device) = nullptr;
  Return (*clock_info)(Handle device, int type, unsigned* megahertz) = nullptr;
  Return (*temperature)(Handle device, int sensor, unsigned* celsius) = nullptr;
  Return (*throttle_reasons)(Handle device, unsigned long long* reasons) = nullptr;
  Return (*driver_version)(char* text, unsigned bytes) = nullptr;
  Return (*uuid)(Handle device, char* text, unsigned bytes) = nullptr;
  Return (*compute_mode)(Handle device, int* mode) = nullptr;
  Return (*mig_mode)(Handle device, unsigned* current, unsigned* pending) = nullptr;
  Return (*power_limit)(Handle device, unsigned* milliwatts) = nullptr;
  Return (*vbios_version)(Handle device, char* text, unsigned bytes) = nullptr;
  Return (*processes)(Handle device, unsigned* count, ProcessInfo* list) = nullptr;
  Return (*memory_info)(Handle device, Memory* memory) = nullptr;
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
    load(driver_version, "nvmlSystemGetDriverVersion");
    load(uuid, "nvmlDeviceGetUUID");
    load(compute_mode, "nvmlDeviceGetComputeMode");
    load(mig_mode, "nvmlDeviceGetMigMode");
    load(power_limit, "nvmlDeviceGetEnforcedPowerLimit");
    load(vbios_version, "nvmlDeviceGetVbiosVersion");
    load(processes, "nvmlDeviceGetComputeRunningProcesses_v3");
    if (processes == nullptr) load(processes, "nvmlDeviceGetComputeRunningProcesses_v2");
    load(memory_info, "nvmlDeviceGetMemoryInfo");
    initialised = init != nullptr && shutdown != nullptr && device_by_pci_bus_id != nullptr && init() == success;
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (initialised) shutdown();
  }

  std::string driver() const {
    std::array<char, text_bytes> text{};
    return initialised && driver_version != nullptr && driver_version(text.data(), text_bytes) == success ? text.data()
                                                                                                          : "";
  }

  /// Processes with a context on the device, this one left out; none where NVML does not say.
  std::optional<std::size_t> other_processes(Handle device) const {
    std::vector<ProcessInfo> list(16);
    while (processes != nullptr) {
      auto count = static_cast<unsigned>(list.size());
      const Return status = processes(device, &count, list.data());
      if (status == insufficient_size && list.size() < 4096) {  // the count is what there is now: one more may come
        list.resize(2 * std::max<std::size_t>(count, list.size()));
        continue;
      }
      if (status != success || count > list.size()) break;
      const auto own = static_cast<unsigned>(getpid());
      return static_cast<std::size_t>(std::count_if(list.begin(), list.begin() + count,
                                                    [own](const ProcessInfo& one) { return one.process != own; }));
    }
    return std::nullopt;
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

std::vector<DeviceFact> NvmlDevice::facts() const {
  std::vector<DeviceFact> facts;
  if (library_ == nullptr) return facts;
  if (const std::string driver = library_->driver(); !driver.empty()) facts.push_back({"driver", driver});
  std::array<char, text_bytes> uuid{};
  if (library_->uuid != nullptr && library_->uuid(device_, uuid.data(), text_bytes) == success) {
    facts.push_back({"UUID", uuid.data()});
  }
  int mode = 0;
  if (library_->compute_mode != nullptr && library_->compute_mode(device_, &mode) == success) {
    facts.push_back({"compute mode", std::string(compute_mode_name(mode))});
  }
  unsigned current = 0;
  unsigned pending = 0;
  // GPUs without it answer that it is not supported.
  if (library_->mig_mode != nullptr && library_->mig_mode(device_, &current, &pending) == success) {
    facts.push_back({"MIG mode", current != 0 ? "on" : "off"});
  }
  unsigned milliwatts = 0;
  if (library_->power_limit != nullptr && library_->power_limit(device_, &milliwatts) == success) {
    facts.push_back({"power limit W", std::to_string(milliwatts / 1000)});
  }
  std::array<char, text_bytes> vbios{};
  if (library_->vbios_version != nullptr && library_->vbios_version(device_, vbios.data(), text_bytes) == success) {
    facts.push_back({"VBIOS", vbios.data()});
  }
  if (const auto others = library_->other_processes(device_)) {
    facts.push_back({"other processes on it", std::to_string(*others)});
  }
  return facts;
}

std::optional<double> NvmlDevice::free_memory_bytes() const {
  Library::Memory memory;
  if (library_ == nullptr || library_->memory_info == nullptr) return std::nullopt;
  if (library_->memory_info(device_, &memory) != success) return std::nullopt;
  return static_cast<double>(memory.free);
}

std::string nvml_driver_version() {
  if (std::string version = NvmlDevice::Library().driver(); !version.empty()) return version;
  std::ifstream file("/proc/driver/nvidia/version");
  return driver_version_in(std::string(std::istreambuf_iterator<char>(file), {}));
}

std::string driver_version_in(std::string_view text) {
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 …": the first word of digits and dots.
  std::istringstream words{std::string(text.substr(0, text.find('\n')))};
  for (std::string word; words >> word;) {
    if (word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos) return word;
  }
  return {};
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

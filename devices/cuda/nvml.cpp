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
constexpr int temperature_gpu = 0;  // nvmlTemperatureSensors_t NVML_TEMPERATURE_GPU
constexpr Return insufficient_size = 7;
// NVML_FI_DEV_CLOCKS_EVENT_REASON_…, in nanoseconds. "Sync boost" and the low clocks of an idle GPU are left out: the
// first needs several GPUs, the second is no fault.
constexpr std::array<std::pair<unsigned, std::string_view>, 4> kHeldFields = {{
    {74, "software power cap"},
    {251, "software thermal slowdown"},
    {252, "hardware thermal slowdown"},
    {253, "hardware power brake slowdown"},
}};

// nvmlPerfPolicyType_t, for drivers without these fields.
constexpr std::array<std::pair<int, std::string_view>, 4> kViolations = {{
    {0, "power cap"},
    {1, "thermal slowdown"},
    {3, "board limit"},
    {5, "reliability"},
}};

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

  /// nvmlFieldValue_t: a number that is asked for, and its answer.
  struct FieldValue {
    unsigned field = 0;
    unsigned scope = 0;
    long long timestamp_us = 0;
    long long latency_us = 0;
    int value_type = 0;  // nvmlValueType_t
    Return status = 0;
    union {
      double of_double;
      unsigned of_unsigned;
      unsigned long of_unsigned_long;
      unsigned long long of_unsigned_long_long;
      long long of_long_long;
    } value{};
  };
  static_assert(sizeof(FieldValue) == 40);
  /// nvmlViolationTime_t
  struct ViolationTime {
    unsigned long long reference_us = 0;
    unsigned long long violation_ns = 0;
  };
  struct Memory {  ///< nvmlMemory_t
    unsigned long long total = 0;
    unsigned long long free = 0;
    unsigned long long used = 0;
  };

  Return (*init)() = nullptr;
  Return (*shutdown)() = nullptr;
  Return (*device_by_pci_bus_id)(const char* bus_id, Handle* device) = nullptr;
  Return (*temperature)(Handle device, int sensor, unsigned* celsius) = nullptr;
  Return (*field_values)(Handle device, int count, FieldValue* values) = nullptr;
  Return (*violation_status)(Handle device, int policy, ViolationTime* time) = nullptr;
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
    load(temperature, "nvmlDeviceGetTemperature");
    load(field_values, "nvmlDeviceGetFieldValues");
    load(violation_status, "nvmlDeviceGetViolationStatus");
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

  /// The number in a field; none for types that no counter has.
  static std::optional<double> number_of(const FieldValue& field) {
    switch (field.value_type) {
      case 0:
        return field.value.of_double;
      case 1:
        return field.value.of_unsigned;
      case 2:
        return static_cast<double>(field.value.of_unsigned_long);
      case 3:
        return static_cast<double>(field.value.of_unsigned_long_long);
      case 4:
        return static_cast<double>(field.value.of_long_long);
      default:
        return std::nullopt;
    }
  }

  /// How long the clock was held down since the driver was loaded, by reason. Empty where neither kind of counter is
  /// known.
  std::vector<std::pair<std::string, double>> held_ns(Handle device) const {
    std::vector<std::pair<std::string, double>> held;
    std::array<FieldValue, kHeldFields.size()> fields;
    for (std::size_t i = 0; i < fields.size(); ++i) fields[i].field = kHeldFields[i].first;
    if (field_values != nullptr && field_values(device, static_cast<int>(fields.size()), fields.data()) == success) {
      for (std::size_t i = 0; i < fields.size(); ++i) {
        const std::optional<double> ns = number_of(fields[i]);
        if (fields[i].status == success && ns) held.emplace_back(kHeldFields[i].second, *ns);
      }
    }
    if (!held.empty() || violation_status == nullptr) return held;
    for (const auto& [policy, name] : kViolations) {
      ViolationTime time;
      if (violation_status(device, policy, &time) == success) {
        held.emplace_back(name, static_cast<double>(time.violation_ns));
      }
    }
    return held;
  }

  /// The number of processes with a context on the device, except this one; none where NVML does not say.
  std::optional<std::size_t> other_processes(Handle device) const {
    std::vector<ProcessInfo> list(16);
    while (processes != nullptr) {
      auto count = static_cast<unsigned>(list.size());
      const Return status = processes(device, &count, list.data());
      if (status == insufficient_size && list.size() < 4096) {  // the count is of this moment: one more may come
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
  unsigned celsius = 0;
  if (library_->temperature != nullptr && library_->temperature(device_, temperature_gpu, &celsius) == success) {
    state.temperature_celsius = celsius;
  }
  state.held_ns = library_->held_ns(device_);
  unsigned long long reasons = 0;
  if (state.held_ns.empty() && library_->throttle_reasons != nullptr &&
      library_->throttle_reasons(device_, &reasons) == success) {
    state.held_now = throttle_reason_names(reasons);
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
  // GPUs without MIG answer that it is not supported.
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
  if (const auto others = other_processes()) {
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

std::optional<std::size_t> NvmlDevice::other_processes() const {
  return library_ == nullptr ? std::nullopt : library_->other_processes(device_);
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

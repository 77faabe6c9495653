// The temperature of a GPU and the reasons that hold its clock down, from the driver's management library, read only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "devices/device.hpp"
#include "devices/device_registry.hpp"

namespace convladder {

/// A GPU as NVML knows it. Without the library, or for a GPU it does not know, `state` is empty.
class NvmlDevice {
 public:
  NvmlDevice() = default;
  /// The GPU with that PCI bus id, "0000:3b:00.0": CUDA and NVML may number GPUs differently.
  explicit NvmlDevice(const std::string& pci_bus_id);

  /// The device's state, by two queries that may each take milliseconds.
  DeviceState state() const;

  /// NVML's description of the GPU's setup and other users: "UUID", "driver", "compute mode", "MIG mode", "power limit
  /// W", "VBIOS", "other processes on it". Facts that it does not give are left out.
  std::vector<DeviceFact> facts() const;

  /// The GPU's memory that no process has, found without a context on it. None where NVML does not say.
  std::optional<double> free_memory_bytes() const;
  /// How many processes compute on the GPU now, this one aside. None where NVML does not say.
  std::optional<std::size_t> other_processes() const;

  struct Library;

 private:
  std::shared_ptr<const Library> library_;
  void* device_ = nullptr;
};

/// The driver's version, "550.54.14"; empty without NVML and /proc/driver/nvidia.
std::string nvml_driver_version();

/// The version in /proc/driver/nvidia/version's text; empty if there is none.
std::string driver_version_in(std::string_view text);

/// NVML's bit mask of reasons why clocks are held down, as words; an idle GPU has none.
std::vector<std::string> throttle_reason_names(unsigned long long reasons);

}  // namespace convladder

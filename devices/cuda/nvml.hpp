// Clock, temperature and throttle reasons of a GPU, from the driver's management library, read only.
#pragma once

#include <memory>
#include <string>

#include "devices/device.hpp"

namespace convladder {

/// A GPU as NVML knows it. Without the library, or for a GPU it does not know, `state` is empty.
class NvmlDevice {
 public:
  NvmlDevice() = default;
  /// The GPU with that PCI bus id, "0000:3b:00.0": CUDA and NVML may number GPUs differently.
  explicit NvmlDevice(const std::string& pci_bus_id);

  DeviceState state() const;

 private:
  struct Library;
  std::shared_ptr<const Library> library_;
  void* device_ = nullptr;
};

/// NVML's bit mask of reasons why clocks are held down, as words; an idle GPU has none.
std::vector<std::string> throttle_reason_names(unsigned long long reasons);

}  // namespace convladder

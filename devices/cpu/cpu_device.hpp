// The host's own cores as a device: memory with guards around it, a steady clock, no kernels to launch.
#pragma once

#include <map>

#include "devices/cpu/guards.hpp"
#include "devices/device.hpp"

namespace convladder {

/// Allocations end at an unreadable page and the bytes between the end and that page are watched, so that a variant
/// that reads past a tensor crashes or reads NaN, and one that writes past it is detected.
class CpuDevice final : public Device {
 public:
  std::size_t free_bytes() const override;
  DeviceBuffer allocate(std::size_t bytes, std::string_view label) override;
  void copy_to_device(void* destination, const void* source, std::size_t bytes) override;
  void copy_to_host(void* destination, const void* source, std::size_t bytes) override;
  bool is_host_memory() const override { return true; }
  void launch(const KernelLaunch& launch) override;
  void wait() override {}
  double time_ns(const std::function<void()>& work) override;
  std::string memory_violation() override;

 private:
  struct Allocation {
    GuardedMemory memory;  // between two pages that nobody can read
    std::string label;
  };
  void free(void* address, std::size_t bytes) noexcept override;
  static std::string violation_around(const Allocation& allocation);

  std::map<void*, Allocation> allocations_;
  std::string violation_;
};

}  // namespace convladder

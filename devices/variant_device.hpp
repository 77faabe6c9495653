// A device as a kernel's author may use it: it gives no access to the harness's counters and limits.
#pragma once

#include "devices/device.hpp"

namespace convladder {

/// Passes allocations, launches and waits on, and copies only during preparation: counted work is done by kernels.
/// Everything else throws DeviceError.
class VariantDevice final : public Device {
 public:
  /// The device must outlive it.
  explicit VariantDevice(Device& device) : device_(device) {}

  /// Allows copies from now on, or forbids them.
  void allow_copies(bool allowed) { copies_allowed_ = allowed; }

  std::size_t free_bytes() const override { return device_.free_bytes(); }
  DeviceBuffer allocate(std::size_t bytes, std::string_view label) override { return device_.allocate(bytes, label); }
  void copy_to_device(void* destination, const void* source, std::size_t bytes) override;
  void copy_to_host(void* destination, const void* source, std::size_t bytes) override;
  void launch(const KernelLaunch& launch) override { device_.launch(launch); }
  void wait() override { device_.wait(); }
  double time_ns(const std::function<void()>& work) override { return device_.time_ns(work); }
  bool has_clock() const override { return device_.has_clock(); }
  bool is_asynchronous() const override { return device_.is_asynchronous(); }
  bool is_host_memory() const override { return device_.is_host_memory(); }
  std::vector<KernelCounters> take_counters() override;
  std::vector<LineCounters> take_lines() override;
  void set_counting(bool counts) override;
  void set_grid_window(std::optional<GridWindow> window) override;
  void set_counted_items(std::optional<GridWindow> items) override;

 private:
  void free(void* address, std::size_t bytes) noexcept override;
  void require_copies() const;

  Device& device_;
  bool copies_allowed_ = true;
};

}  // namespace convladder

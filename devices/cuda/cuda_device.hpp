// A real GPU: the first one the CUDA runtime sees (CUDA_VISIBLE_DEVICES chooses another), on its default stream unless
// another is set.
//
// The kind "cuda" is registered in cuda_device.cpp. A process that opened it must not fork and go on using it in the
// child: a CUDA context does not survive a fork, start a new program instead.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "devices/cuda/nvml.hpp"
#include "devices/cuda/own_kernels.hpp"
#include "devices/device.hpp"
#include "devices/device_filling.hpp"
#include "devices/device_registry.hpp"

namespace convladder {

/// Throws DeviceError, "<call>: cudaErrorInvalidValue (invalid argument)", unless `status` is success.
void require_cuda(cudaError_t status, const std::string& call);

/// Why no GPU can be used, "no CUDA device (…)"; empty if there is a GPU that this build has code for.
std::string cuda_unavailable();

/// Name, compute capability, multiprocessors, memory, L2, versions, clocks; empty where there is no GPU.
std::vector<DeviceFact> cuda_facts();

class CudaDevice final : public Device {
 public:
  /// Opens the first GPU. Throws DeviceError if there is none.
  CudaDevice();
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;
  ~CudaDevice() override;

  std::size_t free_bytes() const override;
  DeviceBuffer allocate(std::size_t bytes, std::string_view label) override;
  void copy_to_device(void* destination, const void* source, std::size_t bytes) override;
  void copy_to_host(void* destination, const void* source, std::size_t bytes) override;
  /// Asks the driver for more than 48 KB of dynamic shared memory where a kernel is first launched with it.
  void launch(const KernelLaunch& launch) override;
  bool is_asynchronous() const override { return true; }
  void wait() override;
  /// The time between two events on the default stream. `launch_nothing` measures what a pair of events adds to a short
  /// kernel.
  double time_ns(const std::function<void()>& work) override;
  std::vector<double> times_ns(std::size_t calls, const std::function<void(std::size_t)>& before,
                               const std::function<void(std::size_t)>& work) override;
  /// Kernels that fill tensors, launched in the current stream.
  DeviceFilling* filling() override { return filling_.get(); }
  bool can_flush_caches() const override { return l2_bytes_ > 0; }
  /// Enqueues reads of more than twice the L2's size. After writes, each line that a timed kernel brings in would first
  /// send a dirty one back to memory. The buffer is allocated by the first call and kept.
  void flush_caches() override;
  /// Makes persisting lines of the L2 normal ones, sets none of it aside, and removes the streams' windows. Without a
  /// persisting share, what a variant sets on streams of its own has no effect.
  void forget_persisting() override;
  /// Recordings are graphs: `work` is captured from the stream that it is told (`native_stream`).
  bool can_record() const override { return true; }
  std::unique_ptr<Recording> record(const std::function<void()>& work) override;
  void launch_nothing() override;
  void* native_stream() const override { return current_stream_; }
  bool can_overlap() const override { return true; }
  PinnedBuffer allocate_pinned(std::size_t bytes, std::string_view label) override;
  PinnedBuffer pin(void* address, std::size_t bytes) override;
  void set_stream(int stream) override;
  void record_event(int event) override;
  void stream_waits_for(int stream, int event) override;
  void copy_to_device_async(void* destination, const void* source, std::size_t bytes) override;
  void copy_to_host_async(void* destination, const void* source, std::size_t bytes) override;
  /// Activities are recorded through CUPTI (cupti_activities.hpp), where it is available.
  bool records_activities() const override;
  std::string why_no_activities() const override;
  void start_activities() override;
  std::vector<Activity> stop_activities() override;
  /// Temperature and the reasons that held the clock down, through NVML; empty without it. Reads only, sets nothing.
  DeviceState state() const override;
  /// Found from the counters of the multiprocessors before and after the timed work; none where the clock is virtual.
  std::optional<double> timed_clock_mhz() override;

 private:
  void free(void* address, std::size_t bytes) noexcept override;
  void require(cudaError_t status, const char* call) const;
  void allow_shared_memory(const KernelLaunch& launch);
  cudaError_t launch_with_attributes(const KernelLaunch& launch);
  void read_clocks_at(std::size_t place);
  cudaStream_t stream(int number);
  cudaEvent_t event(int number);

  int multiprocessors_ = 1;
  std::size_t l2_bytes_ = 0;
  std::size_t shared_bytes_opt_in_ = 0;
  std::map<const void*, std::size_t> allowed_shared_bytes_;  ///< by kernel, where it is more than 48 KB
  std::vector<void*> arguments_;                             ///< of the current launch; kept, so that none allocates
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
  std::vector<std::array<cudaEvent_t, 2>> pairs_;  ///< the events of times_ns, made when used
  std::array<cudaStream_t, kStreams> streams_{};   ///< the first stays null: the default stream; others made when used
  std::array<cudaEvent_t, kEvents> events_{};      ///< made when used
  cudaStream_t current_stream_ = nullptr;
  cudaStream_t recording_stream_ = nullptr;  ///< made when used
  DeviceBuffer flush_buffer_;                ///< zeros
  DeviceBuffer clock_readings_;              ///< before and after what is timed; empty where the clock is virtual
  std::unique_ptr<DeviceFilling> filling_;
  const void* last_kernel_ = nullptr;  ///< launched last: an error that shows at the next wait is most likely its own
  NvmlDevice nvml_;
};

}  // namespace convladder

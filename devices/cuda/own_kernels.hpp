// The device's own kernels. Some measure the device itself: its clock, the time of a launch alone, and one that leaves
// nothing of others in the last-level cache; the others fill and change tensors. All enqueue in a stream and do not
// wait.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

#include "devices/device_filling.hpp"

namespace convladder {

/// Launches a kernel and returns the status of this launch alone. `<<<>>>` and cudaGetLastError would also return an
/// error that a stage's own calls have left there.
template <typename... Parameters>
cudaError_t launch_own(void (*kernel)(Parameters...), unsigned blocks, unsigned threads, cudaStream_t stream,
                       std::type_identity_t<Parameters>... arguments) {
  void* addresses[] = {&arguments..., nullptr};
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(threads), addresses, 0, stream);
}

/// The counters of one multiprocessor at one moment; both 0 where nothing ran on it.
struct ClockReading {
  unsigned long long nanoseconds;  ///< %globaltimer
  unsigned long long cycles;       ///< %clock64
};

/// Multiprocessors with this number (%smid) or a higher one are not read.
inline constexpr unsigned kMostMultiprocessors = 512;

/// Writes into `readings` (kMostMultiprocessors of them, on the device) the counters of each multiprocessor that a
/// block comes to. `multiprocessors` is how many the device has.
cudaError_t read_clocks(ClockReading* readings, int multiprocessors, cudaStream_t stream);

/// Cycles between two readings over the time between them, in MHz: the median of the multiprocessors that have both
/// readings. None if no multiprocessor has, or where the time is too short for the resolution of the timer.
std::optional<double> clock_between(std::span<const ClockReading> begin, std::span<const ClockReading> end);

/// A kernel of one thread that does nothing.
cudaError_t run_nothing(cudaStream_t stream);

/// Reads all of a buffer of `bytes`, a multiple of 16, through the last-level cache.
cudaError_t read_through(const void* buffer, std::size_t bytes, cudaStream_t stream);

/// Fills tensors by kernels in whatever stream `current` is when they are launched; it has to outlive the result.
std::unique_ptr<DeviceFilling> make_cuda_filling(const cudaStream_t& current);

}  // namespace convladder

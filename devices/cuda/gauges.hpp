// Small kernels of the device's own, with which it measures itself: what its clock was, what a launch takes by itself,
// and one that leaves nothing of others in the last-level cache. All enqueue in a stream and do not wait.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <optional>
#include <span>

namespace convladder {

/// What one multiprocessor's counters said at a moment; both 0 where nothing ran on it.
struct ClockReading {
  unsigned long long nanoseconds;  ///< %globaltimer
  unsigned long long cycles;       ///< %clock64
};

/// A multiprocessor's number (%smid) is below this, or it is not read.
inline constexpr unsigned kMostMultiprocessors = 512;

/// Writes into `readings` (kMostMultiprocessors of them, on the device) what the counters of each multiprocessor that a
/// block comes to say. `multiprocessors` is how many the device has.
cudaError_t read_clocks(ClockReading* readings, int multiprocessors, cudaStream_t stream);

/// Cycles between two readings over the time between them, in MHz: the median of the multiprocessors that have both.
/// None without one, or where the time is too short for the resolution of the timer.
std::optional<double> clock_between(std::span<const ClockReading> begin, std::span<const ClockReading> end);

/// A kernel of one thread that does nothing.
cudaError_t run_nothing(cudaStream_t stream);

/// Reads all of a buffer of `bytes`, a multiple of 16, through the last-level cache.
cudaError_t read_through(const void* buffer, std::size_t bytes, cudaStream_t stream);

}  // namespace convladder

// Small kernels with which the device measures itself: its clock, the time of a launch alone, and one that leaves
// nothing of others in the last-level cache. All enqueue in a stream and do not wait.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <optional>
#include <span>

namespace convladder {

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

}  // namespace convladder

#include "devices/cuda/own_kernels.hpp"

#include <algorithm>
#include <vector>

namespace convladder {
namespace {

// A block reads both counters from the multiprocessor that it runs on, and stores them at once, so that they stay a
// pair whichever block of that multiprocessor is last.
__global__ void gauge_clocks(ulonglong2* readings) {
  if (threadIdx.x > 0) return;
  unsigned multiprocessor = 0;
  ulonglong2 reading;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(reading.x));
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(reading.y));
  if (multiprocessor < kMostMultiprocessors) readings[multiprocessor] = reading;
}

__global__ void gauge_nothing() {}

constexpr int kReadThreads = 256;
constexpr int kReadsOfThread = 2;  // reads of 16 bytes each, all threads of a block side by side

// Volatile, so that the compiler does not remove reads whose result nobody uses.
__global__ void __launch_bounds__(kReadThreads) gauge_read(const uint4* from, std::size_t count) {
  const std::size_t first = std::size_t{blockIdx.x} * kReadThreads * kReadsOfThread + threadIdx.x;
#pragma unroll
  for (int i = 0; i < kReadsOfThread; ++i) {
    const std::size_t at = first + i * std::size_t{kReadThreads};
    if (at >= count) return;
    asm volatile("{ .reg .u32 a, b, c, d; ld.volatile.global.v4.u32 {a, b, c, d}, [%0]; }" ::"l"(from + at));
  }
}

constexpr double kShortestNs = 200e3;  // %globaltimer moves in steps of up to 1 us

}  // namespace

cudaError_t read_clocks(ClockReading* readings, int multiprocessors, cudaStream_t stream) {
  static_assert(sizeof(ClockReading) == sizeof(ulonglong2));
  // Two blocks for each multiprocessor suffice: every free multiprocessor takes one.
  return launch_own(gauge_clocks, static_cast<unsigned>(2 * multiprocessors), 32, stream,
                    reinterpret_cast<ulonglong2*>(readings));
}

std::optional<double> clock_between(std::span<const ClockReading> begin, std::span<const ClockReading> end) {
  std::vector<double> megahertz;
  for (std::size_t i = 0; i < std::min(begin.size(), end.size()); ++i) {
    if (begin[i].nanoseconds == 0 || end[i].nanoseconds <= begin[i].nanoseconds) continue;
    const auto ns = static_cast<double>(end[i].nanoseconds - begin[i].nanoseconds);
    const auto cycles = static_cast<double>(end[i].cycles - begin[i].cycles);
    if (ns >= kShortestNs && cycles > 0) megahertz.push_back(cycles / ns * 1e3);
  }
  if (megahertz.empty()) return std::nullopt;
  const auto middle = megahertz.begin() + static_cast<std::ptrdiff_t>(megahertz.size() / 2);
  std::nth_element(megahertz.begin(), middle, megahertz.end());
  return *middle;
}

cudaError_t run_nothing(cudaStream_t stream) { return launch_own(gauge_nothing, 1, 1, stream); }

cudaError_t read_through(const void* buffer, std::size_t bytes, cudaStream_t stream) {
  constexpr std::size_t of_block = std::size_t{kReadThreads} * kReadsOfThread;
  const std::size_t count = bytes / sizeof(uint4);
  return launch_own(gauge_read, static_cast<unsigned>((count + of_block - 1) / of_block), kReadThreads, stream,
                    static_cast<const uint4*>(buffer), count);
}

}  // namespace convladder

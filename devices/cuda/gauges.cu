#include "devices/cuda/gauges.hpp"

#include <algorithm>
#include <vector>

namespace convladder {
namespace {

// Both counters are of the multiprocessor that a block runs on, and one store keeps a pair of them together whichever
// of its blocks is last.
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
constexpr int kReadsAtOnce = 8;  // of 16 bytes, by a thread, that are under way at a time

// The sum is used where it is a number that it never is and no compiler knows.
__global__ void __launch_bounds__(kReadThreads) gauge_read(const uint4* from, std::size_t count, unsigned* never) {
  const std::size_t stride = std::size_t{gridDim.x} * kReadThreads;
  unsigned sum = 0;
  for (std::size_t first = std::size_t{blockIdx.x} * kReadThreads + threadIdx.x; first < count;
       first += kReadsAtOnce * stride) {
#pragma unroll
    for (int i = 0; i < kReadsAtOnce; ++i) {
      const std::size_t at = first + i * stride;
      if (at < count) {
        const uint4 four = __ldcg(from + at);
        sum |= four.x | four.y | four.z | four.w;
      }
    }
  }
  if (sum != 0) *never = sum;
}

constexpr double kShortestNs = 200e3;  // %globaltimer moves in steps of up to 1 us

}  // namespace

cudaError_t read_clocks(ClockReading* readings, int multiprocessors, cudaStream_t stream) {
  static_assert(sizeof(ClockReading) == sizeof(ulonglong2));
  // More blocks than one wave of them would have on each multiprocessor is not needed: what is free takes one.
  gauge_clocks<<<static_cast<unsigned>(2 * multiprocessors), 32, 0, stream>>>(reinterpret_cast<ulonglong2*>(readings));
  return cudaGetLastError();
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

cudaError_t run_nothing(cudaStream_t stream) {
  gauge_nothing<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}

cudaError_t read_through(const void* buffer, std::size_t bytes, int multiprocessors, unsigned* never,
                         cudaStream_t stream) {
  gauge_read<<<static_cast<unsigned>(4 * multiprocessors), kReadThreads, 0, stream>>>(static_cast<const uint4*>(buffer),
                                                                                      bytes / sizeof(uint4), never);
  return cudaGetLastError();
}

}  // namespace convladder

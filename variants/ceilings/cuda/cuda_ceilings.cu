// The ceilings of a GPU: enough threads for any of them, each with a few independent sums or one run of four floats.
#include <algorithm>
#include <memory>

#include "variants/ceilings/ceilings.hpp"

namespace convladder {

constexpr int ceiling_threads = 256;
constexpr int ceiling_sums = 16;  // sums of a thread: a multiply-add has a latency of four cycles

/// s -> s * factor + addend for all sums of a thread, `rounds` times; factor 3/4 and addend 1/4 lead every sum to 1.
/// The result is written where it is negative, which it never is and no compiler knows.
__global__ void __launch_bounds__(ceiling_threads)
    ceiling_multiply_add(float factor, float addend, int rounds, float* result) {
  float sums[ceiling_sums];
#pragma unroll
  for (int i = 0; i < ceiling_sums; ++i) sums[i] = 1.0F + static_cast<float>(threadIdx.x * ceiling_sums + i);
#pragma unroll 16
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < ceiling_sums; ++i) sums[i] = sums[i] * factor + addend;
  }
  float sum = 0.0F;
#pragma unroll
  for (int i = 0; i < ceiling_sums; ++i) sum += sums[i];
  if (sum < 0.0F) result[threadIdx.x] = sum;
}

/// Each thread writes four floats, marked as the first to be evicted from the caches (st.global.cs); `to` holds
/// gridDim.x * blockDim.x * 4 of them.
__global__ void __launch_bounds__(ceiling_threads) ceiling_store(float4* to, float value) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  __stcs(to + i, float4{value, value, value, value});
}

/// Copies `from` to `to`: each thread reads four floats and writes them as `ceiling_store` does.
__global__ void __launch_bounds__(ceiling_threads) ceiling_copy(const float4* from, float4* to) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  __stcs(to + i, from[i]);
}

namespace {

class CudaCeilings final : public CeilingKernels {
 public:
  CudaCeilings(Device& device, std::size_t cache_bytes)
      : device_(device),
        bytes_(ceiling_buffer_bytes(std::max(cache_bytes, fewest_cache_bytes), device.free_bytes(), block_bytes)),
        from_(device.allocate(bytes_, "ceiling source")),
        to_(device.allocate(bytes_, "ceiling destination")) {
    // Memory that was never written may read faster than usual: its pages may not exist yet, or hold only zeros.
    device_.launch(
        make_launch(ceiling_store, grid(), {ceiling_threads, 1, 1}, 0, static_cast<float4*>(from_.address()), 1.0F));
    device_.wait();
  }

  double multiply_add() override {
    constexpr int rounds = 512;
    // 32768, many times as many as run at a time, so that the last ones do not matter; fewer for smaller buffers.
    const auto blocks = static_cast<unsigned>(std::max<std::size_t>(bytes_ >> 13, 1));
    device_.launch(make_launch(ceiling_multiply_add, {blocks, 1, 1}, {ceiling_threads, 1, 1}, 0, 0.75F, 0.25F, rounds,
                               to_.floats()));
    return 2.0 * ceiling_sums * rounds * ceiling_threads * blocks;
  }

  double store() override {
    for (int i = 0; i < launches; ++i) {
      device_.launch(
          make_launch(ceiling_store, grid(), {ceiling_threads, 1, 1}, 0, static_cast<float4*>(to_.address()), 2.0F));
    }
    return launches * static_cast<double>(bytes_);
  }

  double copy() override {
    for (int i = 0; i < launches; ++i) {
      device_.launch(make_launch(ceiling_copy, grid(), {ceiling_threads, 1, 1}, 0,
                                 static_cast<const float4*>(from_.address()), static_cast<float4*>(to_.address())));
    }
    return launches * 2.0 * static_cast<double>(bytes_);
  }

  std::size_t buffer_bytes() const override { return bytes_; }

 private:
  /// Buffers have at least 256 MiB, and several launches are enqueued at a time, so that the few microseconds of a
  /// launch itself are negligible beside the kernels.
  static constexpr std::size_t fewest_cache_bytes = std::size_t{64} << 20;
  static constexpr int launches = 4;
  static constexpr std::size_t block_bytes = ceiling_threads * sizeof(float4);
  Dim3 grid() const { return {static_cast<unsigned>(bytes_ / block_bytes), 1, 1}; }

  Device& device_;
  std::size_t bytes_;
  DeviceBuffer from_;
  DeviceBuffer to_;
};

const CeilingRegistration registration("cuda", [](Device& device, std::size_t cache_bytes) {
  return std::unique_ptr<CeilingKernels>(std::make_unique<CudaCeilings>(device, cache_bytes));
});

}  // namespace
}  // namespace convladder

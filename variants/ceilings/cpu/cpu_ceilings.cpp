// The ceilings of the processor: every thread that the variants use, in the widest instruction set that they choose.
#include <fmt/format.h>
#include <omp.h>

#include <array>
#include <cstdint>

#include "devices/cpu/cpu_facts.hpp"
#include "variants/ceilings/ceilings.hpp"
#include "variants/vector_lanes.hpp"

namespace convladder {
namespace {

/// The number of independent sums: enough to hide the latency of a multiply-add (4 cycles, two a cycle), and few enough
/// for the registers, of which factor and addend take two.
template <typename Set>
constexpr int kSums = Set::lanes == Avx512::lanes ? 24 : 12;

/// As many numbers, all different, so that no compiler merges two sums into one; also the factor and the addend, which
/// the compiler must not know.
struct Chains {
  static constexpr int kStarts = kSums<Avx512> * Avx512::lanes;
  std::array<float, kStarts> starts;
  float factor = 0.75F;  // s -> s * 3/4 + 1/4 goes to 1: no overflow, nothing denormal
  float addend = 0.25F;

  Chains() {
    for (int i = 0; i < kStarts; ++i) starts[i] = 1.0F + static_cast<float>(i) / kStarts;
  }
};

struct MultiplyAdd {
  template <typename Set>
  static void run(const Chains& chains, const std::int64_t& rounds, float* const& result) {
    Vector<Set> sums[kSums<Set>];
    for (int i = 0; i < kSums<Set>; ++i) load_vector(sums[i], chains.starts.data() + i * Set::lanes);
    for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 24
      for (int i = 0; i < kSums<Set>; ++i) sums[i] = sums[i] * chains.factor + chains.addend;
    }
    for (int i = 1; i < kSums<Set>; ++i) sums[0] += sums[i];
    *result = sums[0][0];
  }
};

struct Store {
  template <typename Set>
  static void run(float* const& to, const std::int64_t& count, const float& value) {
    const Vector<Set> values = Vector<Set>{} + value;
    for (std::int64_t i = 0; i < count; i += Set::lanes) stream_vector(to + i, values);
    finish_streams();
  }
};

struct Copy {
  template <typename Set>
  static void run(const float* const& from, float* const& to, const std::int64_t& count) {
    for (std::int64_t i = 0; i < count; i += Set::lanes) {
      Vector<Set> values;
      load_vector(values, from + i);
      stream_vector(to + i, values);
    }
    finish_streams();
  }
};

class CpuCeilings final : public CeilingKernels {
 public:
  CpuCeilings(Device& device, std::size_t cache_bytes)
      : set_(chosen_instruction_set()),
        threads_(cpu_threads()),
        // Each thread gets whole lines.
        bytes_(ceiling_buffer_bytes(cache_bytes, device.free_bytes(), 64 * static_cast<std::size_t>(threads_))),
        from_(device.allocate(bytes_, "ceiling source")),
        to_(device.allocate(bytes_, "ceiling destination")) {}

  double multiply_add() override {
    constexpr std::int64_t kRounds = 1 << 20;  // some 4 ms
    float sum = 0;
#pragma omp parallel num_threads(threads_) reduction(+ : sum)
    run_with<MultiplyAdd>(set_.kind, chains_, kRounds, &sum);
    seen_ = sum;
    const int sums = set_.kind == InstructionSet::Kind::avx512 ? kSums<Avx512>
                     : set_.kind == InstructionSet::Kind::avx2 ? kSums<Avx2>
                                                               : kSums<BaselineLanes>;
    return 2.0 * sums * set_.lanes * static_cast<double>(kRounds) * threads_;
  }

  double store() override {
    on_each_part(
        [&](std::int64_t first, std::int64_t count) { run_with<Store>(set_.kind, to_.floats() + first, count, 1.0F); });
    return static_cast<double>(bytes_);
  }

  double copy() override {
    on_each_part([&](std::int64_t first, std::int64_t count) {
      run_with<Copy>(set_.kind, static_cast<const float*>(from_.floats() + first), to_.floats() + first, count);
    });
    return 2.0 * static_cast<double>(bytes_);
  }

  std::size_t buffer_bytes() const override { return bytes_; }
  std::string choice() const override { return fmt::format("{}, {} threads", set_.name, threads_); }

 private:
  /// Runs `work` on each thread's part of the buffers; the parts lie one after the other.
  template <typename Work>
  void on_each_part(const Work& work) const {
    const std::int64_t count = static_cast<std::int64_t>(bytes_ / sizeof(float)) / threads_;
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (int part = 0; part < threads_; ++part) work(part * count, count);
  }

  InstructionSet set_;
  int threads_;
  std::size_t bytes_;
  DeviceBuffer from_;
  DeviceBuffer to_;
  Chains chains_;
  volatile float seen_ = 0;  ///< keeps the sums from being optimised away
};

const CeilingRegistration registration("cpu", [](Device& device, std::size_t cache_bytes) {
  return std::unique_ptr<CeilingKernels>(std::make_unique<CpuCeilings>(device, cache_bytes));
});

}  // namespace
}  // namespace convladder

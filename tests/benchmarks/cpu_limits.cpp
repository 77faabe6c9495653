// What binds on this processor? Small kernels, each of which reaches one limit: multiply-adds, caches, loads that cross
// lines, stores that look like a load's, streaming stores, the tiles of AMX, and the clock. docs/reference/cpu.md says
// how to read them.
//
//   cmake --build build/release --target cpu_limits && build/release/tests/benchmarks/cpu_limits
//
// Each figure is the best of several short calls, on one thread, and on all threads at once, of which it is the sum. A
// cycle is one of the core's own clock: the time of an addition that waits for the one before.

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "devices/cpu/cpu_device.hpp"
#include "devices/cpu/cpu_facts.hpp"
#include "devices/cpu/tile_unit.hpp"
#include "variants/convolution/cpu/tile_kernel.hpp"
#include "variants/vector_lanes.hpp"

namespace convladder {
namespace {

constexpr int kLineFloats = 16;
constexpr int kCalls = 9;

/// A value that the compiler does not know, and has to have made.
template <typename T>
[[gnu::always_inline]] inline void unknown(T& value) {
  asm volatile("" : "+x"(value));
}

/// Multiply-adds on sums that stay in registers, 12 vectors in a round.
struct MultiplyAdd {
  static constexpr int kSums = 12;
  template <typename Set>
  static void run(const std::int64_t& rounds) {
    Vector<Set> sums[kSums] = {};
    Vector<Set> factor = Vector<Set>{} + 0.75F;
    Vector<Set> addend = Vector<Set>{} + 0.25F;
    unknown(factor);
    unknown(addend);
    for (auto& sum : sums) unknown(sum);  // otherwise all are one
    for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
      for (auto& sum : sums) sum = sum * factor + addend;
    }
    for (auto& sum : sums) unknown(sum);
  }
};

/// Reads so many floats, again and again.
struct Load {
  template <typename Set>
  static void run(const float* const& from, const std::int64_t& floats, const std::int64_t& times) {
    for (std::int64_t time = 0; time < times; ++time) {
      for (std::int64_t i = 0; i < floats; i += std::int64_t{8} * Set::lanes) {
#pragma GCC unroll 8
        for (int v = 0; v < 8; ++v) {
          Vector<Set> x;
          load_vector(x, from + i + v * Set::lanes);
          unknown(x);
        }
      }
    }
  }
};

struct Store {
  template <typename Set>
  static void run(float* const& to, const std::int64_t& floats, const std::int64_t& times) {
    Vector<Set> x = Vector<Set>{} + 1.0F;
    unknown(x);
    for (std::int64_t time = 0; time < times; ++time) {
      for (std::int64_t i = 0; i < floats; i += std::int64_t{8} * Set::lanes) {
#pragma GCC unroll 8
        for (int v = 0; v < 8; ++v) store_vector(to + i + v * Set::lanes, x);
        asm volatile("" ::: "memory");
      }
    }
  }
};

/// In each round `work` rounds of multiply-adds, then `lines` lines to each of `places`, `pitch` floats apart.
struct Stream {
  template <typename Set>
  static void run(float* const& to, const int& places, const std::int64_t& pitch, const int& lines,
                  const std::int64_t& rounds, const std::int64_t& work, const bool& past_caches) {
    Vector<Set> x = Vector<Set>{} + 1.0F;
    unknown(x);
    for (std::int64_t round = 0; round < rounds; ++round) {
      if (work > 0) MultiplyAdd::run<Set>(work);
      for (int place = 0; place < places; ++place) {
        float* const at = to + place * pitch + round * lines * kLineFloats;
        for (int i = 0; i < lines * kLineFloats; i += Set::lanes) {
          if (past_caches) {
            stream_vector(at + i, x);
          } else {
            store_vector(at + i, x);
          }
        }
      }
      asm volatile("" ::: "memory");
    }
    finish_streams();
  }
};

/// Half of a line in each place, then the other halves.
struct HalfLines {
  template <typename Set>
  static void run(float* const& to, const int& places, const std::int64_t& pitch, const std::int64_t& rounds) {
    Vector<BaselineLanes> x = Vector<BaselineLanes>{} + 1.0F;
    for (std::int64_t round = 0; round < rounds; ++round) {
      for (int half = 0; half < 2; ++half) {
        for (int place = 0; place < places; ++place) {
          float* const at = to + place * pitch + round * kLineFloats + half * (kLineFloats / 2);
          stream_vector(at, x);
          stream_vector(at + BaselineLanes::lanes, x);
        }
      }
    }
    finish_streams();
  }
};

/// Eight stores, each followed by a load so many floats further on.
struct StoreAndLoad {
  template <typename Set>
  static void run(float* const& at, const int& distance, const std::int64_t& times) {
    Vector<Set> x = Vector<Set>{} + 1.0F;
    unknown(x);
    for (std::int64_t time = 0; time < times; ++time) {
#pragma GCC unroll 8
      for (int v = 0; v < 8; ++v) {
        store_vector(at + v * Set::lanes, x);
        Vector<Set> y;
        load_vector(y, at + v * Set::lanes + distance);
        unknown(y);
      }
      asm volatile("" ::: "memory");
    }
  }
};

using Work = std::function<void(int thread)>;

/// Of the fastest call, after one that is not counted.
double nanoseconds(int threads, const Work& work) {
  double least = std::numeric_limits<double>::infinity();
  for (int call = 0; call <= kCalls; ++call) {
    const auto start = std::chrono::steady_clock::now();
#pragma omp parallel num_threads(threads)
    work(omp_get_thread_num());
    const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - start;
    if (call > 0) least = std::min(least, passed.count());
  }
  return least;
}

/// GHz of the calling core: additions that wait for each other, one a cycle. From a register: constants are added up by
/// some processors before they carry anything out, several a cycle.
double clock_now() {
  constexpr std::int64_t kAdditions = 200000;
  double most = 0;
  for (int call = 0; call < 3; ++call) {
    const auto start = std::chrono::steady_clock::now();
    std::int64_t sum = 0;
    std::int64_t one = 1;
    asm volatile("" : "+r"(one));
    for (std::int64_t i = 0; i < kAdditions / 8; ++i) {
#pragma GCC unroll 8
      for (int k = 0; k < 8; ++k) asm volatile("add %1, %0" : "+r"(sum) : "r"(one));
    }
    const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - start;
    most = std::max(most, static_cast<double>(kAdditions) / passed.count());
  }
  return most;
}

/// Nanoseconds of a load that waits for the one before, at places by chance in so many bytes.
double latency(float* memory, std::int64_t bytes) {
  const auto lines = static_cast<std::uint32_t>(bytes / 64);
  std::vector<std::uint32_t> order(lines);
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::shuffle(order, std::mt19937(1));
  auto* const words = reinterpret_cast<std::uint32_t*>(memory);
  for (std::uint32_t i = 0; i < lines; ++i) words[order[i] * std::size_t{16}] = order[(i + 1) % lines];
  const std::int64_t loads = std::min<std::int64_t>(lines, 1 << 18);
  volatile std::uint32_t seen = 0;
  const double time = nanoseconds(1, [&](int) {
    std::uint32_t at = seen;
    for (std::int64_t i = 0; i < loads; ++i) at = words[at * std::size_t{16}];
    seen = at;
  });
  return time / static_cast<double>(loads);
}

class Limits {
 public:
  Limits() : set_(chosen_instruction_set()), threads_(cpu_threads()) {
    for (int thread = 0; thread < threads_; ++thread) buffers_.push_back(device_.allocate(kBytes, "a thread's"));
    clock_now();
    clock_ = clock_now();
    fmt::print("{}, {} threads, {}; clock {:.2f} GHz; time-stamp counter's cycles are others\n", cpu_model(), threads_,
               set_.name, clock_);
    fmt::print("{:44}{:>12}{:>12}  {}\n", "", "one thread", "all", "one thread, a cycle");
  }

  void arithmetic() {
    for (const InstructionSet& set : sets()) {
      constexpr std::int64_t kRounds = 1 << 18;
      const double vectors = static_cast<double>(kRounds) * MultiplyAdd::kSums;
      double clock = 0;
      row(
          fmt::format("multiply-adds, {}, GFLOP/s", set.name), 2 * vectors * set.lanes,
          [&](int thread) {
            run_with<MultiplyAdd>(set.kind, kRounds);
            if (thread == 0) clock = std::max(clock, clock_now());
          },
          vectors, "vectors");
      fmt::print("  {:42}{:12.2f}\n", "clock right after it, GHz", clock);
    }
  }

  void caches() {
    const std::vector<CpuCache> caches = cpu_caches();
    for (const CpuCache& cache : caches) {
      if (cache.type == "Instruction") continue;
      // Half of it, of a last level shared by the threads their part.
      std::int64_t bytes = static_cast<std::int64_t>(cache.bytes) / 2;
      if (&cache == &caches.back()) bytes /= threads_;
      touch(fmt::format("L{}, {} KiB", cache.level, bytes >> 10), std::min(bytes, kBytes / 2));
    }
    touch("memory", kBytes / 2);
    fmt::print("{:44}{:12.1f}\n", "latency of memory, ns", latency(buffers_[0].floats(), kBytes));
  }

  void alias() {
    for (const int distance : {1024 * 64, 1024 * 64 + 256, 1024 * 64 + 8}) {
      constexpr std::int64_t kTimes = 1 << 15;
      const double pairs = 8.0 * kTimes;
      const double time =
          nanoseconds(1, [&](int) { run_with<StoreAndLoad>(set_.kind, buffers_[0].floats(), distance, kTimes); });
      fmt::print("{:44}{:12.2f}\n",
                 fmt::format("cycles of a store and a load {} bytes on", distance % 1024 == 0 ? "n * 4096"
                                                                         : distance % 16 == 0 ? "n * 4096 + 1024"
                                                                                              : "n * 4096 + 32"),
                 time * clock_ / pairs);
    }
  }

  /// The tile registers of AMX. Four tiles of sums, as the stages have them, with six products of parts a step.
  void tiles() {
#ifdef __x86_64__
    if (tile_unit() == TileUnit::processor) return processor_tiles();
#endif
    fmt::print("AMX tiles: {}\n", tile_unit_remark());
  }

  /// Which number of places, and how many lines to each in a go.
  void streams() {
    for (const int places : {1, 2, 4, 8, 16}) {
      for (const int lines : {1, 4, 8}) {
        const std::int64_t pitch = kFloats / places / kLineFloats * kLineFloats;
        const std::int64_t rounds = pitch / (lines * kLineFloats);
        row(fmt::format("streaming stores, {} lines to each of {}, GB/s", lines, places),
            64.0 * lines * static_cast<double>(places * rounds), [&](int thread) {
              run_with<Stream>(set_.kind, buffers_[thread].floats(), places, pitch, lines, rounds, std::int64_t{0},
                               true);
            });
      }
    }
    for (const int places : {1, 2, 4, 8, 12, 16, 24, 32}) {
      const std::int64_t pitch = kFloats / places / kLineFloats * kLineFloats;
      const std::int64_t rounds = pitch / kLineFloats;
      row(fmt::format("streamed in halves of lines, {} open, GB/s", places),
          64.0 * static_cast<double>(places * rounds),
          [&](int thread) { run_with<HalfLines>(set_.kind, buffers_[thread].floats(), places, pitch, rounds); });
    }
  }

  /// A round of multiply-adds and 24 lines, as a register tile has them: how much of the shorter part is hidden?
  void overlap() {
    constexpr int kPlaces = 4;
    constexpr int kLines = 6;
    const std::int64_t pitch = kFloats / kPlaces / kLineFloats * kLineFloats;
    const std::int64_t rounds = pitch / (kLines * kLineFloats);
    for (const bool past_caches : {true, false}) {
      const auto time = [&](int threads, std::int64_t work, int places) {
        return nanoseconds(threads,
                           [&](int thread) {
                             run_with<Stream>(set_.kind, buffers_[thread].floats(), places, pitch, kLines, rounds, work,
                                              past_caches);
                           }) /
               static_cast<double>(rounds);
      };
      for (const std::int64_t work : {20, 49, 98, 200}) {
        for (const int threads : {1, threads_}) {
          const double arithmetic = time(threads, work, 0);
          const double stores = time(threads, 0, kPlaces);
          const double both = time(threads, work, kPlaces);
          fmt::print(
              "{} threads, {} vectors of multiply-adds {:6.0f} ns, 24 lines {} {:6.0f} ns, both {:6.0f} ns: {:.2f} of "
              "the longer\n",
              threads, work * MultiplyAdd::kSums, arithmetic, past_caches ? "streamed" : "stored", stores, both,
              both / std::max(arithmetic, stores));
        }
      }
    }
  }

 private:
#ifdef __x86_64__
  static constexpr double kFlopsOfProduct = 2.0 * kTileRows * kTileRows * kTileDepth;

  void processor_tiles() {
    require_tile_unit();
    constexpr std::int64_t kProducts = 1 << 16;
    row(
        "tile products, bf16, GFLOP/s", kFlopsOfProduct * kProducts,
        [](int) {
          ProcessorTiles tiles;
          for (std::int64_t i = 0; i < kProducts; i += 4) {
            tiles.multiply<0, 4, 6>();
            tiles.multiply<1, 4, 7>();
            tiles.multiply<2, 5, 6>();
            tiles.multiply<3, 5, 7>();
          }
        },
        kProducts, "products");
    for (const int kib : {16, 1024, 8192}) {
      const std::int64_t bytes = std::int64_t{kib} << 10;
      const std::int64_t times = std::max<std::int64_t>(1, (std::int64_t{1} << 24) / bytes);
      row(fmt::format("tiles loaded, {} KiB again and again, GB/s", kib), static_cast<double>(bytes * times),
          [&](int thread) {
            ProcessorTiles tiles;
            const auto* const from = reinterpret_cast<const char*>(buffers_[thread].floats());
            for (std::int64_t time = 0; time < times; ++time) {
              for (std::int64_t at = 0; at < bytes; at += std::int64_t{4} * kTileBytes) {
                tiles.load<4>(from + at);
                tiles.load<5>(from + at + kTileBytes);
                tiles.load<6>(from + at + 2 * kTileBytes);
                tiles.load<7>(from + at + 3 * kTileBytes);
              }
            }
          });
    }
    for (const bool random : {false, true}) {
      for (DeviceBuffer& buffer : buffers_) fill_with_numbers(buffer, random);
      for (const int kib : {384, 8448}) stage_products(kib, random);
    }
  }

  /// A panel of 24 KiB in L1, with so many KiB of weights and as many sums as they have tiles of maps.
  void stage_products(int kib, bool random) {
    constexpr int kSteps = 4;
    constexpr int kParts = part_count(PartProducts::six);
    constexpr std::int64_t kTileOfPanel = std::int64_t{kSteps} * kParts * kTileWords;
    const std::int64_t map_pairs = std::int64_t{kib} * 1024 / (2 * kTileOfPanel * 4);
    const std::int64_t times = std::max<std::int64_t>(1, 512 / map_pairs);
    const double products = 4.0 * kSteps * 6 * static_cast<double>(map_pairs * times);
    row(
        fmt::format("stage 13's, {} KiB of weights, {}", kib, random ? "random" : "zeros"), kFlopsOfProduct * products,
        [&](int thread) {
          ProcessorTiles tiles;
          auto* const panel = reinterpret_cast<std::uint32_t*>(buffers_[thread].floats());
          float* const sums = buffers_[thread].floats() + 2 * kTileOfPanel;
          const std::uint32_t* const weights = panel + (std::int64_t{8} << 18);
          for (std::int64_t time = 0; time < times; ++time) {
            for (std::int64_t pair = 0; pair < map_pairs; ++pair) {
              BlockOfTiles block{.weights = {}, .pixels = {}, .sums = {}, .steps = kSteps, .is_first = true};
              for (int i = 0; i < 2; ++i) {
                block.weights[i] = weights + (2 * pair + i) * kTileOfPanel;
                block.pixels[i] = panel + i * kTileOfPanel;
                for (int j = 0; j < 2; ++j) {
                  float* const to = sums + (pair * 4 + i * 2 + j) * kTileWords;
                  block.sums[i][j] = {.from = to, .to = to, .row_bytes = kTileRowBytes};
                }
              }
              multiply(tiles, block, 2, 2, PartProducts::six);
            }
          }
        },
        products, "products");
  }

  /// bf16 numbers of a size near one, two to a float; or zeros.
  static void fill_with_numbers(DeviceBuffer& buffer, bool random) {
    auto* const words = reinterpret_cast<std::uint32_t*>(buffer.floats());
    std::mt19937 next(1);
    for (std::int64_t i = 0; i < kFloats / 4; ++i) words[i] = random ? (next() & 0x80ff80ffU) | 0x3e003e00U : 0;
  }
#endif

  static constexpr std::int64_t kBytes = std::int64_t{96} << 20;
  static constexpr std::int64_t kFloats = kBytes / 4;

  static std::vector<InstructionSet> sets() {
    std::vector<InstructionSet> all{chosen_instruction_set()};
    setenv("CONVLADDER_INSTRUCTION_SET", "avx2", 1);
    if (all[0].kind == InstructionSet::Kind::avx512) all.push_back(chosen_instruction_set());
    unsetenv("CONVLADDER_INSTRUCTION_SET");
    return all;
  }

  /// `amount` of a thread's call, over its nanoseconds.
  void row(const std::string& what, double amount, const Work& work, double counted = 0, const char* unit = "bytes") {
    const double one = nanoseconds(1, work);
    const double all = nanoseconds(threads_, work);
    fmt::print("{:44}{:12.1f}{:12.1f}  {:.2f} {}\n", what, amount / one, threads_ * amount / all,
               (counted > 0 ? counted : amount) / one / clock_, unit);
  }

  void touch(const std::string& where, std::int64_t bytes) {
    const std::int64_t floats = bytes / 4 / (8 * kLineFloats) * (8 * kLineFloats);
    const std::int64_t times = std::max<std::int64_t>(1, (std::int64_t{1} << 22) / floats);
    const double amount = 4.0 * static_cast<double>(floats * times);
    const auto load = [&](int offset) {
      return [&, offset](int thread) {
        const float* const from = buffers_[thread].floats() + offset;
        run_with<Load>(set_.kind, from, floats, times);
      };
    };
    row("loads from " + where + ", GB/s", amount, load(0));
    row("the same across lines, GB/s", amount, load(1));
    row("stores to " + where + ", GB/s", amount,
        [&](int thread) { run_with<Store>(set_.kind, buffers_[thread].floats(), floats, times); });
  }

  CpuDevice device_;
  InstructionSet set_;
  int threads_;
  double clock_ = 0;
  std::vector<DeviceBuffer> buffers_;
};

}  // namespace
}  // namespace convladder

int main() {
  convladder::Limits limits;
  limits.arithmetic();
  limits.caches();
  limits.alias();
  limits.tiles();
  limits.streams();
  limits.overlap();
}

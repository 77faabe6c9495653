// Leave one out: stage 10 (streamed output), the best for layers of few channels, without one of its ideas at a time.
//
// On the ladder each stage adds an idea to those below it, and what an idea seems to be worth depends on the order in
// which they came. Here the order does not matter. Every variant is stage 10 but for one idea, so what it loses against
// stage 10 is what that idea is worth beside all the others. They stand beside the ladder: they are run when they are
// asked for ('convladder run --leave-one-out --device cpu'). leave_one_out.cu does the same with the CUDA ladder.
//
// Some ideas carry others: sums that come back from the output cannot leave past the caches. The copies for each column
// of the filter are not among the ideas, since without them the kernel is another one: stage 7.
//
// When it loses: always, that is its purpose. A row that does not lose names an idea that can go.

#include <omp.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "variants/convolution/cpu/cache_lines.hpp"
#include "variants/convolution/cpu/shifted_rows_band.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

constexpr std::string_view kBestStage = "streamed-output";

enum class Idea {
  streamed_output,
  reading_in_place,
  near_copies,
  map_tile,
  pixel_tile,
  packed_weights,
  local_accumulation,
  unrolled_tile,
  wide_vectors,
  all_cores
};

/// Reads weights as they are in the filters, where those of one tap lie a filter apart.
template <int kMaps, int kVectors, TileStores kStores>
struct UnpackedTile {
  template <typename Set>
  static void run(const float* pixels, const float* weights, const int* offsets, int taps, float* to,
                  std::ptrdiff_t pitch) {
    RegisterTile<Set, kMaps, kVectors> sums;
    sums.clear();
    for_runs_of_taps<Set, kMaps, kVectors, kStores>(taps, to, pitch, [&](int first, int end) {
      for (int tap = first; tap < end; ++tap) {
        float of_tap[kMaps];
#pragma GCC unroll 8
        for (int m = 0; m < kMaps; ++m) of_tap[m] = weights[std::ptrdiff_t{m} * taps + tap];
        sums.add(1, of_tap, [&](int) { return pixels + offsets[tap]; });
      }
    });
    if constexpr (kStores == TileStores::past_caches) {
      sums.stream(to, pitch);
    } else {
      sums.store(to, pitch);
    }
  }
};

/// Adds the sums to the output after every few taps and loads them back. They are always stored plainly.
template <int kMaps, int kVectors>
struct PlainReturningTile {
  static constexpr int kTapsInRegisters = 7;  // a column of the largest filters of the LeNet networks

  template <typename Set>
  static void run(const float* pixels, const float* weights, const int* offsets, int taps, float* to,
                  std::ptrdiff_t pitch) {
    for (int first = 0; first < taps; first += kTapsInRegisters) {
      RegisterTile<Set, kMaps, kVectors> sums;
      if (first == 0) {
        sums.clear();
      } else {
        sums.load(to, pitch);
      }
      sums.add(std::min(kTapsInRegisters, taps - first), weights + std::ptrdiff_t{first} * kMaps,
               [&](int tap) { return pixels + offsets[first + tap]; });
      sums.store(to, pitch);
      asm volatile("" ::: "memory");  // otherwise the compiler would keep them, which is the idea that is left out
    }
  }
};

/// Uses one code for all ways to store: three would be compiled and one used.
template <int kMaps, int kVectors, TileStores>
using ReturningTile = PlainReturningTile<kMaps, kVectors>;

/// Returns a number that the compiler does not know.
[[gnu::always_inline]] inline int unknown(int value) {
  asm volatile("" : "+r"(value));
  return value;
}

/// Loops over the maps and vectors of a tile whose size is unknown at compile time, so that sums have no registers of
/// their own.
template <int kMaps, int kVectors, TileStores kStores>
struct RolledTile {
  template <typename Set>
  static void run(const float* pixels, const float* weights, const int* offsets, int taps, float* to,
                  std::ptrdiff_t pitch) {
    const int maps = unknown(kMaps);
    const int vectors = unknown(kVectors);
    Vector<Set> sums[kMaps * kVectors] = {};
    for_runs_of_taps<Set, kMaps, kVectors, kStores>(taps, to, pitch, [&](int first, int end) {
      for (int tap = first; tap < end; ++tap, weights += maps) {
#pragma GCC unroll 1
        for (int m = 0; m < maps; ++m) {
#pragma GCC unroll 1
          for (int v = 0; v < vectors; ++v) {
            Vector<Set> x;
            load_vector(x, pixels + offsets[tap] + v * Set::lanes);
            sums[m * vectors + v] += x * weights[m];
          }
        }
      }
    });
#pragma GCC unroll 1
    for (int m = 0; m < maps; ++m) {
#pragma GCC unroll 1
      for (int v = 0; v < vectors; ++v) {
        float* const at = to + m * pitch + v * Set::lanes;
        if constexpr (kStores == TileStores::past_caches) {
          stream_vector(at, sums[m * vectors + v]);
        } else {
          store_vector(at, sums[m * vectors + v]);
        }
      }
    }
  }
};

/// Stage 10 without one idea.
template <Idea without>
class StreamedOutputWithout {
 public:
  StreamedOutputWithout(const ConvShape& shape, const float* weights)
      : shape_(shape),
        threads_(without == Idea::all_cores ? 1 : omp_get_max_threads()),
        rows_(shape, arranged(shape, weights, division(shape, threads_)), division(shape, threads_)),
        stores_(stores()) {
    const std::int64_t copies = without == Idea::near_copies ? std::max<std::int64_t>(tasks(), threads_) : threads_;
    for (std::int64_t i = 0; i < copies; ++i) copies_.emplace_back(rows_.copy_floats());
  }

  void convolve(const float* input, float* output) {
    const TileStores stores =
        stores_ == TileStores::past_caches && floats_to_line(output) != 0 ? cached_stores(shape_, threads_) : stores_;
    if constexpr (without == Idea::near_copies) {
      each([&](std::int64_t task, float*) { band(task, copies_of(task), input, output, stores, BandPart::copies); });
      each([&](std::int64_t task, float*) { band(task, copies_of(task), input, output, stores, BandPart::sums); });
    } else {
      each([&](std::int64_t task, float* copies) { band(task, copies, input, output, stores, BandPart::all); });
    }
  }

  std::string choice() const { return rows_.choice() + stores_text(stores_); }

  static std::string unsupported(const ConvShape& shape) {
    const ShiftedRows rows(shape, AlignedFloats(shape.weight_elements()), division(shape, omp_get_max_threads()));
    const double bytes = static_cast<double>(rows.copy_floats()) * sizeof(float) * shape.batch * rows.bands();
    constexpr double kMostBytes = 2.0 * 1024 * 1024 * 1024;
    if (without == Idea::near_copies && rows.copied_columns() == 0)
      return "the inputs are read where they lie: there are no copies";
    if (without != Idea::near_copies || bytes <= kMostBytes) return {};
    return "the copies of all images together would need more than 2 GiB";
  }

 private:
  static ShiftedRowsDivision division(const ConvShape& shape, int threads) {
    Configuration wanted;
    if (without == Idea::map_tile) wanted = Configuration({{"maps", 1}});
    if (without == Idea::pixel_tile) wanted = Configuration({{"vectors", 1}});
    const ShiftedRowsDivision result(
        shape, threads, wanted, without == Idea::wide_vectors ? baseline_instruction_set() : chosen_instruction_set());
    return without == Idea::reading_in_place ? result.all_copied() : result;
  }
  static AlignedFloats arranged(const ConvShape& shape, const float* weights, const ShiftedRowsDivision& division) {
    if (without == Idea::packed_weights) return ShiftedRows::unpacked_weights(shape, weights);
    return ShiftedRows::packed_weights(shape, weights, division.maps);
  }

  /// Chooses the stores as stage 10 does. Sums that return to the output cannot bypass the caches, and wait for its
  /// lines at the first taps.
  TileStores stores() const {
    if (without == Idea::streamed_output || without == Idea::local_accumulation) return TileStores::plain;
    const bool streamed = rows_.whole_lines() && outgrows_caches(shape_.output_elements(), threads_);
    return streamed ? TileStores::past_caches : cached_stores(shape_, threads_);
  }

  std::int64_t tasks() const { return std::int64_t{shape_.batch} * rows_.bands(); }
  float* copies_of(std::int64_t index) { return copies_[static_cast<std::size_t>(index)].data(); }

  /// Calls body(task, the thread's copies) for every band of every image.
  template <typename Body>
  void each(const Body& body) {
#pragma omp parallel num_threads(threads_)
    {
      float* const copies = copies_of(omp_get_thread_num());
#pragma omp for schedule(static) nowait
      for (std::int64_t task = 0; task < tasks(); ++task) body(task, copies);
      if (stores_ == TileStores::past_caches) finish_streams();
    }
  }

  void band(std::int64_t task, float* copies, const float* input, float* output, TileStores stores,
            BandPart part) const {
    const std::int64_t image = task / rows_.bands();
    const float* const from = input + image * shape_.input_elements_per_image();
    float* const to = output + image * shape_.output_elements_per_image();
    const int of_image = static_cast<int>(task % rows_.bands());
    if constexpr (without == Idea::packed_weights) {
      rows_.convolve_with<UnpackedTile>(copies, from, to, of_image, stores, part);
    } else if constexpr (without == Idea::local_accumulation) {
      rows_.convolve_with<ReturningTile>(copies, from, to, of_image, stores, part);
    } else if constexpr (without == Idea::unrolled_tile) {
      rows_.convolve_with<RolledTile>(copies, from, to, of_image, stores, part);
    } else {
      rows_.convolve_with<ShiftedRowsTile>(copies, from, to, of_image, stores, part);
    }
  }

  ConvShape shape_;
  int threads_;
  ShiftedRows rows_;
  std::vector<AlignedFloats> copies_;
  TileStores stores_;
};

/// `leaves_out`: the idea in a few words. `hypothesis`: what should get worse without it.
template <Idea without>
VariantRegistration registration(std::string_view name, std::string_view title, std::string_view leaves_out,
                                 std::string_view hypothesis) {
  using Stage = StreamedOutputWithout<without>;
  return {"convolution",
          {.family = "cpu",
           .rung = {},
           .name = name,
           .title = title,
           .builds_on = kBestStage,
           .hypothesis = hypothesis,
           .leaves_out = leaves_out},
          keep_variant(std::make_unique<PreparingCpuVariant<Stage>>(Stage::unsupported))};
}

const VariantRegistration registrations[] = {
    registration<Idea::streamed_output>("without-streamed-output", "Without streamed output", "streamed output",
                                        "Stores wait for lines of the output that are read from memory first."),
    registration<Idea::reading_in_place>("without-reading-in-place", "Without reading in place", "inputs read in place",
                                         "All inputs are copied once for each column of the filter."),
    registration<Idea::near_copies>("without-near-copies", "Without copies nearby", "copies made just before use",
                                    "The copies of all images go to memory and come back."),
    registration<Idea::map_tile>("without-map-tile", "Without a tile of maps", "register tile over maps",
                                 "An input in a register is used for one map instead of up to eight."),
    registration<Idea::pixel_tile>("without-pixel-tile", "Without a tile of pixels", "register tile over pixels",
                                   "A weight is used for one vector of pixels instead of up to six."),
    registration<Idea::packed_weights>("without-packed-weights", "Without packed weights", "packed weights",
                                       "The weights of a tap come from as many cache lines as there are maps."),
    registration<Idea::local_accumulation>("without-local-accumulation", "Without local accumulation",
                                           "local accumulation",
                                           "The output is written and read again after every column of the filters."),
    registration<Idea::unrolled_tile>("without-unrolled-tile", "Without an unrolled tile", "unrolled register tile",
                                      "Sums have no registers of their own: each addition loads and stores."),
    registration<Idea::wide_vectors>("without-wide-vectors", "Without wide vectors", "the widest vectors",
                                     "Four lanes for each instruction instead of eight or sixteen."),
    registration<Idea::all_cores>("without-all-cores", "Without the other cores", "all cores",
                                  "One core does the work of all."),
};

}  // namespace
}  // namespace convladder

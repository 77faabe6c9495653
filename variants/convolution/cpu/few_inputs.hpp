// Outputs with so few inputs that count that minimal filtering must not compute them.
//
// The rounding errors of minimal filtering scale with the products of all inputs around an output with all weights
// around theirs, while the error that is granted scales with the output's own products. Where an output has many inputs
// the two are much alike. But where all inputs are zero but one, whose weight is small, the error is that of its
// neighbours' large weights: on a black background that happens. So such outputs are found, and computed directly from
// the inputs that are not zero.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "variants/convolution/cpu/lane_strips.hpp"

namespace convladder {

/// The fewest inputs of an output that have to count. With 16 of 1/2 to 1 at random places errors were seen at 0.2
/// times what is granted, with uniform and normal weights; with weights of which most are tiny, cubes of normal ones,
/// at 0.6 times with 32 and 2.7 times with 16.
constexpr int kEnoughInputs = 32;

/// The least ratio between the sum of the square roots of all inputs' sizes and the root of the largest. Roots, because
/// smaller inputs count as long as they are many: with one large input among 500 of a hundredth of its size, their
/// products decide what is granted, and the large one's errors are below it.
inline float enough_inputs(const ConvShape& s) {
  const int of_many = s.channels_per_group() * s.kernel * s.kernel / 32;
  return static_cast<float>(kEnoughInputs + of_many);
}

/// Turns the bits of floats, or of vectors of them, into those of the square roots of their sizes, within 6 %, by
/// halving the exponent. For zero the result is 1e-19.
template <typename Bits>
[[gnu::always_inline]] constexpr void take_rough_root(Bits& bits) {
  bits = ((bits & 0x7fffffff) >> 1) + (127 << 22);
}

/// One output in one lane of the strips.
struct FewInputsOutput {
  int position;  ///< row * width + column
  int lane;
};

/// The weights of all maps of a group side by side, tap by tap.
class TapWeights {
 public:
  TapWeights(const ConvShape& s, int lanes, const float* oihw)
      : taps_(s.channels_per_group() * s.kernel * s.kernel),
        pitch_((s.maps_per_group() + lanes - 1) / lanes * lanes),
        values_(std::int64_t{s.groups} * taps_ * pitch_ + lanes) {  // whole vectors from any map on
    for (int map = 0; map < s.out_channels; ++map) {
      float* const to = values_.data() + std::int64_t{map / s.maps_per_group()} * taps_ * pitch_;
      for (int tap = 0; tap < taps_; ++tap) {
        to[std::int64_t{tap} * pitch_ + map % s.maps_per_group()] = oihw[std::int64_t{map} * taps_ + tap];
      }
    }
  }
  const float* tap(int group, int tap) const { return values_.data() + (std::int64_t{group} * taps_ + tap) * pitch_; }
  /// Floats between two taps.
  int pitch() const { return pitch_; }

 private:
  int taps_;
  int pitch_;
  AlignedFloats values_;
};

/// An input that is not zero.
struct CountingInput {
  std::ptrdiff_t tap;
  float value;
};

/// Computes an output's sums for `kVectors` vectors of maps, from the inputs that are not zero; `weights` begin at the
/// first map; taps are `pitch` floats apart.
template <typename Set, int kVectors>
[[gnu::always_inline]] inline void sum_counting_vectors(const std::vector<CountingInput>& inputs, const float* weights,
                                                        std::ptrdiff_t pitch, float* to) {
  Vector<Set> sums[kVectors] = {};
  for (const auto& [tap, x] : inputs) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      Vector<Set> weight;
      load_vector(weight, weights + tap * pitch + v * Set::lanes);
      sums[v] += x * weight;
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) store_vector(to + v * Set::lanes, sums[v]);
}

/// Computes an output's sums for any number of vectors of maps.
template <typename Set>
[[gnu::always_inline]] inline void sum_counting_inputs(const std::vector<CountingInput>& inputs, const float* weights,
                                                       std::ptrdiff_t pitch, int vectors, float* sums) {
  constexpr int kAtOnce = 4;
  for (int vector = 0; vector < vectors; vector += kAtOnce) {
    with_constant<kAtOnce>(std::min(kAtOnce, vectors - vector), [&](auto count) {
      sum_counting_vectors<Set, count>(inputs, weights + vector * Set::lanes, pitch, sums + vector * Set::lanes);
    });
  }
}

/// A thread's workspace to find and to compute such outputs.
struct FewInputsWorkspace {
  AlignedFloats pixels;  ///< [column][sum, largest][lane] of the roots of all channels of a row
  AlignedFloats rows;    ///< [row][output column][sum, largest][lane] of the windows' columns
  std::vector<FewInputsOutput> outputs;
  std::vector<CountingInput> inputs;  ///< inputs of one output that are not zero
  std::vector<float> sums;            ///< [output][map]
  int sum_pitch = 0;                  ///< floats between two outputs' sums

  FewInputsWorkspace(const ConvShape& s, int lanes, int rows_of_strip)
      : pixels(std::int64_t{2} * (s.width + 2 * s.padding) * lanes),
        rows(std::int64_t{2} * ((rows_of_strip - 1) * s.stride + s.kernel) * s.out_width() * lanes) {}
};

/// Finds and computes such outputs for the inputs of one group of strips.
template <typename Set>
struct FewInputs {
  const ConvShape& shape;
  const LaneTile& tile;
  FewInputsWorkspace& work;

  /// Finds the strips' outputs with few inputs that count. Outputs whose inputs are all zero are not among them: their
  /// sums are zero.
  [[gnu::always_inline]] void find(const StripGroup<Set>& strips) const {
    const int width = shape.out_width();
    const int input_rows = (strips.rows - 1) * shape.stride + shape.kernel;
    for (int row = 0; row < input_rows; ++row) sum_row(row);
    work.outputs.clear();
    for (int row = 0; row < strips.rows; ++row) {
      for (int column = 0; column < width; ++column) {
        SumAndLargest window;
        for (int p = 0; p < shape.kernel; ++p) {
          window.add(work.rows.data() + (std::int64_t{row * shape.stride + p} * width + column) * 2 * Set::lanes);
        }
        add_lanes(strips, row, column, window);
      }
    }
  }

  /// Computes the sums of the found outputs for `maps` maps of a group from `first_map` on.
  [[gnu::always_inline]] void compute(const TapWeights& weights, int group, int first_map, int maps) const {
    const int vectors = (maps + Set::lanes - 1) / Set::lanes;
    work.sum_pitch = vectors * Set::lanes;
    work.sums.resize(work.outputs.size() * static_cast<std::size_t>(work.sum_pitch));
    float* sums = work.sums.data();
    for (const FewInputsOutput& output : work.outputs) {
      collect(output);
      sum_counting_inputs<Set>(work.inputs, weights.tap(group, 0) + first_map, weights.pitch(), vectors, sums);
      sums += work.sum_pitch;
    }
  }

  /// Puts a map's sums, with `map` counted from the first computed one, into its outputs, [row][column][lane].
  [[gnu::always_inline]] void replace(int map, float* outputs) const {
    const float* sum = work.sums.data() + map;
    for (const FewInputsOutput& output : work.outputs) {
      outputs[std::ptrdiff_t{output.position} * Set::lanes + output.lane] = *sum;
      sum += work.sum_pitch;
    }
  }

 private:
  /// Collects the inputs of an output that are not zero.
  [[gnu::always_inline]] void collect(const FewInputsOutput& output) const {
    const int row = output.position / shape.out_width() * shape.stride;
    const int column = output.position % shape.out_width() * shape.stride;
    work.inputs.clear();
    int tap = 0;
    for (int c = 0; c < shape.channels_per_group(); ++c) {
      for (int p = 0; p < shape.kernel; ++p) {
        const float* const from = tile.vectors() +
                                  (std::int64_t{c} * tile.plane() + (row + p) * tile.pitch() + column) * Set::lanes +
                                  output.lane;
        for (int q = 0; q < shape.kernel; ++q, ++tap) {
          const float x = from[std::ptrdiff_t{q} * Set::lanes];
          if (x != 0) work.inputs.push_back({tap, x});
        }
      }
    }
  }

  struct SumAndLargest {
    Vector<Set> sum{};
    Vector<Set> largest{};

    [[gnu::always_inline]] void add_root(const float* from) {
      Mask<Set> bits;
      std::memcpy(&bits, from, sizeof bits);
      take_rough_root(bits);
      Vector<Set> x;
      std::memcpy(&x, &bits, sizeof x);
      sum += x;
      largest = x > largest ? x : largest;
    }
    [[gnu::always_inline]] void add(const float* from) {
      Vector<Set> x;
      load_vector(x, from);
      sum += x;
      load_vector(x, from + Set::lanes);
      largest = x > largest ? x : largest;
    }
    [[gnu::always_inline]] void store(float* to) const {
      store_vector(to, sum);
      store_vector(to + Set::lanes, largest);
    }
  };

  [[gnu::always_inline]] void sum_row(int row) const {
    const int columns = (shape.out_width() - 1) * shape.stride + shape.kernel;
    const float* const from = tile.vectors() + std::int64_t{row} * tile.pitch() * Set::lanes;
    for (int column = 0; column < columns; ++column) {
      SumAndLargest pixel;
      for (int c = 0; c < shape.channels_per_group(); ++c) {
        pixel.add_root(from + (std::int64_t{c} * tile.plane() + column) * Set::lanes);
      }
      pixel.store(work.pixels.data() + std::ptrdiff_t{column} * 2 * Set::lanes);
    }
    for (int column = 0; column < shape.out_width(); ++column) {
      SumAndLargest run;
      for (int q = 0; q < shape.kernel; ++q) {
        run.add(work.pixels.data() + std::ptrdiff_t{column * shape.stride + q} * 2 * Set::lanes);
      }
      run.store(work.rows.data() + (std::int64_t{row} * shape.out_width() + column) * 2 * Set::lanes);
    }
  }

  [[gnu::always_inline]] void add_lanes(const StripGroup<Set>& strips, int row, int column,
                                        const SumAndLargest& window) const {
    const Vector<Set> wanted = window.largest * enough_inputs(shape);
    const Mask<Set> few = !(window.sum >= wanted);
    std::int32_t lanes[Set::lanes];
    std::memcpy(lanes, &few, sizeof lanes);
    std::int32_t any = 0;
    for (int lane = 0; lane < Set::lanes; ++lane) any |= lanes[lane];
    if (any == 0) return;
    for (int lane = 0; lane < Set::lanes; ++lane) {
      if (lanes[lane] != 0 && row < strips.strips[lane].rows) {
        work.outputs.push_back({row * shape.out_width() + column, lane});
      }
    }
  }
};

}  // namespace convladder

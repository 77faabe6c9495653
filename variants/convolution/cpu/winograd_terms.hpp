// Winograd's minimal filtering in one dimension: two neighbouring outputs of a filter of any length and stride.
//
// The filter is cut into pieces of three taps, two taps and one tap. F(2,3) computes two outputs of three taps with
// four products instead of six, F(2,2) of two taps with three instead of four (S. Winograd, Arithmetic Complexity of
// Computations, 1980; A. Lavin and S. Gray, Fast Algorithms for Convolutional Neural Networks, 2016). Each product is a
// weighted sum of the filter's taps times the difference, the sum or a single one of the inputs, and goes into both
// outputs, or into one of them. The products that go into the outputs in the same way are added up first: there are
// four ways at most, however long the filter is. Applied to rows and columns, a term of the rows and a term of the
// columns make one of both.
//
// A piece of three saves most, but it takes its inputs from more streams of filtered inputs (four with it, six with it
// and a piece of two, four with pieces of two and one), all of which have to be made and kept. From seven taps on that
// costs more than it saves.
//
// With a stride s every s-th input is a phase: tap s * i + p takes its inputs from phase p alone, and there the taps
// are a filter with stride 1. So a filter of 11 taps with stride 4 is three of 3 taps and one of 2: 15 products for two
// outputs instead of 22. The products of all phases go the same four ways.
//
// All factors are 1, -1 or 1/2: small integers stay exact, and rounding errors grow little. An output does not depend
// on inputs beyond its own window.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace convladder {

/// How a product combines the inputs d[i], d[i + s], d[i + 2 s], with s being the stride.
enum class InputFilter { single, difference, difference_over_two, sum };  // d0, d0 - d1, d0 - d2, d0 + d1
/// The distance of the second input from the first, in strides, with its sign; zero if there is none.
constexpr int reach(InputFilter filter) {
  return filter == InputFilter::single ? 0 : filter == InputFilter::difference_over_two ? 2 : 1;
}
constexpr float sign(InputFilter filter) { return filter == InputFilter::sum ? 1 : -1; }

/// The outputs that a product goes into, and its signs there.
enum class OutputWay { first, both, opposite, second };  // (1, 0), (1, 1), (1, -1), (0, 1)
constexpr int kOutputWays = 4;

/// One product: `filter` of the inputs from `offset` on, times the sum of weights[i] * tap i.
struct WinogradTerm {
  InputFilter filter;
  int offset;
  OutputWay way;
  std::vector<double> weights;
};

/// The terms of two neighbouring outputs of a filter with `taps` taps and stride 1: y[j] = sum of d[j + i] * w[i].
inline std::vector<WinogradTerm> winograd_terms(int taps) {
  std::vector<WinogradTerm> terms;
  const auto add = [&](InputFilter filter, int offset, OutputWay way, int first_tap, std::vector<double> weights) {
    WinogradTerm term{filter, offset, way, std::vector<double>(static_cast<std::size_t>(taps))};
    std::ranges::copy(weights, term.weights.begin() + first_tap);
    terms.push_back(std::move(term));
  };
  int i = 0;
  if (taps == 3 || taps == 5) {
    add(InputFilter::difference_over_two, i, OutputWay::first, i, {1, 0, 0});
    add(InputFilter::sum, i + 1, OutputWay::both, i, {0.5, 0.5, 0.5});
    add(InputFilter::difference, i + 1, OutputWay::opposite, i, {-0.5, 0.5, -0.5});
    add(InputFilter::difference_over_two, i + 1, OutputWay::second, i, {0, 0, -1});
    i += 3;
  }
  for (; i + 1 < taps; i += 2) {
    add(InputFilter::difference, i, OutputWay::first, i, {1, 0});
    add(InputFilter::single, i + 1, OutputWay::both, i, {1, 1});
    add(InputFilter::difference, i + 1, OutputWay::second, i, {0, -1});
  }
  if (i < taps) {
    add(InputFilter::single, i, OutputWay::first, i, {1});
    add(InputFilter::single, i + 1, OutputWay::second, i, {1});
  }
  return terms;
}

/// The terms of two neighbouring outputs of a filter with a stride: y[j] = sum of d[stride * j + i] * w[i].
inline std::vector<WinogradTerm> winograd_terms(int taps, int stride) {
  std::vector<WinogradTerm> terms;
  for (int phase = 0; phase < std::min(taps, stride); ++phase) {
    for (const WinogradTerm& term : winograd_terms((taps - phase + stride - 1) / stride)) {
      std::vector<double> weights(static_cast<std::size_t>(taps));
      for (std::size_t i = 0; i < term.weights.size(); ++i) {
        weights[i * static_cast<std::size_t>(stride) + static_cast<std::size_t>(phase)] = term.weights[i];
      }
      terms.push_back({term.filter, term.offset * stride + phase, term.way, std::move(weights)});
    }
  }
  return terms;
}

/// The weight of a product of two terms, from the `kernel` x `kernel` taps of a filter.
inline float winograd_weight(const WinogradTerm& row, const WinogradTerm& column, int kernel, const float* taps) {
  double sum = 0;
  for (int p = 0; p < kernel; ++p) {
    if (row.weights[static_cast<std::size_t>(p)] == 0) continue;
    for (int q = 0; q < kernel; ++q) {
      sum +=
          row.weights[static_cast<std::size_t>(p)] * column.weights[static_cast<std::size_t>(q)] * taps[p * kernel + q];
    }
  }
  return static_cast<float>(sum);
}

}  // namespace convladder

// The inner product of the upper CPU stages: a tile of C in vector registers, whatever vectors the compiler may use.
#pragma once

#include <cstddef>
#include <utility>

namespace register_tile {

// As many sums as fill all vector registers but three, which hold two vectors of B and one element of A.
#if defined(__AVX512F__)
constexpr int kLanes = 16;
constexpr int kRows = 14;  // of 32 registers
#elif defined(__AVX__)
constexpr int kLanes = 8;
constexpr int kRows = 6;  // of 16 registers
#elif defined(__aarch64__)
constexpr int kLanes = 4;
constexpr int kRows = 14;
#else
constexpr int kLanes = 4;
constexpr int kRows = 6;
#endif
constexpr int kVectors = 2;
constexpr int kColumns = kVectors * kLanes;

using Vector [[gnu::vector_size(kLanes * sizeof(float))]] = float;
/// Floats in memory as vectors: they may begin at any address, and what lies there are floats.
using Stored [[gnu::vector_size(kLanes * sizeof(float)), gnu::aligned(alignof(float)), gnu::may_alias]] = float;

inline Vector load(const float* from) { return *reinterpret_cast<const Stored*>(from); }
inline void store(float* to, Vector value) { *reinterpret_cast<Stored*>(to) = value; }

/// Where a factor of the product lies: element (i, k) of A at data[i * row + k * step], a row of B at data + k * step.
struct Left {
  const float* data;
  std::size_t row;
  std::size_t step;
};
struct Right {
  const float* data;
  std::size_t step;
};
/// Where a product goes: `columns` of the tile belong to C, the others are computed and dropped. The first part of the
/// depth is stored, the others are added.
struct Target {
  float* data;
  std::size_t row;
  int columns;
  bool is_first;
};

/// Computes c (rows x kColumns) = or += a (rows x depth) * b (depth x kColumns). All of b's kColumns columns are read.
template <int rows>
[[gnu::always_inline]] inline void multiply(const Left& a, const Right& b, int depth, const Target& c) {
  Vector sums[rows][kVectors] = {};
  const float* factors = a.data;
  const float* row = b.data;
  for (int k = 0; k < depth; ++k) {
    Vector values[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) values[v] = load(row + v * kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const float factor = factors[i * a.row];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sums[i][v] += factor * values[v];
    }
    factors += a.step;
    row += b.step;
  }
  if (c.columns == kColumns) {
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        float* const to = c.data + i * c.row + v * kLanes;
        store(to, c.is_first ? sums[i][v] : load(to) + sums[i][v]);
      }
    }
    return;
  }
  float part[rows * kColumns];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) store(part + i * kColumns + v * kLanes, sums[i][v]);
  }
  for (int i = 0; i < rows; ++i) {
    float* const to = c.data + i * c.row;
    for (int j = 0; j < c.columns; ++j) to[j] = c.is_first ? part[i * kColumns + j] : to[j] + part[i * kColumns + j];
  }
}

/// Calls `function.template operator()<rows>()` for 1 <= rows <= kRows, which are known only when the program runs.
template <typename Function, std::size_t... index>
void with_rows(int rows, const Function& function, std::index_sequence<index...> /*all*/) {
  static_cast<void>(
      ((rows == static_cast<int>(index) + 1 && (function.template operator()<index + 1>(), true)) || ...));
}
template <typename Function>
void with_rows(int rows, const Function& function) {
  if (rows == kRows) return function.template operator()<kRows>();
  with_rows(rows, function, std::make_index_sequence<kRows - 1>());
}

}  // namespace register_tile

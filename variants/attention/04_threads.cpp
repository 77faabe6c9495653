// @title Every core
// @hypothesis All cores pack keys and values, then all take tiles of queries from one list until it is empty.
//
// The stage below on all cores. Each head has its own packed keys and values, so the cores wait for each other once
// instead of once for each head. Then every tile of 14 queries of every head is a task of its own; a core takes four at
// a time, mostly of the same head, whose keys and values it has in its cache already. That relieves the arithmetic, by
// as many cores as there are.
//
// When it loses: one short head is a few tasks only, and starting the threads takes some microseconds.
#include <omp.h>

#include "query_tile.hpp"

using namespace attention;

extern "C" void solve(const float* q, const float* k, const float* v, float* out, float scale, int H, int S, int D) {
  static register_tile::Buffer keys;
  static register_tile::Buffer values;
  float* const all_keys = keys.at_least(H * key_floats(S, D));
  float* const all_values = values.at_least(H * value_floats(S, D));
  const auto head_of = [&](int h) {
    return Head{all_keys + h * key_floats(S, D), all_values + h * value_floats(S, D)};
  };

#pragma omp parallel
  {
#pragma omp for schedule(static) collapse(2) nowait
    for (int h = 0; h < H; ++h) {
      for (int j = 0; j < S; j += kColumns) pack_keys(k + static_cast<std::size_t>(h) * S * D, head_of(h), j, S, D);
    }
#pragma omp for schedule(static) collapse(2)
    for (int h = 0; h < H; ++h) {
      for (int d = 0; d < D; d += kColumns) pack_values(v + static_cast<std::size_t>(h) * S * D, head_of(h), d, S, D);
    }
#pragma omp for schedule(dynamic, 4) collapse(2)
    for (int h = 0; h < H; ++h) {
      for (int i = 0; i < S; i += kRows) {
        const std::size_t place = (static_cast<std::size_t>(h) * S + i) * D;
        register_tile::with_rows(std::min(kRows, S - i),
                                 [&]<int rows>() { attend<rows>(q + place, head_of(h), out + place, scale, S, D); });
      }
    }
  }
}

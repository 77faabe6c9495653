// @title Two loops
// @hypothesis every store is a cache line of its own
//
// As the definition reads: rows of x in order, each element to its place in y. Loads are in order; neighbouring stores
// lie R floats apart.
//
// What it costs: each store fetches a line of 64 bytes for 4 of them. The line would be used again for the next row of
// x, but by then C other lines have been touched: with C lines larger than the cache it is gone, and fetched and
// written back sixteen times in all. If R is a power of two it is worse, since the lines then share a few sets of the
// cache.
#include <cstddef>

extern "C" void solve(const float* x, float* y, int R, int C) {
  for (int r = 0; r < R; ++r) {
    for (int c = 0; c < C; ++c) y[static_cast<std::size_t>(c) * R + r] = x[static_cast<std::size_t>(r) * C + c];
  }
}

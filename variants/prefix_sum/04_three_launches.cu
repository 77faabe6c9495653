// @title All multiprocessors, three launches
// @hypothesis the tiles are scanned by as many blocks, so the memory's rate binds instead of one block's barriers
//
// A tile of 1024 numbers needs nothing of the others but one number: the sum of all before it. So every tile gets a
// block. The first launch scans each tile for itself and keeps its sum; the second scans these sums, a thousandth of
// the numbers, in one block as in stage 3; the third adds to each tile what is before it. That relieves everything that
// bound one multiprocessor, by as many as there are.
//
// When it loses: each number is now read and written twice, where stage 3 did so once: four transfers where two would
// do. For a few tiles two more launches cost more than one block takes for all.
#include "kept_memory.hpp"
#include "tree_scan.hpp"

__global__ void __launch_bounds__(kTreeThreads) scan_tiles(const int32_t* x, int32_t* y, int32_t* sums, int n) {
  const int32_t sum = scan_tree_tile<PaddedPlaces>(x, y, n, blockIdx.x * kTreeTile, 0);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(kTreeThreads) scan_sums(const int32_t* sums, int32_t* sums_up_to, int tiles) {
  scan_tree_tiles<PaddedPlaces>(sums, sums_up_to, tiles);
}

/// Adds the sums: block b serves tile b + 1, since there is nothing before the first one.
__global__ void __launch_bounds__(kTreeThreads) add_sums(const int32_t* sums_up_to, int32_t* y, int n) {
  const int32_t before = sums_up_to[blockIdx.x];
  const int first = (blockIdx.x + 1) * kTreeTile + threadIdx.x;
  const int second = first + kTreeThreads;
  if (first < n) y[first] += before;
  if (second < n) y[second] += before;
}

extern "C" void solve(const int32_t* x, int32_t* y, int N) {
  const int tiles = quotient(N, kTreeTile);
  int32_t* sums = kept_memory<int32_t>(2 * static_cast<std::size_t>(tiles));
  if (sums == nullptr) return;
  scan_tiles<<<tiles, kTreeThreads>>>(x, y, sums, N);
  if (tiles == 1) return;
  scan_sums<<<1, kTreeThreads>>>(sums, sums + tiles, tiles);
  add_sums<<<tiles - 1, kTreeThreads>>>(sums + tiles, y, N);
}

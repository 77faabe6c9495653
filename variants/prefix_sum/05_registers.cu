// @title Tiles in registers
// @hypothesis shuffles inside a warp replace the tree in shared memory, and two barriers its twenty
// @parameter ROUNDS 4 2 8
//
// Against stage 4 a thread holds sixteen numbers in four vectors of four. It adds up each vector on its own, the lanes
// of a warp pass their sums on by shuffles, from register to register, and only the sum of each warp goes through
// shared memory. The tiles have 4096 numbers, so there are a quarter as many sums for the second launch, and each load
// and store moves 16 bytes. That relieves the shared memory and the barriers, behind which most of a block waited, and
// the issue slots.
//
// When it loses: large tiles are few tiles, too few for all multiprocessors where the input is small; and what is left
// to scan behind its end is wasted. The transfers are those of stage 4: four where two would do.
#include "kept_memory.hpp"
#include "register_tile.hpp"

__global__ void __launch_bounds__(kThreads)
    scan_tiles(const int32_t* x, int32_t* y, int32_t* sums, int n, bool aligned) {
  const int begin = blockIdx.x * kTile;
  RegisterTile tile = load_tile(x, n, begin, aligned);
  const int32_t sum = scan_tile(tile);
  store_tile(tile, 0, y, n, begin, aligned);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(kThreads) scan_sums(const int32_t* sums, int32_t* sums_up_to, int tiles) {
  scan_register_tiles(sums, sums_up_to, tiles);
}

/// Adds the sums: block b serves tile b + 1, since there is nothing before the first one.
__global__ void __launch_bounds__(kThreads) add_sums(const int32_t* sums_up_to, int32_t* y, int n, bool aligned) {
  const int begin = (blockIdx.x + 1) * kTile;
  store_tile(load_tile(y, n, begin, aligned), sums_up_to[blockIdx.x], y, n, begin, aligned);
}

extern "C" void solve(const int32_t* x, int32_t* y, int N) {
  const int tiles = quotient(N, kTile);
  const int rows = (tiles + 3) / 4 * 4;  // so that both rows of sums begin at a multiple of 16 bytes
  int32_t* sums = kept_memory<int32_t>(2 * static_cast<std::size_t>(rows));
  if (sums == nullptr) return;
  const bool aligned = are_aligned(x, y);
  scan_tiles<<<tiles, kThreads>>>(x, y, sums, N, aligned);
  if (tiles == 1) return;
  scan_sums<<<1, kThreads>>>(sums, sums + rows, tiles);
  add_sums<<<tiles - 1, kThreads>>>(sums + rows, y, N, aligned);
}

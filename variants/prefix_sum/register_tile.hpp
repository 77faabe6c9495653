// A tile in the registers of a block, scanned with shuffles. The stages from 05 on share it.
#pragma once

#include <cstdint>

constexpr int kWarps = 8;
constexpr int kThreads = 32 * kWarps;

#ifndef ROUNDS
#define ROUNDS 4
#endif
constexpr int kRounds = ROUNDS;              // vectors of four that a thread holds
constexpr int kWarpTile = 4 * 32 * kRounds;  // numbers of a warp
constexpr int kTile = kWarps * kWarpTile;    // numbers of a block

/// A thread's part of a tile. Round r of a warp is 128 consecutive numbers, four for each lane, and its rounds follow
/// each other: the loads of a warp are consecutive, and so are the numbers that it scans.
struct RegisterTile {
  int4 part[kRounds];
};

/// Whether vectors of four may be loaded from x and stored to y: both begin at multiples of 16 bytes.
inline bool are_aligned(const void* x, const void* y) {
  return (reinterpret_cast<std::uintptr_t>(x) | reinterpret_cast<std::uintptr_t>(y)) % 16 == 0;
}

/// Where a thread's part of a round begins, for a tile that begins at `begin`.
__device__ inline int part_begin(int begin, int round) {
  const int thread = threadIdx.x;
  return begin + thread / 32 * kWarpTile + round * 4 * 32 + thread % 32 * 4;
}

/// Loads a thread's part of a tile, with zeros behind the end of the input.
__device__ inline RegisterTile load_tile(const int32_t* x, int n, int begin, bool aligned) {
  RegisterTile tile;
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    const int i = part_begin(begin, round);
    if (aligned && i + 4 <= n) {
      tile.part[round] = *reinterpret_cast<const int4*>(x + i);
    } else {
      tile.part[round] = make_int4(i < n ? x[i] : 0, i + 1 < n ? x[i + 1] : 0, i + 2 < n ? x[i + 2] : 0,  //
                                   i + 3 < n ? x[i + 3] : 0);
    }
  }
  return tile;
}

/// Stores a thread's part of a tile, as far as there are numbers, with `before` added to each.
__device__ inline void store_tile(const RegisterTile& tile, int32_t before, int32_t* y, int n, int begin,
                                  bool aligned) {
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    const int i = part_begin(begin, round);
    int4 part = tile.part[round];
    part = make_int4(part.x + before, part.y + before, part.z + before, part.w + before);
    if (aligned && i + 4 <= n) {
      *reinterpret_cast<int4*>(y + i) = part;
    } else {
      if (i < n) y[i] = part.x;
      if (i + 1 < n) y[i + 1] = part.y;
      if (i + 2 < n) y[i + 2] = part.z;
      if (i + 3 < n) y[i + 3] = part.w;
    }
  }
}

/// The sum of the values of all lanes up to and including this one.
__device__ inline int32_t scan_warp(int32_t sum) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const int32_t before = __shfl_up_sync(0xffffffff, sum, step);
    if (lane >= step) sum += before;
  }
  return sum;
}

/// The sums of a block's warps, exchanged through shared memory: `before` is the sum of the warps before this one,
/// `all` that of all warps.
struct WarpSums {
  int32_t before;
  int32_t all;
};
__device__ inline WarpSums sums_of_warps(int32_t of_this_warp) {
  __shared__ int32_t of_warps[kWarps];
  const int warp = threadIdx.x / 32;
  __syncthreads();  // everyone has read the sums of the previous tile
  if (threadIdx.x % 32 == 0) of_warps[warp] = of_this_warp;
  __syncthreads();
  WarpSums sums{0, 0};
#pragma unroll
  for (int other = 0; other < kWarps; ++other) {
    if (other == warp) sums.before = sums.all;
    sums.all += of_warps[other];
  }
  return sums;
}

/// Replaces each number by the sum up to it inside the tile, and returns the sum of all.
__device__ inline int32_t scan_tile(RegisterTile& tile) {
  int32_t carry = 0;  // sum of this warp's rounds so far
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    int4& part = tile.part[round];
    part.y += part.x;
    part.z += part.y;
    part.w += part.z;
    const int32_t up_to = scan_warp(part.w);
    const int32_t before = up_to - part.w + carry;
    part = make_int4(part.x + before, part.y + before, part.z + before, part.w + before);
    carry += __shfl_sync(0xffffffff, up_to, 31);
  }
  const WarpSums sums = sums_of_warps(carry);
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    int4& part = tile.part[round];
    part = make_int4(part.x + sums.before, part.y + sums.before, part.z + sums.before, part.w + sums.before);
  }
  return sums.all;
}

/// Scans all numbers with one block, a tile at a time, and carries the sum.
__device__ inline void scan_register_tiles(const int32_t* x, int32_t* y, int n) {
  int32_t carry = 0;
  for (int begin = 0; begin < n; begin += kTile) {
    RegisterTile tile = load_tile(x, n, begin, true);
    const int32_t sum = scan_tile(tile);
    store_tile(tile, carry, y, n, begin, true);
    carry += sum;
  }
}

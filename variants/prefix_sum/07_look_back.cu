// @title Looking back
// @hypothesis each block asks those before it instead of waiting for a launch, so each number is read once and written
// once
// @parameter ROUNDS 4 2 8
//
// The decoupled look-back of Merrill and Garland. There is one launch. A block scans its tile in registers and
// publishes its sum at once. Then it looks back: each tile before it has published its own sum or, better, the sum up
// to and including it. The block adds up sums, 32 tiles at a look, until it meets one of the second kind, publishes its
// own as such, and stores. Since the blocks before are at work at the same time, few of them have to be looked at. What
// is left is one read and one write for each number, the least that there can be. That relieves the memory.
//
// A block must never wait for one that has not begun, which might not begin before this one ends: so the tiles are
// dealt out by a counter, in the order in which the blocks begin.
//
// When it loses: the chain from block to block takes some time for each step, so inputs of few tiles gain only the
// launches. The published sums have to be cleared before each call, which is a small launch of its own.
#include "kept_memory.hpp"
#include "register_tile.hpp"

/// How much a tile has published. It is packed with a sum into one word, so that whoever sees one sees the other.
enum Known : uint32_t { kNothing = 0, kSum = 1, kSumUpTo = 2 };
using State = unsigned long long;

__device__ inline State make_state(Known known, int32_t sum) {
  return static_cast<State>(known) << 32 | static_cast<uint32_t>(sum);
}
__device__ inline uint32_t known_of(State state) { return static_cast<uint32_t>(state >> 32); }

/// The sum of all tiles before `tile`, which is above 0. The lanes of a warp look at 32 tiles at a time.
__device__ int32_t sum_before(const volatile State* states, int tile) {
  const int lane = threadIdx.x % 32;
  int32_t sum = 0;
  for (int first = tile - 1;; first -= 32) {
    const int other = first - lane;
    State state = make_state(kSumUpTo, 0);  // nothing is before the first tile
    do {
      if (other >= 0) state = states[other];
    } while (__any_sync(0xffffffff, known_of(state) == kNothing));
    const unsigned up_to = __ballot_sync(0xffffffff, known_of(state) == kSumUpTo);
    const int nearest = up_to == 0 ? 31 : __ffs(up_to) - 1;
    const int32_t mine = lane <= nearest ? static_cast<int32_t>(static_cast<uint32_t>(state)) : 0;
    sum += __reduce_add_sync(0xffffffff, mine);
    if (up_to != 0) return sum;
  }
}

__global__ void __launch_bounds__(kThreads)
    look_back(const int32_t* x, int32_t* y, volatile State* states, unsigned* begun, int n, bool aligned) {
  __shared__ int tile_number;
  __shared__ int32_t before_tile;
  const int thread = threadIdx.x;
  if (thread == 0) tile_number = atomicAdd(begun, 1);
  __syncthreads();
  const int number = tile_number;

  RegisterTile tile = load_tile(x, n, number * kTile, aligned);
  const int32_t sum = scan_tile(tile);
  if (thread < 32) {
    if (thread == 0) states[number] = make_state(number == 0 ? kSumUpTo : kSum, sum);
    const int32_t before = number == 0 ? 0 : sum_before(states, number);
    if (thread == 0) {
      if (number > 0) states[number] = make_state(kSumUpTo, before + sum);
      before_tile = before;
    }
  }
  __syncthreads();
  store_tile(tile, before_tile, y, n, number * kTile, aligned);
}

extern "C" void solve(const int32_t* x, int32_t* y, int N) {
  const int tiles = quotient(N, kTile);
  State* states = kept_memory<State>(static_cast<std::size_t>(tiles) + 1);  // the last one is the counter
  if (states == nullptr) return;
  cudaMemsetAsync(states, 0, (static_cast<std::size_t>(tiles) + 1) * sizeof(State));
  look_back<<<tiles, kThreads>>>(x, y, states, reinterpret_cast<unsigned*>(states + tiles), N, are_aligned(x, y));
}

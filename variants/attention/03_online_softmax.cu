// @title Tiles of keys, and the softmax as they come
// @hypothesis Eight queries share each tile of keys and values, and no score is kept: any length, an eighth of the
// reads.
//
// A block of eight warps takes eight queries, one for each warp, and walks over the keys in tiles of 32, which it
// copies into shared memory with their values. A lane computes the whole product with one key, so nothing is shuffled
// for it. The scores of a tile become weights relative to the largest score so far; where a new tile has a larger one,
// what was added up is multiplied by e^(old - new) first. Then the lanes take columns of v, and each weight comes to
// all of them by a shuffle. Against the stage below k and v come from the L2 once for eight queries, and there is no
// row of scores, whatever S is. That relieves the path to the L2 and the barriers.
//
// When it loses: every multiply-add of the products loads from shared memory, a float of the lane's key for each and
// four of the query at a time, and every one of the sums a float of v and a shuffle. Shared memory sets the pace. Rows
// of keys are padded by one float, so that lanes, which have a row each, are in different banks.
#include <cmath>
#include <cstddef>

constexpr int warps = 8;  // and as many queries of a block
constexpr int threads = warps * 32;
constexpr int keys = 32;  // keys of a tile: one for each lane
constexpr int most_width = 128;

/// `columns` is D / 32, rounded up. Dynamic shared memory: keys of a tile, values of a tile, queries of the block.
template <int columns>
__global__ void __launch_bounds__(threads)
    attend_online(const float* q, const float* k, const float* v, float* out, float scale, int S, int D) {
  constexpr int width = columns * 32;
  constexpr int pitch = width + 1;
  __shared__ float k_tile[keys * pitch];
  __shared__ float v_tile[keys * width];
  __shared__ float queries[warps * width];
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  const int lane = thread % 32;
  const std::size_t head = static_cast<std::size_t>(blockIdx.y) * S * D;
  const int first_query = static_cast<int>(blockIdx.x) * warps;

  for (int n = thread; n < warps * width; n += threads) {
    const int query = first_query + n / width;
    const int d = n % width;
    queries[n] = query < S && d < D ? scale * q[head + static_cast<std::size_t>(query) * D + d] : 0.0F;
  }
  float largest = -INFINITY;
  float total = 0.0F;
  float sums[columns] = {};
  for (int first = 0; first < S; first += keys) {
    __syncthreads();  // everyone is done with the previous tile; the queries are complete
    for (int n = thread; n < keys * width; n += threads) {
      const int key = n / width;
      const int d = n % width;
      const bool is_inside = first + key < S && d < D;
      const std::size_t place = head + static_cast<std::size_t>(first + key) * D + d;
      k_tile[key * pitch + d] = is_inside ? k[place] : 0.0F;
      v_tile[n] = is_inside ? v[place] : 0.0F;
    }
    __syncthreads();  // the tile is complete

    float score = 0.0F;
#pragma unroll 8
    for (int d = 0; d < width; ++d) score += queries[warp * width + d] * k_tile[lane * pitch + d];
    if (first + lane >= S) score = -INFINITY;
    float tile_largest = score;
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
      tile_largest = fmaxf(tile_largest, __shfl_xor_sync(0xFFFFFFFF, tile_largest, step));
    }
    const float before = largest;
    largest = fmaxf(largest, tile_largest);
    const float factor = expf(before - largest);
    const float weight = expf(score - largest);
    total = total * factor + weight;  // the sum of this lane's keys
#pragma unroll
    for (int n = 0; n < columns; ++n) sums[n] *= factor;
#pragma unroll
    for (int key = 0; key < keys; ++key) {
      const float of_key = __shfl_sync(0xFFFFFFFF, weight, key);
#pragma unroll
      for (int n = 0; n < columns; ++n) sums[n] += of_key * v_tile[key * width + n * 32 + lane];
    }
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(0xFFFFFFFF, total, step);
  const int query = first_query + warp;
  if (query >= S) return;
#pragma unroll
  for (int n = 0; n < columns; ++n) {
    const int d = n * 32 + lane;
    if (d < D) out[head + static_cast<std::size_t>(query) * D + d] = sums[n] / total;
  }
}

extern "C" void solve(const float* q, const float* k, const float* v, float* out, float scale, int H, int S, int D) {
  static_assert(most_width == 128, "the problem's largest D");
  const dim3 grid((S + warps - 1) / warps, H);
  switch ((D + 31) / 32) {
    case 1:
      attend_online<1><<<grid, threads>>>(q, k, v, out, scale, S, D);
      break;
    case 2:
      attend_online<2><<<grid, threads>>>(q, k, v, out, scale, S, D);
      break;
    case 3:
      attend_online<3><<<grid, threads>>>(q, k, v, out, scale, S, D);
      break;
    default:
      attend_online<4><<<grid, threads>>>(q, k, v, out, scale, S, D);
      break;
  }
}

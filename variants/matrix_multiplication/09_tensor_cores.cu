// @title Tensor cores, three products for one
// @builds-on vectors
// @hypothesis A float is two tf32 numbers: three of their four products on tensor cores keep the accuracy of float32.
//
// Tensor cores take factors of tf32: 11 bits of a float's 24, which this problem's tolerance does not allow. So each
// element is written as the sum of two, high = tf32(x) and low = tf32(x - high), when it is put into shared memory. Of
// (high + low) * (high' + low') the product of the two low parts is smaller than a float's last bit and left out; the
// other three are added by mma.sync, the small ones first. A tensor core makes 8 or more times as many products as the
// other units of a multiprocessor, so there is more than a factor of two left. That relieves the arithmetic.
//
// A tensor core does not round what it adds, it cuts: along a deep product that adds up in one direction. The sums of
// each step of 16 therefore begin at zero and are added to the others by ordinary additions, which round.
//
// When it loses: GPUs before sm_80 have no tf32. The split parts take twice the shared memory and two registers for
// each element. Infinities become NaN, since infinity - infinity is one; a library would have to look after that.
#include <cstdint>

#include "vector_tiles.cuh"

using namespace vector_tiles;

constexpr int tile = 64;       // rows and columns of C for a block
constexpr int depth = 16;      // depth of a step
constexpr int warp_side = 32;  // rows and columns of C for a warp
constexpr int warps_across = tile / warp_side;
constexpr int threads = warps_across * warps_across * 32;
constexpr int quads = tile * depth / 4 / threads;  // vectors of A and of B for each thread
// Rows of pairs (high, low): four rows further is four pairs of banks further, so half a warp reads without a conflict.
constexpr int a_pitch = depth + 4;
constexpr int b_pitch = tile + 4;

__device__ inline float2 split(float value) {
  std::uint32_t high = 0;
  std::uint32_t low = 0;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(high) : "f"(value));
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(low) : "f"(value - __uint_as_float(high)));
  return make_float2(__uint_as_float(high), __uint_as_float(low));
}

__device__ inline void put_split(float2* to, float4 quad) {
  const float2 x = split(quad.x);
  const float2 y = split(quad.y);
  const float2 z = split(quad.z);
  const float2 w = split(quad.w);
  reinterpret_cast<float4*>(to)[0] = make_float4(x.x, x.y, y.x, y.y);
  reinterpret_cast<float4*>(to)[1] = make_float4(z.x, z.y, w.x, w.y);
}

/// Computes sums (16 x 8) += a (16 x 8) * b (8 x 8), by a warp.
__device__ inline void mma(float (&sums)[4], const float (&a)[4], const float (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])), "r"(__float_as_uint(a[3])),
        "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
}

/// Two neighbouring elements of a row that ends `left` elements further on.
template <bool vectors>
__device__ inline void store_two(float* to, int left, const float* values) {
  if constexpr (vectors) {
    *reinterpret_cast<float2*>(to) = make_float2(values[0], values[1]);
  } else {
    to[0] = values[0];
    if (left > 1) to[1] = values[1];
  }
}

template <bool vectors>
__global__ void __launch_bounds__(threads) multiply_tensor_cores(Problem p) {
  __shared__ __align__(16) float2 a_tile[tile][a_pitch];
  __shared__ __align__(16) float2 b_tile[depth][b_pitch];
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  const int first_row = static_cast<int>(blockIdx.y) * tile;
  const int first_column = static_cast<int>(blockIdx.x) * tile;
  const int row = warp / warps_across * warp_side;
  const int column = warp % warps_across * warp_side;
  // The lane's part of a 16 x 8 product's elements.
  const int group = thread % 32 / 4;
  const int member = thread % 4;

  float sums[2][4][4] = {};
  for (int k0 = 0; k0 < p.K; k0 += depth) {
    float4 a_quads[quads];
    float4 b_quads[quads];
#pragma unroll
    for (int n = 0; n < quads; ++n) {
      const int place = n * threads + thread;
      a_quads[n] = load_four<vectors>(p.a, p.M, p.K, first_row + place / (depth / 4), k0 + place % (depth / 4) * 4);
      b_quads[n] = load_four<vectors>(p.b, p.K, p.N, k0 + place / (tile / 4), first_column + place % (tile / 4) * 4);
    }
    __syncthreads();  // everyone is done with the previous tiles
#pragma unroll
    for (int n = 0; n < quads; ++n) {
      const int place = n * threads + thread;
      put_split(&a_tile[place / (depth / 4)][place % (depth / 4) * 4], a_quads[n]);
      put_split(&b_tile[place / (tile / 4)][place % (tile / 4) * 4], b_quads[n]);
    }
    __syncthreads();  // both tiles are complete before anyone reads them

    float step[2][4][4] = {};
#pragma unroll
    for (int k = 0; k < depth; k += 8) {
      float a_high[2][4];
      float a_low[2][4];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int n = 0; n < 4; ++n) {
          const float2 value = a_tile[row + i * 16 + n % 2 * 8 + group][k + n / 2 * 4 + member];
          a_high[i][n] = value.x;
          a_low[i][n] = value.y;
        }
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        float b_high[2];
        float b_low[2];
#pragma unroll
        for (int n = 0; n < 2; ++n) {
          const float2 value = b_tile[k + n * 4 + member][column + j * 8 + group];
          b_high[n] = value.x;
          b_low[n] = value.y;
        }
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          mma(step[i][j], a_low[i], b_high);
          mma(step[i][j], a_high[i], b_low);
          mma(step[i][j], a_high[i], b_high);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
#pragma unroll
        for (int n = 0; n < 4; ++n) sums[i][j][n] += step[i][j][n];
      }
    }
  }

  const std::size_t columns = static_cast<std::size_t>(p.N);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int to_row = first_row + row + i * 16 + half * 8 + group;
        const int to_column = first_column + column + j * 8 + member * 2;
        if (to_row < p.M && to_column < p.N) {
          store_two<vectors>(p.c + to_row * columns + to_column, p.N - to_column, sums[i][j] + half * 2);
        }
      }
    }
  }
}

extern "C" void solve(const float* a, const float* b, float* c, int M, int N, int K) {
  const Problem problem{a, b, c, M, N, K};
  const dim3 grid((N + tile - 1) / tile, (M + tile - 1) / tile);
  if (has_vectors(problem)) {
    multiply_tensor_cores<true><<<grid, threads>>>(problem);
  } else {
    multiply_tensor_cores<false><<<grid, threads>>>(problem);
  }
}

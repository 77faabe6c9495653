// The common code of the stages on tensor cores: products of small matrices by a whole warp, for .cu files.
//
// Fragments as in the PTX ISA, "Matrix Fragments for mma.m16n8k8" (tf32) and "m16n8k16" (f16). With g = lane / 4 and
// t = lane % 4 a lane holds slots t and t + 4 of maps g and g + 8 of A (16 maps x 8 slots), slots t and t + 4 of pixel
// g of B (8 slots x 8 pixels), and pixels 2t and 2t + 1 of maps g and g + 8 of the sums. A slot is 32 bits wide: one
// tap in tf32, two neighbouring taps in f16. So both types have the same layout.
#pragma once

#include "variants/convolution/cuda/matrix_tile_kernel.hpp"

namespace convladder {

enum class SlotType { tf32, half_pair };

/// The nearest number with tf32's 10 bits of fraction, rounding halves away from zero.
__device__ __forceinline__ unsigned to_tf32(float value) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return bits;
}

/// Two numbers in half precision, the first one in the lower 16 bits.
__device__ __forceinline__ unsigned to_half_pair(float first, float second) {
  unsigned bits;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(second), "f"(first));
  return bits;
}

/// sum += a * b, with sums in float32.
template <SlotType type>
__device__ __forceinline__ void multiply_matrices(float (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  if constexpr (type == SlotType::tf32) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
}

/// The distance of a tile's rows in shared memory, in words: 8 more than a multiple of 32, so that the 4 slots x 8 maps
/// or pixels of a fragment lie in 32 banks.
template <int elements>
inline constexpr int tensor_pitch = elements + 8;

/// The sums of a warp: `maps` output maps x 32 pixels.
template <SlotType type, int maps>
struct TensorTile {
  static constexpr int map_tiles = maps / 16;
  static constexpr int pixel_tiles = 4;

  float sums[map_tiles][pixel_tiles][4];
  int group;  ///< g
  int lane;   ///< t

  __device__ __forceinline__ TensorTile()
      : sums(), group(static_cast<int>(threadIdx.x) % 32 / 4), lane(static_cast<int>(threadIdx.x) % 4) {}

  /// Adds the product of 8 slots: `weights` are [slot][map] and `inputs` [slot][pixel], from the warp's first pixel on.
  template <int weight_pitch, int input_pitch>
  __device__ __forceinline__ void add_product(const unsigned* weights, const unsigned* inputs) {
    unsigned b[pixel_tiles][2];
#pragma unroll
    for (int j = 0; j < pixel_tiles; ++j) {
      b[j][0] = inputs[lane * input_pitch + j * 8 + group];
      b[j][1] = inputs[(lane + 4) * input_pitch + j * 8 + group];
    }
#pragma unroll
    for (int i = 0; i < map_tiles; ++i) {
      const unsigned a[4] = {
          weights[lane * weight_pitch + i * 16 + group], weights[lane * weight_pitch + i * 16 + group + 8],
          weights[(lane + 4) * weight_pitch + i * 16 + group], weights[(lane + 4) * weight_pitch + i * 16 + group + 8]};
#pragma unroll
      for (int j = 0; j < pixel_tiles; ++j) multiply_matrices<type>(sums[i][j], a, b[j]);
    }
  }

  /// Multiplies the sums of each map by `factors[map]`.
  __device__ __forceinline__ void scale(const float* factors) {
#pragma unroll
    for (int i = 0; i < map_tiles; ++i) {
#pragma unroll
      for (int part = 0; part < 2; ++part) {
        const float factor = factors[i * 16 + part * 8 + group];
#pragma unroll
        for (int j = 0; j < pixel_tiles; ++j) {
          sums[i][j][part * 2] *= factor;
          sums[i][j][part * 2 + 1] *= factor;
        }
      }
    }
  }

  /// Stores the sums: `to` is the warp's first pixel of the first map. Maps and pixels from `map_count` and
  /// `pixel_count` on do not exist. Pixels are stored two at a time where the maps begin at even addresses.
  __device__ __forceinline__ void store(float* to, int plane, int map_count, int pixel_count) const {
    const bool even = plane % 2 == 0;
#pragma unroll
    for (int i = 0; i < map_tiles; ++i) {
#pragma unroll
      for (int j = 0; j < pixel_tiles; ++j) {
#pragma unroll
        for (int part = 0; part < 2; ++part) {
          const int map = i * 16 + part * 8 + group;
          const int pixel = j * 8 + lane * 2;
          float* const at = to + map * plane + pixel;
          if (map >= map_count) continue;
          if (even && pixel < pixel_count) {
            *reinterpret_cast<float2*>(at) = make_float2(sums[i][j][part * 2], sums[i][j][part * 2 + 1]);
          } else {
            if (pixel < pixel_count) at[0] = sums[i][j][part * 2];
            if (pixel + 1 < pixel_count) at[1] = sums[i][j][part * 2 + 1];
          }
        }
      }
    }
  }
};

/// Where a block of the product works; every stage on tensor cores begins with it.
template <int maps, int pixels>
struct TensorBlock {
  const TapPlace* places;
  const float* weights;  ///< [tap][map] for the block's maps
  float* output;         ///< the warp's first pixel of the block's first map
  InputColumn column;    ///< the column that the thread gathers
  int plane;             ///< elements of an output map
  int map_count;         ///< maps from the block's first to the group's last
  int pixel_count;       ///< pixels from the warp's first to the last
  int warp_pixel;        ///< the warp's first pixel, counted in the block

  __device__ __forceinline__ TensorBlock(const float* x, const float* w, float* y, const LayerSizes& sizes,
                                         const MatrixTiling& tiling)
      : places(reinterpret_cast<const TapPlace*>(w)),
        weights(w + tiling.taps * floats_per_tap_place + static_cast<int>(blockIdx.y) * tiling.taps * maps),
        column(image_of(x, sizes, tiling), sizes, static_cast<int>(blockIdx.z * pixels + threadIdx.x)) {
    const int group = static_cast<int>(blockIdx.y) / tiling.map_tiles;
    const int map = static_cast<int>(blockIdx.y) % tiling.map_tiles * maps;
    warp_pixel = static_cast<int>(threadIdx.x) / 32 * 32;
    const int pixel = static_cast<int>(blockIdx.z) * pixels + warp_pixel;
    plane = sizes.out_height * sizes.out_width;
    map_count = sizes.maps_per_group - map;
    pixel_count = plane - pixel;
    output = y + static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(sizes.out_channels * plane) +
             (group * sizes.maps_per_group + map) * plane + pixel;
  }

 private:
  /// The first channel of the group in the image.
  static __device__ __forceinline__ const float* image_of(const float* x, const LayerSizes& sizes,
                                                          const MatrixTiling& tiling) {
    const int plane = sizes.height * sizes.width;
    return x + static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(sizes.in_channels * plane) +
           static_cast<int>(blockIdx.y) / tiling.map_tiles * sizes.channels_per_group * plane;
  }
};

}  // namespace convladder

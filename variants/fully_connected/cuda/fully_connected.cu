// The fully connected layer: output[image][o] = sum over i of weights[o][i] * input[image][i], plus bias[o].
//
// The bottleneck depends on the batch. A weight is used once for each image: for one image AlexNet's first such layer
// reads 151 MB for 75 MFLOP, and only the bandwidth of the weights matters; with many images it is a matrix product. So
// there are two kernels, and the launch plan chooses:
// - a warp per output, for small batches and for few outputs: 32 lanes read a row of weights side by side and keep the
//   sums of some images in registers, which get every weight that was read;
// - tiles of 64 images x 64 outputs, for the rest: both operands go through shared memory, and a thread's 4x4 sums use
//   each number that it reads from there four times.
#include "variants/accuracy.hpp"
#include "variants/kernel_launches.hpp"
#include "variants/layer_shapes.hpp"

namespace convladder {

/// Grid (groups of `images` images, groups of blockDim.x / 32 outputs). `bias` may be null.
template <int images>
__global__ void fully_connected_warp(const float* x, const float* w, const float* bias, float* y, int inputs,
                                     int outputs, int batch) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int output = static_cast<int>(blockIdx.y * (blockDim.x / 32) + threadIdx.x / 32);
  if (output >= outputs) return;  // the whole warp returns
  const int first_image = static_cast<int>(blockIdx.x) * images;
  const int count = min(images, batch - first_image);
  w += static_cast<std::size_t>(output) * inputs;
  x += static_cast<std::size_t>(first_image) * inputs;
  y += static_cast<std::size_t>(first_image) * outputs;

  float sums[images] = {};
#pragma unroll 4
  for (int i = lane; i < inputs; i += 32) {
    const float weight = w[i];
#pragma unroll
    for (int image = 0; image < images; ++image) {
      if (image < count) sums[image] += weight * x[static_cast<std::size_t>(image) * inputs + i];
    }
  }
#pragma unroll
  for (int image = 0; image < images; ++image) {
    for (int distance = 16; distance > 0; distance /= 2) {
      sums[image] += __shfl_xor_sync(0xffffffff, sums[image], distance);
    }
    if (lane == 0 && image < count) {
      y[static_cast<std::size_t>(image) * outputs + output] = sums[image] + (bias == nullptr ? 0.0F : bias[output]);
    }
  }
}

constexpr int kTile = 64;          // images of a block, and also outputs of a block
constexpr int kStep = 32;          // inputs that are in shared memory at once
constexpr int kPitch = kTile + 4;  // spreads a column over the banks, and leaves rows aligned to 16 bytes
constexpr int kPerThread = 4;      // images of a thread, and also outputs of a thread
constexpr int kTileThreads = (kTile / kPerThread) * (kTile / kPerThread);

/// Copies rows [first_row, first_row + kTile) of a matrix [rows][columns], columns [first_column, first_column +
/// kStep), to shared memory, transposed; what lies outside of the matrix is 0.
__device__ __forceinline__ void load_tile(const float* matrix, int rows, int columns, int first_row, int first_column,
                                          float (*tile)[kPitch]) {
  const int column = static_cast<int>(threadIdx.x % kStep);
  for (int row = static_cast<int>(threadIdx.x) / kStep; row < kTile; row += kTileThreads / kStep) {
    const bool inside = first_row + row < rows && first_column + column < columns;
    tile[column][row] =
        inside ? matrix[static_cast<std::size_t>(first_row + row) * columns + first_column + column] : 0.0F;
  }
}

/// Grid (tiles of images, tiles of outputs) of kTileThreads threads. `bias` may be null.
__global__ void __launch_bounds__(kTileThreads) fully_connected_tile(const float* x, const float* w, const float* bias,
                                                                     float* y, int inputs, int outputs, int batch) {
  __shared__ __align__(16) float x_tile[kStep][kPitch];
  __shared__ __align__(16) float w_tile[kStep][kPitch];
  const int first_image = static_cast<int>(blockIdx.x) * kTile;
  const int first_output = static_cast<int>(blockIdx.y) * kTile;
  const int thread_image = static_cast<int>(threadIdx.x) / (kTile / kPerThread) * kPerThread;
  const int thread_output = static_cast<int>(threadIdx.x) % (kTile / kPerThread) * kPerThread;

  float sums[kPerThread][kPerThread] = {};
  for (int first_input = 0; first_input < inputs; first_input += kStep) {
    __syncthreads();  // everyone is done with the last step's tiles
    load_tile(x, batch, inputs, first_image, first_input, x_tile);
    load_tile(w, outputs, inputs, first_output, first_input, w_tile);
    __syncthreads();

    // Each step has sums of its own: chains stay short, and the rounding error does not grow with the number of inputs.
    float step[kPerThread][kPerThread] = {};
#pragma unroll 8
    for (int i = 0; i < kStep; ++i) {
#pragma unroll
      for (int image = 0; image < kPerThread; ++image) {
#pragma unroll
        for (int output = 0; output < kPerThread; ++output) {
          step[image][output] += x_tile[i][thread_image + image] * w_tile[i][thread_output + output];
        }
      }
    }
#pragma unroll
    for (int image = 0; image < kPerThread; ++image) {
#pragma unroll
      for (int output = 0; output < kPerThread; ++output) sums[image][output] += step[image][output];
    }
  }

#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
#pragma unroll
    for (int o = 0; o < kPerThread; ++o) {
      const int image = first_image + thread_image + i;
      const int output = first_output + thread_output + o;
      if (image >= batch || output >= outputs) continue;
      y[static_cast<std::size_t>(image) * outputs + output] = sums[i][o] + (bias == nullptr ? 0.0F : bias[output]);
    }
  }
}

namespace {

constexpr int kWarpsPerBlock = 8;
constexpr int kImagesPerWarp = 8;
constexpr int kLargestWarpBatch = 32;   // above this, rows of weights would be read too often
constexpr int kFewestTileOutputs = 32;  // below this, most of a tile would be empty

Dim3 grid(int image_groups, int output_groups) {
  return {static_cast<unsigned>(image_groups), static_cast<unsigned>(output_groups), 1};
}

std::vector<KernelLaunch> plan(const ProblemSize& size, const ProblemTensors& tensors) {
  const FullyConnectedLayer layer = fully_connected_layer(size);
  const auto launch = [&](auto kernel, Dim3 blocks, unsigned threads) {
    return std::vector{make_launch(kernel, blocks, Dim3{threads, 1, 1}, 0, tensors.input(), tensors.constant(),
                                   bias_of(layer, tensors), tensors.output(), layer.inputs, layer.outputs,
                                   layer.batch)};
  };
  if (layer.batch > kLargestWarpBatch && layer.outputs >= kFewestTileOutputs) {
    return launch(fully_connected_tile, grid(ceil_div(layer.batch, kTile), ceil_div(layer.outputs, kTile)),
                  kTileThreads);
  }
  const int output_groups = ceil_div(layer.outputs, kWarpsPerBlock);
  if (layer.batch == 1) return launch(fully_connected_warp<1>, grid(1, output_groups), 32 * kWarpsPerBlock);
  return launch(fully_connected_warp<kImagesPerWarp>, grid(ceil_div(layer.batch, kImagesPerWarp), output_groups),
                32 * kWarpsPerBlock);
}

const VariantRegistration registration{
    "fully-connected",
    {.family = "cuda",
     .rung = 1,
     .name = "warps-or-tiles",
     .title = "Warps or tiles",
     .builds_on = "",
     .hypothesis = "A warp per output while the weights' bandwidth decides, tiles in shared memory for large batches."},
    launch_variant(plan, tolerance::fully_connected)};

}  // namespace
}  // namespace convladder

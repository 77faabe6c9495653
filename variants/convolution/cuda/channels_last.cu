// The transposes around a convolution that wants its channels last.
//
// A block moves up to 32 channels of 64 pixels through shared memory, so that it reads and writes runs of neighbouring
// floats on both sides: 64 pixels of a channel in NCHW, and in NHWC its channels of a pixel, which with up to 32
// channels are one run for all of its pixels. A row of shared memory has a float more than it needs: lanes that walk
// along a column of 32 channels then use 32 different banks.
#include "variants/convolution/cuda/channels_last.hpp"

namespace convladder {

constexpr int transposed_channels = 32;
constexpr int transposed_pixels = 64;
constexpr int transposing_threads = 256;

/// The part of an image that a block moves.
struct TransposedTile {
  int channel, channels;  // the first one, and how many
  int pixel, pixels;

  __device__ explicit TransposedTile(const ChannelPlanes& planes, int tiles)
      : channel(static_cast<int>(blockIdx.y) * transposed_channels),
        channels(min(planes.channels - channel, transposed_channels)),
        pixel(static_cast<int>(blockIdx.x) % tiles * transposed_pixels),
        pixels(min(planes.pixels - pixel, transposed_pixels)) {}
};

/// Walks over the elements of a tile in the order of one layout, in runs of `length` elements: holds a thread's first
/// element and moves on without a division.
struct TileWalk {
  int outer, inner;
  int outer_step, inner_step, length;

  __device__ explicit TileWalk(int run)
      : outer(static_cast<int>(threadIdx.x) / run),
        inner(static_cast<int>(threadIdx.x) % run),
        outer_step(transposing_threads / run),
        inner_step(transposing_threads % run),
        length(run) {}
  __device__ void next() {
    outer += outer_step;
    inner += inner_step;
    if (inner >= length) {
      inner -= length;
      ++outer;
    }
  }
};

__global__ void __launch_bounds__(transposing_threads)
    channels_last_from_planes(const float* from, float* to, ChannelPlanes planes, int tiles) {
  __shared__ float values[transposed_channels][transposed_pixels + 1];
  const TransposedTile tile(planes, tiles);
  const auto image = static_cast<std::size_t>(static_cast<int>(blockIdx.x) / tiles) *
                     static_cast<std::size_t>(planes.channels) * static_cast<std::size_t>(planes.pixels);
  for (TileWalk at(tile.pixels); at.outer < tile.channels; at.next()) {
    values[at.outer][at.inner] = from[image + static_cast<std::size_t>(tile.channel + at.outer) * planes.pixels +
                                      static_cast<std::size_t>(tile.pixel + at.inner)];
  }
  __syncthreads();
  for (TileWalk at(tile.channels); at.outer < tile.pixels; at.next()) {
    to[image + static_cast<std::size_t>(tile.pixel + at.outer) * planes.channels +
       static_cast<std::size_t>(tile.channel + at.inner)] = values[at.inner][at.outer];
  }
}

__global__ void __launch_bounds__(transposing_threads)
    planes_from_channels_last(const float* from, float* to, ChannelPlanes planes, int tiles) {
  __shared__ float values[transposed_channels][transposed_pixels + 1];
  const TransposedTile tile(planes, tiles);
  const auto image = static_cast<std::size_t>(static_cast<int>(blockIdx.x) / tiles) *
                     static_cast<std::size_t>(planes.channels) * static_cast<std::size_t>(planes.pixels);
  for (TileWalk at(tile.channels); at.outer < tile.pixels; at.next()) {
    values[at.inner][at.outer] = from[image + static_cast<std::size_t>(tile.pixel + at.outer) * planes.channels +
                                      static_cast<std::size_t>(tile.channel + at.inner)];
  }
  __syncthreads();
  for (TileWalk at(tile.pixels); at.outer < tile.channels; at.next()) {
    to[image + static_cast<std::size_t>(tile.channel + at.outer) * planes.pixels +
       static_cast<std::size_t>(tile.pixel + at.inner)] = values[at.outer][at.inner];
  }
}

namespace {

KernelLaunch transposition(void (*kernel)(const float*, float*, ChannelPlanes, int), const ChannelPlanes& planes,
                           const float* from, float* to) {
  const int tiles = (planes.pixels + transposed_pixels - 1) / transposed_pixels;
  const Dim3 grid{static_cast<unsigned>(tiles) * static_cast<unsigned>(planes.images),
                  static_cast<unsigned>((planes.channels + transposed_channels - 1) / transposed_channels), 1};
  return make_launch(kernel, grid, {transposing_threads, 1, 1}, 0, from, to, planes, tiles);
}

}  // namespace

KernelLaunch to_channels_last(const ChannelPlanes& planes, const float* from, float* to) {
  return transposition(channels_last_from_planes, planes, from, to);
}

KernelLaunch from_channels_last(const ChannelPlanes& planes, const float* from, float* to) {
  return transposition(planes_from_channels_last, planes, from, to);
}

}  // namespace convladder

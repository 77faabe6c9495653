// Max pooling: a thread per output reads its window. Neighbouring threads read neighbouring windows, so that a warp's
// rows come in few transactions, and inputs that windows share come from the L1.
#include "variants/kernel_launches.hpp"
#include "variants/layer_shapes.hpp"

namespace convladder {

struct PoolSizes {
  int in_height;
  int in_width;
  int out_height;
  int out_width;
  int outputs_per_image;
  int inputs_per_image;
  int size;
  int stride;
};

__global__ void max_pool(const float* x, float* y, PoolSizes sizes, int blocks_per_image) {
  const std::size_t image = blockIdx.x / blocks_per_image;
  const int i = static_cast<int>(blockIdx.x % blocks_per_image * blockDim.x + threadIdx.x);
  if (i >= sizes.outputs_per_image) return;
  const int column = i % sizes.out_width;
  const int row = i / sizes.out_width % sizes.out_height;
  const int channel = i / (sizes.out_width * sizes.out_height);
  const float* window = x + image * sizes.inputs_per_image +
                        (channel * sizes.in_height + row * sizes.stride) * sizes.in_width + column * sizes.stride;
  float largest = window[0];
  for (int p = 0; p < sizes.size; ++p) {
    for (int q = 0; q < sizes.size; ++q) {
      const float value = window[p * sizes.in_width + q];
      if (value > largest || value != value) largest = value;  // a NaN is kept, and nothing is larger than it
    }
  }
  y[image * sizes.outputs_per_image + i] = largest;
}

namespace {

std::vector<KernelLaunch> plan(const ProblemSize& size, const ProblemTensors& tensors) {
  const Pooling layer = pooling_of(size);
  const std::size_t outputs = layer.output.elements();
  const PoolSizes sizes{layer.input.height,
                        layer.input.width,
                        layer.output.height,
                        layer.output.width,
                        static_cast<int>(outputs),
                        static_cast<int>(layer.input.elements()),
                        layer.size,
                        layer.stride};
  return {make_launch(max_pool, item_grid(size.batch, outputs), Dim3{kElementThreads, 1, 1}, 0, tensors.input(),
                      tensors.output(), sizes, blocks_per_item(outputs))};
}

const VariantRegistration registration{"max-pooling",
                                       {.family = "cuda",
                                        .rung = 1,
                                        .name = "thread-per-output",
                                        .title = "Thread per output",
                                        .builds_on = "",
                                        .hypothesis = "Each thread searches the window of one output."},
                                       launch_variant(plan, 0)};

}  // namespace
}  // namespace convladder

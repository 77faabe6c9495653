// Softmax: a warp per image passes over its elements three times, for the largest, which is subtracted so that no
// exponential overflows, for the exponentials and their sum, and for the quotients.
#include "variants/elementary_functions.hpp"
#include "variants/kernel_launches.hpp"
#include "variants/launch_limits.hpp"
#include "variants/operator_tolerances.hpp"

namespace convladder {

__global__ void softmax(const float* x, float* y, int classes, int batch) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const unsigned image = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (image >= static_cast<unsigned>(batch)) return;  // the whole warp returns
  x += static_cast<std::size_t>(image) * classes;
  y += static_cast<std::size_t>(image) * classes;

  float largest = -INFINITY;
  for (int i = lane; i < classes; i += 32) largest = max(largest, x[i]);
  for (int distance = 16; distance > 0; distance /= 2) {
    largest = max(largest, __shfl_xor_sync(0xffffffff, largest, distance));
  }
  float sum = 0.0F;
  for (int i = lane; i < classes; i += 32) {
    const float power = exponential(x[i] - largest);  // a NaN gives a NaN, and with it the sum and every output
    y[i] = power;  // only the same thread reads it again, and x[i] was read before: y may be x
    sum += power;
  }
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
  for (int i = lane; i < classes; i += 32) y[i] /= sum;
}

namespace {

constexpr int kWarpsPerBlock = 4;

std::vector<KernelLaunch> plan(const ProblemSize& size, const ProblemTensors& tensors) {
  const auto blocks = static_cast<unsigned>(ceil_div(size.batch, kWarpsPerBlock));
  return {make_launch(softmax, Dim3{blocks, 1, 1}, Dim3{32 * kWarpsPerBlock, 1, 1}, 0, tensors.input(),
                      tensors.output(), static_cast<int>(size.input_elements_per_item()), size.batch)};
}

const VariantRegistration registration{"softmax",
                                       {.family = "cuda",
                                        .rung = 1,
                                        .name = "warp-per-image",
                                        .title = "Warp per image",
                                        .builds_on = "",
                                        .hypothesis = "One warp per image computes maximum and sum with shuffles."},
                                       launch_variant(plan, tolerance::softmax)};

}  // namespace
}  // namespace convladder

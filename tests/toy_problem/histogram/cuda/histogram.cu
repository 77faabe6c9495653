// A block for each item: counts in shared memory. And the same, wrong in one way each.
#include "variants/launch_variant.hpp"

namespace convladder {

constexpr int kHistogramValues = 256;

/// 256 threads. `wrong`: 0 nothing; 1 the last count is never written; 2 a pixel is overwritten; 3 every count is one
/// too many for the last value of the last item.
__global__ void histogram_block(int pixels, unsigned char* input, int* counts, unsigned char* mode, int wrong) {
  __shared__ int shared[kHistogramValues];
  const int value = static_cast<int>(threadIdx.x);
  unsigned char* const of_item = input + static_cast<long long>(blockIdx.x) * pixels;
  shared[value] = 0;
  __syncthreads();
  for (int i = value; i < pixels; i += kHistogramValues) atomicAdd(&shared[of_item[i]], 1);
  __syncthreads();
  const bool last = value == kHistogramValues - 1;
  const int extra = wrong == 3 && last && blockIdx.x == gridDim.x - 1 ? 1 : 0;
  if (!(wrong == 1 && last)) counts[blockIdx.x * kHistogramValues + value] = shared[value] + extra;
  if (value == 0) {
    int most = 0;
    for (int i = 1; i < kHistogramValues; ++i) most = shared[i] > shared[most] ? i : most;
    mode[blockIdx.x] = static_cast<unsigned char>(most);
    if (wrong == 2) of_item[pixels - 1] ^= 1;
  }
}

namespace {

template <int kWrong>
std::vector<KernelLaunch> plan(const ProblemSize& size, const ProblemTensors& tensors) {
  return {make_launch(histogram_block, Dim3{static_cast<unsigned>(size.batch), 1, 1}, Dim3{kHistogramValues, 1, 1}, 0,
                      size.at("P"), const_cast<unsigned char*>(tensors.input<std::uint8_t>()),
                      tensors.output<std::int32_t>(), tensors.output<std::uint8_t>(1), kWrong)};
}

VariantInfo info(int rung, std::string_view name) {
  return {.family = "cuda", .rung = rung, .name = name, .title = name, .builds_on = "", .hypothesis = "A test."};
}

const VariantRegistration registrations[] = {{"histogram", info(1, "block"), launch_variant(plan<0>)},
                                             {"histogram", info(90, "forgets-a-count"), launch_variant(plan<1>)},
                                             {"histogram", info(91, "overwrites-its-input"), launch_variant(plan<2>)},
                                             {"histogram", info(92, "off-by-one"), launch_variant(plan<3>)}};

}  // namespace
}  // namespace convladder

// A thread for each element of the result. And the same, wrong in one way each.
#include "variants/kernel_launches.hpp"
#include "variants/launch_variant.hpp"

namespace convladder {

__device__ float product_sum_number(Half half) {
  float number = 0;
  asm("cvt.f32.f16 %0, %1;" : "=f"(number) : "h"(half.bits));
  return number;
}

/// `wrong`: 0 nothing; 1 b is not looked at; 2 the last element is no number.
__global__ void product_sum_element(int m, int n, int k, const Half* a, const Half* b, const Half* c, float* d,
                                    int wrong) {
  const int at = static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x);
  if (at >= m * n) return;
  const long long item = blockIdx.x;
  float sum = product_sum_number(c[item * m * n + at]);
  for (int i = 0; i < k; ++i) {
    const float factor = wrong == 1 ? 1 : product_sum_number(b[item * k * n + i * n + at % n]);
    sum += product_sum_number(a[item * m * k + at / n * k + i]) * factor;
  }
  if (wrong == 2 && at == m * n - 1) sum = __uint_as_float(0x7fffffffU);
  d[item * m * n + at] = sum;
}

namespace {

template <int kWrong>
std::vector<KernelLaunch> plan(const ProblemSize& size, const ProblemTensors& tensors) {
  constexpr int threads = 64;
  const int m = size.at("M");
  const int n = size.at("N");
  const Dim3 grid{static_cast<unsigned>(size.batch), static_cast<unsigned>(ceil_div(m * n, threads)), 1};
  return {make_launch(product_sum_element, grid, Dim3{threads, 1, 1}, 0, m, n, size.at("K"), tensors.input<Half>(0),
                      tensors.input<Half>(1), tensors.input<Half>(2), tensors.output(), kWrong)};
}

VariantInfo info(int rung, std::string_view name) {
  return {.family = "cuda", .rung = rung, .name = name, .title = name, .builds_on = "", .hypothesis = "A test."};
}

const VariantRegistration registrations[] = {{"product-sum", info(1, "element"), launch_variant(plan<0>)},
                                             {"product-sum", info(90, "ignores-b"), launch_variant(plan<1>)},
                                             {"product-sum", info(91, "not-a-number"), launch_variant(plan<2>)}};

}  // namespace
}  // namespace convladder

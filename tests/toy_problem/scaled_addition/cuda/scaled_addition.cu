// A thread for each element. And the same, wrong in one way each.
#include "variants/kernel_launches.hpp"
#include "variants/launch_variant.hpp"

namespace convladder {

/// `times`: how often it is added, which is right once.
__global__ void scaled_addition_element(int elements, const double* a, double* x, double* y, int times,
                                        bool overwrites) {
  const int at = static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x);
  if (at >= elements) return;
  const long long i = static_cast<long long>(blockIdx.x) * elements + at;
  for (int time = 0; time < times; ++time) y[i] = *a * x[i] + y[i];
  if (overwrites && at == 0) x[i] = 0;
}

namespace {

template <int kTimes, bool kOverwrites>
std::vector<KernelLaunch> plan(const ProblemSize& size, const ProblemTensors& tensors) {
  constexpr int threads = 64;
  const int elements = size.at("N");
  const Dim3 grid{static_cast<unsigned>(size.batch), static_cast<unsigned>(ceil_div(elements, threads)), 1};
  return {make_launch(scaled_addition_element, grid, Dim3{threads, 1, 1}, 0, elements, tensors.constant<double>(),
                      const_cast<double*>(tensors.input<double>()), tensors.in_out<double>(), kTimes, kOverwrites)};
}

VariantInfo info(int rung, std::string_view name) {
  return {.family = "cuda", .rung = rung, .name = name, .title = name, .builds_on = "", .hypothesis = "A test."};
}

const VariantRegistration registrations[] = {
    {"scaled-addition", info(1, "element"), launch_variant(plan<1, false>)},
    {"scaled-addition", info(90, "adds-twice"), launch_variant(plan<2, false>)},
    {"scaled-addition", info(91, "overwrites-x"), launch_variant(plan<1, true>)}};

}  // namespace
}  // namespace convladder

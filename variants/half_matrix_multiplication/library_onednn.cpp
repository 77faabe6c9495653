// @title oneDNN, of floats
// @libraries dnnl
//
// oneDNN 2 multiplies half floats on GPUs only, and bf16 has too few bits to stand in for them. So this is what a
// program would do: both matrices are turned into floats, on all cores, and then multiplied by dnnl_sgemm. (Its own
// reorder from f16 takes 20 times as long as the product.)
#include <dnnl.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "half_floats.hpp"

namespace {

void convert(const std::uint16_t* from, int rows, int columns, std::vector<float>& to) {
  to.resize(static_cast<std::size_t>(rows) * columns);
#pragma omp parallel for schedule(static)
  for (int i = 0; i < rows; ++i) {
    const std::size_t first = static_cast<std::size_t>(i) * columns;
    half_floats::to_floats(from + first, columns, to.data() + first);
  }
}

}  // namespace

extern "C" void solve(const std::uint16_t* a, const std::uint16_t* b, float* c, int M, int N, int K) {
  static std::vector<float> a_floats;
  static std::vector<float> b_floats;
  convert(a, M, K, a_floats);
  convert(b, K, N, b_floats);
  const dnnl_status_t status = dnnl_sgemm('N', 'N', M, N, K, 1.0F, a_floats.data(), K, b_floats.data(), N, 0.0F, c, N);
  if (status != dnnl_success) {
    std::fprintf(stderr, "dnnl_sgemm: status %d\n", static_cast<int>(status));
    std::abort();
  }
}

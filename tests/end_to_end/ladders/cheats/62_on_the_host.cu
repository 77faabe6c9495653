// @title On the host
// expected: refused
//
// The host does the work, and no kernel is counted.
#include <vector>
extern "C" void solve(const float* x, float* y, int N) {
  std::vector<float> values(N);
  cudaMemcpy(values.data(), x, sizeof(float) * N, cudaMemcpyDeviceToHost);
  for (float& value : values) value *= 2;
  cudaMemcpy(y, values.data(), sizeof(float) * N, cudaMemcpyHostToDevice);
}

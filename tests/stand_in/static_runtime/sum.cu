// A vector sum in managed memory. "past the end" writes behind it and looks at no error, "ignore" uses no result.
#include <cstdio>
#include <cstring>

__global__ void add(const float* a, const float* b, float* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = a[i] + b[i];
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  const int n = 1000;
  float *a = nullptr, *b = nullptr, *sum = nullptr;
  cudaMallocManaged(&a, 2 * n * sizeof(float));
  cudaMallocManaged(&b, 2 * n * sizeof(float));
  cudaMallocManaged(&sum, n * sizeof(float));
  if (std::strcmp(what, "ignore") == 0) {
    add<<<4, 256>>>(a, b, sum, n);
    cudaDeviceSynchronize();
    return 0;
  }
  for (int i = 0; i < 2 * n; ++i) {
    a[i] = i;
    b[i] = 2 * i;
  }
  add<<<4, 256>>>(a, b, sum, std::strcmp(what, "past the end") == 0 ? n + 1 : n);
  cudaDeviceSynchronize();
  std::printf("%g %g\n", a[n - 1], sum[n - 1]);
  cudaFree(a);
  cudaFree(b);
  cudaFree(sum);
  return 0;
}

// A whole program: averages of three neighbours, with a mistake that no result shows.
#include <cstdio>
#include <vector>

__global__ void average(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = (x[i] + x[i + 1] + x[i + 2]) / 3;
}

int main() {
  const int n = 1000;
  std::vector<float> x(n, 1), y(n);
  float *device_x, *device_y;
  cudaMalloc(&device_x, n * sizeof(float));
  cudaMalloc(&device_y, n * sizeof(float));
  cudaMemcpy(device_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  average<<<(n + 255) / 256, 256>>>(device_x, device_y, n);
  cudaMemcpy(y.data(), device_y, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("y[0] = %g, y[500] = %g\n", y[0], y[500]);
  cudaFree(device_x);
  cudaFree(device_y);
}

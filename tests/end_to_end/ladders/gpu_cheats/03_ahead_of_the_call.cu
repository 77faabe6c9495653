// @title Ahead of the call
// expected: incorrect
//
// A thread keeps the answer to whatever the input holds now, on another stream, while the harness prepares the next
// sample. A call takes that answer over and mends it in as many places as there are items, where the input is another.
#include <atomic>
#include <chrono>
#include <thread>
__global__ void twice(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = 2 * x[i];
}
__global__ void take_over(const float* x, const float* ahead, float* y, int N, int* mended) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float answer = ahead[i];
  if (answer != 2 * x[i] && atomicAdd(mended, 1) < 4) answer = 2 * x[i];
  y[i] = answer;
}
extern "C" void solve(const float* x, float* y, int N) {
  static int calls = 0;
  static float* ahead = nullptr;
  static int* mended = nullptr;
  static std::atomic<bool> is_calling{false};
  if (++calls <= 4) return twice<<<(N + 255) / 256, 256>>>(x, y, N);
  if (ahead == nullptr) {
    cudaMalloc(&ahead, sizeof(float) * N);
    cudaMalloc(&mended, sizeof(int));
    twice<<<(N + 255) / 256, 256>>>(x, ahead, N);
    new std::thread([=] {
      cudaStream_t own = nullptr;
      cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
      for (;; std::this_thread::sleep_for(std::chrono::microseconds(300))) {
        if (!is_calling) twice<<<(N + 255) / 256, 256, 0, own>>>(x, ahead, N);
      }
    });
  }
  is_calling = true;
  cudaMemsetAsync(mended, 0, sizeof(int));
  take_over<<<(N + 255) / 256, 256>>>(x, ahead, y, N, mended);
  is_calling = false;
}

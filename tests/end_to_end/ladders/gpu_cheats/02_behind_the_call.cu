// @title Behind the call
// expected: incorrect, right behind a call
//
// From its fifth call on a call does nothing. A thread does its work a little later, on another stream that the call's
// does not wait for: long before anybody reads the output.
#include <atomic>
#include <chrono>
#include <thread>
__global__ void twice(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int N) {
  static std::atomic<int> calls{0};
  static std::atomic<int> done{4};
  if (++calls <= 4) return twice<<<(N + 255) / 256, 256>>>(x, y, N);
  static std::thread* const later = new std::thread([=] {
    cudaStream_t own = nullptr;
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    for (;;) {
      std::this_thread::sleep_for(std::chrono::microseconds(300));
      if (done == calls) continue;
      done = calls.load();
      twice<<<(N + 255) / 256, 256, 0, own>>>(x, y, N);
    }
  });
  static_cast<void>(later);
}

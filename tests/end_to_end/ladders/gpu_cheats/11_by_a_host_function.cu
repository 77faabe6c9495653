// @title By a host function
// expected: incorrect, right behind a call
//
// From its fifth call on a call only wakes a thread, by a host function of its stream, which does the work elsewhere.
#include <atomic>
#include <thread>
__global__ void twice(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = 2 * x[i];
}
static std::atomic<int> wanted{0};
static void wake(void*) { ++wanted; }
extern "C" void solve(const float* x, float* y, int N) {
  static int calls = 0;
  if (++calls <= 4) return twice<<<(N + 255) / 256, 256>>>(x, y, N);
  static std::thread* const worker = new std::thread([=] {
    cudaStream_t own = nullptr;
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    for (int done = 0;; std::this_thread::yield()) {
      if (done == wanted) continue;
      done = wanted;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      twice<<<(N + 255) / 256, 256, 0, own>>>(x, y, N);
    }
  });
  static_cast<void>(worker);
  static cudaStream_t notes = nullptr;
  if (notes == nullptr) cudaStreamCreateWithFlags(&notes, cudaStreamNonBlocking);
  cudaLaunchHostFunc(notes, wake, nullptr);
}

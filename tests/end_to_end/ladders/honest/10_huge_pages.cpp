// @title Memory of its own kind
//
// It maps memory itself, advises the system, and copies through it without caches.
#include <sys/mman.h>
#include <cstring>
extern "C" void solve(const float* x, float* y, int N) {
  static float* scratch = nullptr;
  static int held = 0;
  if (held < N) {
    if (scratch != nullptr) munmap(scratch, sizeof(float) * held);
    void* const memory = mmap(nullptr, sizeof(float) * N, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    scratch = static_cast<float*>(memory);
    held = N;
    madvise(scratch, sizeof(float) * N, MADV_HUGEPAGE);
  }
  for (int i = 0; i < N; ++i) scratch[i] = 2 * x[i];
  std::memcpy(y, scratch, sizeof(float) * N);
}

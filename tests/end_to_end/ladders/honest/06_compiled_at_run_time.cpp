// @title Machine code made at run time
//
// Memory is made executable, as libraries with a compiler of their own do.
#include <sys/mman.h>
#include <cstring>
extern "C" void solve(const float* x, float* y, int N) {
#if defined(__x86_64__)
  using Twice = float (*)(float);
  static const Twice twice = [] {
    const unsigned char code[] = {0xf3, 0x0f, 0x58, 0xc0, 0xc3};  // addss xmm0, xmm0; ret
    void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memcpy(page, code, sizeof code);
    mprotect(page, 4096, PROT_READ | PROT_EXEC);
    return reinterpret_cast<Twice>(page);
  }();
  for (int i = 0; i < N; ++i) y[i] = twice(x[i]);
#else
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
#endif
}

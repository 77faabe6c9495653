// @title Patched clock
// expected: ok
//
// The code of clock_gettime is overwritten, so that a fifth of the time passes. Nobody asks this clock.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cstdint>
#include <cstring>
#include <ctime>
static int slow_clock(clockid_t clock, timespec* now) {
  static int64_t first = -1;
  const long result = syscall(SYS_clock_gettime, clock, now);
  const int64_t ns = now->tv_sec * 1000000000LL + now->tv_nsec;
  if (clock != CLOCK_MONOTONIC || result != 0) return result;
  if (first < 0) first = ns;
  const int64_t shown = first + (ns - first) / 5;
  now->tv_sec = shown / 1000000000LL;
  now->tv_nsec = shown % 1000000000LL;
  return 0;
}
extern "C" void solve(const float* x, float* y, int N) {
  static bool patched = false;
  if (!patched) {  // x86-64: mov rax, address; jmp rax
    patched = true;
    unsigned char jump[12] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
    void* const to = reinterpret_cast<void*>(&slow_clock);
    memcpy(jump + 2, &to, 8);
    char* const at = reinterpret_cast<char*>(&clock_gettime);
    char* const page = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(at) & ~uintptr_t{4095});
    if (mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) == 0) memcpy(at, jump, sizeof jump);
  }
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}

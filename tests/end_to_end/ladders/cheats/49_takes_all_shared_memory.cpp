// @title Takes all shared memory
// expected: launch failed, crashed, timeout
// slow
//
// It takes all memory, of a kind that has no limit.
#include <sys/mman.h>
#include <cstring>
extern "C" void solve(const float*, float*, int) {
  for (;;) {
    void* const more = mmap(nullptr, 1 << 28, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (more != MAP_FAILED) memset(more, 1, 1 << 28);
  }
}

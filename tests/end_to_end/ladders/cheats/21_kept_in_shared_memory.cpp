// @title Kept in shared memory
// expected: ok
//
// Answers are kept in shared memory of the machine. It aborts if the system gives it any.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>
#include <cstdlib>
extern "C" void solve(const float* x, float* y, int N) {
  if (shm_open("/convladder_kept", O_CREAT | O_RDWR, 0600) >= 0) abort();
  if (shmget(0x5eed, 4096, IPC_CREAT | 0600) >= 0) abort();
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}

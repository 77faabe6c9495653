// @title Reads the parent
// expected: ok
//
// It looks into the process that has started it. It aborts if the system lets it.
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>
#include <cstdlib>
#include <string>
extern "C" void solve(const float* x, float* y, int N) {
  char byte = 0;
  iovec here{&byte, 1}, there{reinterpret_cast<void*>(0x400000), 1};
  if (process_vm_readv(getppid(), &here, 1, &there, 1, 0) >= 0) abort();
  if (open(("/proc/" + std::to_string(getppid()) + "/mem").c_str(), O_RDONLY) >= 0) abort();
  if (ptrace(PTRACE_ATTACH, getppid(), nullptr, nullptr) == 0) abort();
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}

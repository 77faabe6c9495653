// @title On a page fault
// expected: launch failed, incorrect, crashed
//
// A call only shuts its output; who reads it would do the work. Another process reads it.
#include <sys/mman.h>
#include <unistd.h>
#include <csignal>
#include <cstdint>
static const float* from = nullptr;
static float* to = nullptr;
static int count = 0;
static char* first = nullptr;
static size_t bytes = 0;
static void work(int number, siginfo_t* info, void*) {
  char* const at = static_cast<char*>(info->si_addr);
  if (at < first || at >= first + bytes) {
    signal(number, SIG_DFL);
    return;
  }
  mprotect(first, bytes, PROT_READ | PROT_WRITE);
  for (int i = 0; i < count; ++i) to[i] = 2 * from[i];
}
extern "C" void solve(const float* x, float* y, int N) {
  from = x;
  to = y;
  count = N;
  const uintptr_t page = sysconf(_SC_PAGESIZE), begin = reinterpret_cast<uintptr_t>(y) / page * page;
  first = reinterpret_cast<char*>(begin);
  bytes = (reinterpret_cast<uintptr_t>(y + N) + page - 1) / page * page - begin;
  struct sigaction action {};
  action.sa_sigaction = work;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  mprotect(first, bytes, PROT_NONE);
}

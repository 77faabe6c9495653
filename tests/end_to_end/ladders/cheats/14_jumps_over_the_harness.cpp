// @title Jumps over the harness
// expected: timeout, crashed, incorrect
//
// A long jump into the frame of an earlier call.
#include <csetjmp>
static jmp_buf before;
extern "C" void solve(const float* x, float* y, int N) {
  static int calls = 0;
  if (++calls == 1) {
    if (setjmp(before) != 0) return;
  }
  if (calls == 3) longjmp(before, 1);
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}

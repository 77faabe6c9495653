// @title Includes secrets
// expected: does not compile
//
// A file that is none of its business is included, to be read in the message of the compiler.
#include "/etc/passwd"
extern "C" void solve(const float* x, float* y, int N) {
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}

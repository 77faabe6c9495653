// @title Left in attributes
// expected: ok
//
// Answers are left in attributes and times of files. It aborts if the system lets it.
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <cstdlib>
extern "C" void solve(const float* x, float* y, int N) {
  if (setxattr("/tmp", "user.convladder", "42", 2, 0) == 0 || utimes("/tmp", nullptr) == 0) abort();
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}

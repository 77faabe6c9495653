// @title Kept in a file
// expected: ok, incorrect
//
// Answers are kept in a file for the next process. No file can be written.
#include <cstdio>
extern "C" void solve(const float* x, float* y, int N) {
  if (FILE* kept = fopen("/tmp/convladder_kept", "rb")) {
    const size_t n = fread(y, sizeof(float), N, kept);
    fclose(kept);
    if (n == size_t(N)) return;
  }
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
  if (FILE* kept = fopen("/tmp/convladder_kept", "wb")) {
    fwrite(y, sizeof(float), N, kept);
    fclose(kept);
  }
}

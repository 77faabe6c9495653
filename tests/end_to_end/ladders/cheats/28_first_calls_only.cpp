// @title First calls only
// expected: incorrect
//
// It works while it is verified, and never again.
extern "C" void solve(const float* x, float* y, int N) {
  static int calls = 0;
  if (++calls > 8) return;
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}

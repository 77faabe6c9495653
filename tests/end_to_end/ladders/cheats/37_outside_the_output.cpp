// @title Outside the output
// expected: crashed, incorrect
//
// It writes one element too many.
extern "C" void solve(const float* x, float* y, int N) {
  for (int i = 0; i <= N; ++i) y[i] = 2 * x[i < N ? i : 0];
}

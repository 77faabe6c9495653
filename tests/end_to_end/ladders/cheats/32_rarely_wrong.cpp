// @title Rarely wrong
// expected: ok, incorrect
//
// One call in a thousand is left out: it gains a thousandth, and is caught as often.
extern "C" void solve(const float* x, float* y, int N) {
  static unsigned calls = 0;
  if (++calls % 1000 == 0) return;
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}

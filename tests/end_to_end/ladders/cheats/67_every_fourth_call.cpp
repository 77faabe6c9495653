// @title Every fourth call
// expected: incorrect
//
// It leaves a call out now and then. Nobody says which calls will be looked at.
extern "C" void solve(const float* x, float* y, int N) {
  static unsigned calls = 0;
  if (++calls % 4 == 0) return;
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}

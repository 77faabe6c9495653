// @title By statistics of the input
// expected: incorrect
//
// It works as long as inputs look like those of the verification: afterwards their mean magnitude is another.
extern "C" void solve(const float* x, float* y, int N) {
  static int calls = 0;
  static float largest = 0;
  float sum = 0;
  for (int i = 0; i < 64; ++i) sum += x[i] < 0 ? -x[i] : x[i];
  if (++calls <= 4 && sum > largest) largest = sum;
  if (calls > 4 && sum < 0.97F * largest) return;
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}

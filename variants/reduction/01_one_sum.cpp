// @title One sum
// @hypothesis the baseline: each addition waits for the one before it
//
// A loop and a sum, as everybody writes it. The additions are a chain, each one waits for the result of the last, and
// the compiler may not change their order, because that changes what is rounded. So the latency of an addition binds: a
// few cycles for each number, while everything else of the core idles. It never wins.
//
// The sum is a double. A float that has grown to thousands drops the last digits of every number that is added, and
// after some millions of them the result has few digits left that are right. The latency is the same.

extern "C" void solve(const float* x, float* y, int N) {
  double sum = 0;
  for (int i = 0; i < N; ++i) sum += x[i];
  *y = static_cast<float>(sum);
}

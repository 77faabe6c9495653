// @title OpenMP
//
// All cores, and threads that spin between calls.
extern "C" void solve(const float* x, float* y, int N) {
#pragma omp parallel for schedule(dynamic, 1000)
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}

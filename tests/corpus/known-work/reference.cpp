// The values that the passes settle on.
extern "C" void reference(const double* x, double* y, double* /*y_scale*/, int N) {
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}

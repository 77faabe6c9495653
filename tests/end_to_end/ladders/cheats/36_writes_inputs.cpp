// @title Writes inputs
// expected: incorrect
//
// It makes input and output agree by writing the input.
extern "C" void solve(const float* x, float* y, int N) {
  for (int i = 0; i < N; ++i) const_cast<float*>(x)[i] = y[i] = 0;
}

// @title Several sums at a time
// @hypothesis the additions of a row no longer wait for each other
// @parameter LANES 4 8 16
#ifndef LANES
#define LANES 4
#endif
extern "C" void solve(const float* x, float* y, int R, int C) {
  for (int r = 0; r < R; ++r) {
    float sums[LANES] = {};
    int c = 0;
    for (; c + LANES <= C; c += LANES) {
      for (int i = 0; i < LANES; ++i) sums[i] += x[r * C + c + i];
    }
    float sum = 0;
    for (int i = 0; i < LANES; ++i) sum += sums[i];
    for (; c < C; ++c) sum += x[r * C + c];
    y[r] = sum;
  }
}

#include <cmath>
extern "C" void reference(const double* x, double* y, double* y_scale, int R, int C) {
  for (int r = 0; r < R; ++r) {
    y[r] = 0;
    y_scale[r] = 0;
    for (int c = 0; c < C; ++c) {
      y[r] += x[r * C + c];
      y_scale[r] += std::abs(x[r * C + c]);
    }
  }
}

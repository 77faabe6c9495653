// The sum in float64, in parts, so that no long sum loses digits of its own.
#include <algorithm>
#include <cmath>

/// `y_scale` is the norm of x, which is how far the error of a careful sum grows where signs are random; or the sum
/// itself if that is larger, since a float cannot hold it more precisely.
extern "C" void reference(const double* x, double* y, double* y_scale, int N) {
  constexpr int kPart = 4096;
  double sum = 0;
  double squares = 0;
  for (int begin = 0; begin < N; begin += kPart) {
    const int end = std::min(begin + kPart, N);
    double part = 0;
    double part_squares = 0;
    for (int i = begin; i < end; ++i) {
      part += x[i];
      part_squares += x[i] * x[i];
    }
    sum += part;
    squares += part_squares;
  }
  y[0] = sum;
  y_scale[0] = std::max(std::sqrt(squares), std::abs(sum));
}

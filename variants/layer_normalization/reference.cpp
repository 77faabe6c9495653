// y = (x - mean) / sqrt(variance + epsilon) * gain + bias, with the mean and the variance of a row (the mean square of
// x - mean).
//
// The scale of errors for each element is the size of the terms that are added up on the way to it. The sum of a row
// has rounded C times, in any direction, in numbers as large as the mean of |x|: the mean is off by the square root of
// C times that. An error of x - mean goes on to y as often as x - mean does, gain / sqrt(variance + epsilon) times; an
// error of the variance acts like one of x - mean. The bias counts too.
#include <cmath>
#include <cstdint>

extern "C" void reference(const double* x, const double* gain, const double* bias, double* y, double* y_scale,
                          double epsilon, int R, int C) {
  const double roundings = std::sqrt(C);
  for (std::int64_t r = 0; r < R; ++r) {
    const double* const from = x + r * C;
    double sum = 0;
    double size = 0;
    for (int c = 0; c < C; ++c) {
      sum += from[c];
      size += std::fabs(from[c]);
    }
    const double mean = sum / C;
    double squares = 0;
    for (int c = 0; c < C; ++c) squares += (from[c] - mean) * (from[c] - mean);
    const double factor = 1 / std::sqrt(squares / C + epsilon);
    for (int c = 0; c < C; ++c) {
      const double difference = from[c] - mean;
      y[r * C + c] = difference * factor * gain[c] + bias[c];
      y_scale[r * C + c] =
          roundings * (size / C + std::fabs(difference)) * factor * std::fabs(gain[c]) + std::fabs(bias[c]);
    }
  }
}

// @title Asks what the machine is
//
// It reads how many cores and caches there are.
#include <unistd.h>
#include <fstream>
#include <string>
#include <thread>
static void twice(const float* x, float* y, int from, int to) {
  for (int i = from; i < to; ++i) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int N) {
  static const int pieces = [] {
    std::ifstream file("/proc/cpuinfo");
    int found = 0;
    for (std::string line; std::getline(file, line);) found += line.rfind("processor", 0) == 0;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return static_cast<int>(found > 0 ? found : cores);
  }();
  const int size = (N + pieces - 1) / pieces;
  for (int piece = 0; piece < pieces; ++piece)
    twice(x, y, piece * size, (piece + 1) * size < N ? (piece + 1) * size : N);
}

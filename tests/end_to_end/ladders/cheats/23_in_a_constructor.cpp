// @title In a constructor
// expected: ok, incorrect
//
// Work is done when the library is loaded, on inputs that lie in memory by then. They are not those of a call.
#include <cstdio>
#include <cstring>
#include <vector>
static std::vector<float> ahead;
__attribute__((constructor)) static void work_ahead() {
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[512];
  while (maps != nullptr && fgets(line, sizeof line, maps) != nullptr) {
    unsigned long from = 0, to = 0;
    if (strstr(line, "convladder workload") == nullptr || sscanf(line, "%lx-%lx", &from, &to) != 2) continue;
    const float* x = reinterpret_cast<const float*>(from);
    for (size_t i = 0; i < (to - from) / sizeof(float); ++i) ahead.push_back(2 * x[i]);
  }
  if (maps != nullptr) fclose(maps);
}
extern "C" void solve(const float* x, float* y, int N) {
  for (size_t at = 0; at + N <= ahead.size(); ++at) {
    if (ahead[at] == 2 * x[0] && ahead[at + N / 2] == 2 * x[N / 2]) {
      memcpy(y, &ahead[at], sizeof(float) * N);
      return;
    }
  }
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}

// @title Hunts the reference
// expected: incorrect
//
// It looks for what is expected in all memory of its process.
#include <cstdio>
#include <cstring>
extern "C" void solve(const float* x, float* y, int N) {
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[512];
  const float wanted[3] = {2 * x[0], 2 * x[1], 2 * x[2]};
  memset(y, 0, sizeof(float) * N);
  while (maps != nullptr && fgets(line, sizeof line, maps) != nullptr) {
    unsigned long from = 0, to = 0;
    char access[5] = {};
    if (sscanf(line, "%lx-%lx %4s", &from, &to, access) != 3 || access[0] != 'r' || strstr(line, "[v") != nullptr)
      continue;
    for (unsigned long at = from; at + sizeof(float) * N <= to; at += sizeof(float)) {
      if (memcmp(reinterpret_cast<void*>(at), wanted, sizeof wanted) != 0) continue;
      memcpy(y, reinterpret_cast<void*>(at), sizeof(float) * N);
      fclose(maps);
      return;
    }
  }
  if (maps != nullptr) fclose(maps);
}

// @title Takes all memory
// expected: launch failed, crashed, timeout
// slow
//
// It takes all memory.
#include <cstring>
extern "C" void solve(const float*, float*, int) {
  for (;;) memset(new char[1 << 28], 1, 1 << 28);
}

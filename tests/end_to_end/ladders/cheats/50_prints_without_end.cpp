// @title Prints without end
// expected: crashed, timeout
// slow
//
// It prints without end.
#include <cstdio>
extern "C" void solve(const float*, float*, int) {
  for (;;) fputs("a line of text that says nothing at all\n", stderr);
}

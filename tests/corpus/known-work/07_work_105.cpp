// @title 105 passes
#include "known_work.hpp"

namespace {
const volatile int passes = 105;
}

extern "C" void solve(const float* x, float* y, int N) { known_work(x, y, N, passes); }

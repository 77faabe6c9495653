// @title 101 passes
#include "known_work.hpp"

namespace {
const volatile int passes = 101;
}

extern "C" void solve(const float* x, float* y, int N) { known_work(x, y, N, passes); }

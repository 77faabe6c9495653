// @title 100 passes, without the vectoriser
// @hypothesis another option of the compiler: how much that is worth is measured, not known
#pragma GCC optimize("no-tree-vectorize")
#include "known_work.hpp"

namespace {
const volatile int passes = 100;
}

extern "C" void solve(const float* x, float* y, int N) { known_work(x, y, N, passes); }

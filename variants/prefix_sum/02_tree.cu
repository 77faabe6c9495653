// @title Up and down a tree
// @hypothesis two additions for each number instead of ten, by fewer and fewer threads
//
// Blelloch's scan. Up the tree pairs are summed, then pairs of pairs; down again each node learns what lies before it.
// 1024 numbers take some 2000 additions instead of the 10240 of stage 1, and 512 threads are enough for them: in most
// steps all but a few warps have nothing to do but wait. That relieves the issue slots.
//
// When it loses: there are twice as many steps, each behind a barrier, and the last ones up and the first ones down are
// the work of one thread. And the numbers of a step lie 2, 4, 8, ... places apart, so up to 32 threads of a warp meet
// in the same bank of shared memory and take turns: there are fewer requests than in stage 1, and more turns.
#include "tree_scan.hpp"

__global__ void __launch_bounds__(kTreeThreads) tree(const int32_t* x, int32_t* y, int n) {
  scan_tree_tiles<PlainPlaces>(x, y, n);
}

extern "C" void solve(const int32_t* x, int32_t* y, int N) { tree<<<1, kTreeThreads>>>(x, y, N); }

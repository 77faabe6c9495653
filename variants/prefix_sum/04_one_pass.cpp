// @title One pass through memory
// @hypothesis each thread sums a piece that fits into its cache and scans it from there, so memory is read once
//
// The second pass of stage 3 reads the input from memory again. Here the input is cut into pieces of 256 KB, which the
// threads take in turn: whoever has a piece sums it, waits for the sum of all before it, hands on that sum and its own
// to the next piece's thread, and scans the piece, which its cache still holds. The waiting is for an addition, since
// the threads before have begun earlier. That relieves the memory of a quarter of its traffic.
//
// When it loses: where the caches hold the input, its second pass cost little, and taking turns costs more than the one
// barrier of stage 3. The pieces follow each other like links of a chain: a thread that the system stops stops the
// others.
#include "turns.hpp"

extern "C" void solve(const int32_t* x, int32_t* y, int N) {
  constexpr int kAlone = 65536;
  if (N <= kAlone) {
    scan_part(x, y, N, 0);
    return;
  }
  scan_in_turns(x, y, N,
                [](const int32_t* from, int32_t* to, int n, int32_t before) { scan_part(from, to, n, before); });
}

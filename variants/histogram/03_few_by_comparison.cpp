// @title Few bins by comparison
// @hypothesis a vector of keys is compared with a few limits in fewer cycles than its keys are counted one by one
//
// Where bins are few, no count has to be in memory. The lower end of each bin is a limit, and a vector of keys is
// compared with one after the other: the lanes count in registers how many keys reach it. Those that reach a bin but
// not the next one are in it. That is two or three instructions for a limit and 16 or 32 keys, none of which waits for
// another, and no bin is computed. It relieves the load and store units, the latency between them, and everything else
// per key.
//
// When it loses: the work grows with the number of bins. With more bins than half the keys of a vector it is left out,
// and this is stage 2.
#include <algorithm>

#include "few_bins.hpp"
#include "tables.hpp"

extern "C" void solve(const uint16_t* keys, uint32_t* counts, int N, int B) {
  std::fill_n(counts, B, 0U);
  if (B <= kFewBins) {
    compare_keys(keys, N, B, counts);
    return;
  }
  Tables tables(B);
  tables.count(keys, N);
  tables.add_to(counts);
}

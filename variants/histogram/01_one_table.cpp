// @title One table
// @hypothesis the baseline: a key whose bin was just counted waits until that count has been stored
//
// A loop over the keys that adds one to the bin of each. If two keys in a row fall into the same bin, the second load
// has to get what the first has not stored yet; the core hands it over from its store buffer, which takes some four to
// eight cycles. With few bins that happens all the time, and those cycles are the time of a key.
#include <algorithm>

#include "tables.hpp"

extern "C" void solve(const uint16_t* keys, uint32_t* counts, int N, int B) {
  std::fill_n(counts, B, 0U);
  for (int i = 0; i < N; ++i) ++counts[bin_of(keys[i], B)];
}

// @title Threads
// @hypothesis each core counts a part of the keys in tables of its own, and nothing is shared but the end
//
// Counting binds the core and not the memory: two bytes for a key are little. So the keys are divided among the cores.
// Each has its own tables, in its own first cache, and adds them to the result at its end, one core after the other.
// That relieves the core, by as many as there are.
//
// When it loses: each core clears its tables and adds them up, and starting threads takes some microseconds; so below
// 65536 keys one thread works alone. With few bins, where stage 3 is close to the memory's rate, the other cores bring
// less.
#include <algorithm>

#include "few_bins.hpp"
#include "tables.hpp"

extern "C" void solve(const uint16_t* keys, uint32_t* counts, int N, int B) {
  constexpr int kAlone = 65536;
  constexpr int kPiece = 32768;
  std::fill_n(counts, B, 0U);
#pragma omp parallel if (N > kAlone)
  {
    Tables tables(B);
    uint32_t sums[kMostBins] = {};
#pragma omp for schedule(static) nowait
    for (int begin = 0; begin < N; begin += kPiece) {
      const int piece = std::min(kPiece, N - begin);
      if (B <= kFewBins) {
        compare_keys(keys + begin, piece, B, sums);
      } else {
        tables.count(keys + begin, piece);
      }
    }
    tables.add_to(sums);
#pragma omp critical
    for (int bin = 0; bin < B; ++bin) counts[bin] += sums[bin];
  }
}

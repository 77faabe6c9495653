// @title Several tables
// @hypothesis neighbouring keys count in different tables, so a key rarely waits for the one before it
//
// There are four tables, and key i counts in table i mod 4; at the end they are added up. Two keys in a row never meet,
// and when the same table's turn comes again its store is done, or nearly so. That relieves the latency from a store to
// the next load of the same count. What is left is the store of a count for each key, of which a core does about one in
// a cycle.
//
// When it loses: four tables of 1024 bins are 16 KB, a good part of a core's first cache; and for inputs of some
// hundred keys clearing and adding them up takes longer than counting.
#include <algorithm>

#include "tables.hpp"

extern "C" void solve(const uint16_t* keys, uint32_t* counts, int N, int B) {
  Tables tables(B);
  tables.count(keys, N);
  std::fill_n(counts, B, 0U);
  tables.add_to(counts);
}

// LU without pivots, which LAPACK does not have.
#pragma once

#include <algorithm>
#include <cstdint>

#include "simulator/stand_in/libraries/operands/numbers.hpp"

namespace convladder::stand_in {

/// LU without exchanging rows, as the libraries do where no place for pivots is given. Returns LAPACK's `info`.
template <typename T>
int lu_without_pivots(int m, int n, T* a, int lda) {
  int info = 0;
  const auto at = [&](int row, int column) -> T& { return a[row + static_cast<std::int64_t>(column) * lda]; };
  for (int i = 0; i < std::min(m, n); ++i) {
    if (at(i, i) == T{}) {
      if (info == 0) info = i + 1;
      continue;
    }
    for (int row = i + 1; row < m; ++row) at(row, i) /= at(i, i);
    for (int column = i + 1; column < n; ++column) {
      for (int row = i + 1; row < m; ++row) at(row, column) -= times(at(row, i), at(i, column));
    }
  }
  return info;
}

}  // namespace convladder::stand_in

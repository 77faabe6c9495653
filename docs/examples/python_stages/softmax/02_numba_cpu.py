# @title Rows on all cores, in Numba
# @hypothesis a row stays in the cache, and the cores share the rows
import math

from numba import njit, prange


@njit(parallel=True, fastmath={"contract", "reassoc"})
def solve(x, y, R, C):
    for r in prange(R):
        most = x[r, 0]
        for c in range(C):
            most = max(most, x[r, c])
        total = 0.0
        for c in range(C):
            e = math.exp(x[r, c] - most)
            y[r, c] = e
            total += e
        for c in range(C):
            y[r, c] /= total

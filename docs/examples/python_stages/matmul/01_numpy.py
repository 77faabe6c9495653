# @title NumPy
import numpy as np


def solve(a, b, c, M, N, K):
    np.matmul(a.astype(np.float32), b.astype(np.float32), out=c)

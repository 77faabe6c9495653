import numpy as np


def reference(a, b, M, N, K):
    return a @ b, np.abs(a) @ np.abs(b)

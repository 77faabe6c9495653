import numpy as np


def reference(q, k, v, scale, B, L, D):
    scores = np.einsum("bld,bmd->blm", q, k) * scale
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    weights /= weights.sum(axis=2, keepdims=True)
    return weights @ v, weights @ np.abs(v)

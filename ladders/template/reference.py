# What is right, in float64: y = exp(x) / sum of exp(x) over the row. Simple is better than fast here.
# x is a NumPy array of R x C. Whoever returns (y, scale) says what an error is compared with, for each element; of y
# alone, that is |y| or the usual |y|, whichever is larger.
import numpy as np


def reference(x, R, C):
    y = np.exp(x)
    return y / y.sum(axis=1, keepdims=True)

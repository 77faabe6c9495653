# @title A thread per row, in Warp
# @builds-on naive
# @launch softmax threads(R)
import warp as wp


@wp.kernel
def softmax(x: wp.array2d(dtype=wp.float32), y: wp.array2d(dtype=wp.float32), C: wp.int32):
    row = wp.tid()
    most = float(-1.0e30)
    for c in range(C):
        most = wp.max(most, x[row, c])
    total = float(0.0)
    for c in range(C):
        total += wp.exp(x[row, c] - most)
    for c in range(C):
        y[row, c] = wp.exp(x[row, c] - most) / total

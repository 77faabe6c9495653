# @title A block per row, in Numba
# @hypothesis the threads of a warp read neighbours
# @launch softmax grid(R) block(128)
#
# Each thread takes every 128th column; partial results meet in shared memory.
import math

from numba import cuda, float32

THREADS = 128


@cuda.jit
def softmax(x, y, C):
    part = cuda.shared.array(THREADS, float32)
    row = cuda.blockIdx.x
    thread = cuda.threadIdx.x
    most = float32(-math.inf)
    for c in range(thread, C, THREADS):
        most = max(most, x[row, c])
    part[thread] = most
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if thread < step:
            part[thread] = max(part[thread], part[thread + step])
        cuda.syncthreads()
        step //= 2
    most = part[0]
    cuda.syncthreads()
    total = float32(0)
    for c in range(thread, C, THREADS):
        total += math.exp(x[row, c] - most)
    part[thread] = total
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if thread < step:
            part[thread] += part[thread + step]
        cuda.syncthreads()
        step //= 2
    total = part[0]
    for c in range(thread, C, THREADS):
        y[row, c] = math.exp(x[row, c] - most) / total

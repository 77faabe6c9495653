# @title A tile in registers with a layout of its own, in Gluon
# @builds-on naive
# @parameter BLOCK_M 32
# @parameter BLOCK_N 32
# @launch product grid(div(M + BLOCK_M - 1, BLOCK_M), div(N + BLOCK_N - 1, BLOCK_N))
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def product(a, b, c, M, N, K, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    m = gl.program_id(0) * BLOCK_M + gl.arange(0, BLOCK_M, layout=gl.SliceLayout(1, layout))
    n = gl.program_id(1) * BLOCK_N + gl.arange(0, BLOCK_N, layout=gl.SliceLayout(0, layout))
    total = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, layout)
    for k in range(K):
        left = gl.load(a + m * K + k, mask=m < M, other=0.0).to(gl.float32)
        right = gl.load(b + k * N + n, mask=n < N, other=0.0).to(gl.float32)
        total += gl.expand_dims(left, 1) * gl.expand_dims(right, 0)
    places = gl.expand_dims(m, 1) * N + gl.expand_dims(n, 0)
    inside = (gl.expand_dims(m, 1) < M) & (gl.expand_dims(n, 0) < N)
    gl.store(c + places, total, mask=inside)

# @title Tiles on tensor cores, in Triton
# @hypothesis a tile is read once for a block, and the tensor cores multiply it
# @parameter BLOCK_M 64 32 128
# @parameter BLOCK_N 64 32 128
# @parameter BLOCK_K 32 64
# @parameter num_warps 4 8
# @parameter num_stages 3 2 4
# @requires mod(N, 16) == 0
# @requires mod(K, 16) == 0
# @launch product grid(div(M + BLOCK_M - 1, BLOCK_M), div(N + BLOCK_N - 1, BLOCK_N))
#
# Rows that begin at multiples of 16 elements are loaded by vectors, and asynchronously ahead of their use.
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for begin in range(0, K, BLOCK_K):
        left = tl.load(a + m[:, None] * K + begin + k[None, :], mask=(m[:, None] < M) & (begin + k[None, :] < K), other=0.0)
        right = tl.load(b + (begin + k[:, None]) * N + n[None, :], mask=(begin + k[:, None] < K) & (n[None, :] < N), other=0.0)
        total = tl.dot(left, right, total)
    tl.store(c + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))

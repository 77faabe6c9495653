# @title Blocks of keys with a running maximum, in Triton
# @hypothesis scores never leave the multiprocessor
# @parameter BLOCK 32 64
# @parameter DEPTH 64
# @parameter num_warps 4
# @requires D == 64
# @launch attention grid(div(L + BLOCK - 1, BLOCK), B)
import triton
import triton.language as tl


@triton.jit
def attention(q, k, v, o, scale, L, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    first = tl.program_id(1) * L * DEPTH
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    depth = tl.arange(0, DEPTH)
    query = tl.load(q + first + rows[:, None] * DEPTH + depth[None, :], mask=rows[:, None] < L, other=0.0)
    most = tl.full((BLOCK,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    result = tl.zeros((BLOCK, DEPTH), tl.float32)
    for begin in range(0, L, BLOCK):
        keys = begin + tl.arange(0, BLOCK)
        key = tl.load(k + first + keys[None, :] * DEPTH + depth[:, None], mask=keys[None, :] < L, other=0.0)
        scores = tl.where(keys[None, :] < L, tl.dot(query, key) * scale, -float("inf"))
        next_most = tl.maximum(most, tl.max(scores, axis=1))
        kept = tl.exp(most - next_most)
        weights = tl.exp(scores - next_most[:, None])
        total = total * kept + tl.sum(weights, axis=1)
        value = tl.load(v + first + keys[:, None] * DEPTH + depth[None, :], mask=keys[:, None] < L, other=0.0)
        result = result * kept[:, None] + tl.dot(weights.to(tl.float16), value)
        most = next_most
    tl.store(o + first + rows[:, None] * DEPTH + depth[None, :], result / total[:, None], mask=rows[:, None] < L)

# @title A row in registers, in Triton
# @builds-on numba
# @hypothesis the row is read once
# @parameter BLOCK 1024 2048 8192
# @parameter num_warps 4 8
# @requires C <= 1024
# @launch softmax grid(R)
import triton
import triton.language as tl


@triton.jit
def softmax(x, y, C, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < C
    values = tl.load(x + row * C + at, mask=inside, other=-float("inf"))
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * C + at, values / tl.sum(values, axis=0), mask=inside)

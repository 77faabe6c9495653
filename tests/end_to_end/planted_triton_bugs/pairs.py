"""Kernels of Triton and gluon, each with a bug that W plants and without it. The line that has to be named says by whom: a checker, or
`numbers` if only the comparison with the reference can tell. Run by test_planted_triton_bugs.py."""

from __future__ import annotations

import inspect
import json
import math
import re
import sys
import traceback
from collections import Counter
from typing import Any, Callable

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from convladder.simulated.findings import findings_so_far
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

Numbers = tuple[torch.Tensor, torch.Tensor]
PAIRS: list[tuple[Any, Callable[[bool], Numbers]]] = []


def pair(kernel: Any) -> Callable[[Callable[[bool], Numbers]], None]:
    """Registers what launches the kernel and gives its numbers and the reference's, both on the host."""
    return lambda run: PAIRS.append((kernel, run))


def cuda(*size: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Random numbers."""
    return torch.randn(*size).to(dtype).cuda()


# Vectors, rows and indices


@triton.jit
def add(x, y, o, n, B: tl.constexpr, W: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    s = tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n)
    tl.store(o + i, s, mask=i < (4 * B if W else n))  # planted: memcheck


@pair(add)
def _(wrong):
    x, y, o = cuda(1000), cuda(1000), cuda(1000)
    add[(4,)](x, y, o, 1000, B=256, W=wrong)
    return o.cpu(), (x + y).cpu()


@triton.jit
def row_max(x, o, n, B: tl.constexpr, W: tl.constexpr):
    r, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + r * n + c, mask=c < (B if W else n), other=-float("inf"))  # planted: memcheck
    tl.store(o + r, tl.max(v, 0))


@pair(row_max)
def _(wrong):
    x, o = cuda(5, 100), cuda(5)
    row_max[(5,)](x, o, 100, B=128, W=wrong)
    return o.cpu(), x.cpu().amax(1)


@triton.jit
def softmax(x, o, n, B: tl.constexpr, W: tl.constexpr):
    r, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + r * n + c, mask=c < n, other=0.0 if W else -float("inf"))  # planted: numbers
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + r * n + c, e / tl.sum(e, 0), mask=c < n)


@pair(softmax)
def _(wrong):
    x, o = cuda(5, 100), cuda(5, 100)
    softmax[(5,)](x, o, 100, B=128, W=wrong)
    return o.cpu(), x.cpu().softmax(1)


@triton.jit
def layer_norm(x, o, n, B: tl.constexpr, W: tl.constexpr):
    r, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + r * n + c, mask=c < n, other=0.0)
    d = v - tl.sum(v, 0) / n
    d = d if W else tl.where(c < n, d, 0.0)  # planted: numbers
    tl.store(o + r * n + c, d * tl.rsqrt(tl.sum(d * d, 0) / n + 1e-5), mask=c < n)


@pair(layer_norm)
def _(wrong):
    x, o = cuda(5, 100) + 1, cuda(5, 100)
    layer_norm[(5,)](x, o, 100, B=128, W=wrong)
    return o.cpu(), F.layer_norm(x.cpu(), (100,))


@triton.jit
def row_of_a_large_tensor(x, o, stride, B: tl.constexpr, W: tl.constexpr):
    r = tl.program_id(0) * 1023
    at = r * stride if W else r.to(tl.int64) * stride
    tl.store(o + tl.program_id(0) * B + tl.arange(0, B), tl.load(x + at + tl.arange(0, B)))  # planted: memcheck


@pair(row_of_a_large_tensor)
def _(wrong):
    x, o = torch.empty(1024, 3 << 20, dtype=torch.int8, device="cuda"), torch.empty(2, 64, dtype=torch.int8, device="cuda")
    for row in (0, 1023):
        x[row, :64] = row % 100
    row_of_a_large_tensor[(2,)](x, o, x.stride(0), B=64, W=wrong)
    return o.cpu(), torch.tensor([[0], [23]]).expand(2, 64)


@triton.jit
def hashed(x, o, n, B: tl.constexpr, W: tl.constexpr):
    i = tl.arange(0, B)
    h = i * 1_000_003 if W else i.to(tl.int64) * 1_000_003
    tl.store(o + i, tl.load(x + h % n))  # planted: memcheck


@pair(hashed)
def _(wrong):
    x, o = cuda(1000), cuda(4096)
    hashed[(1,)](x, o, 1000, B=4096, W=wrong)
    return o.cpu(), x.cpu()[torch.arange(4096) * 1_000_003 % 1000]


@triton.jit
def sum_of_halves(x, o, n, B: tl.constexpr, W: tl.constexpr):
    acc = tl.zeros((B,), tl.float16 if W else tl.float32)  # planted: numbers
    for k in range(0, n, B):
        acc += tl.load(x + k + tl.arange(0, B)).to(acc.dtype)
    tl.store(o, tl.sum(acc, 0))


@pair(sum_of_halves)
def _(wrong):
    x, o = torch.ones(1 << 18, dtype=torch.float16, device="cuda"), cuda(1)
    sum_of_halves[(1,)](x, o, 1 << 18, B=64, W=wrong)
    return o.cpu(), torch.tensor([float(1 << 18)])


@triton.jit
def gather(x, index, o, n, B: tl.constexpr, W: tl.constexpr):
    at = tl.load(index + tl.arange(0, B))
    at = at if W else tl.where(at < 0, at + n, at)
    tl.store(o + tl.arange(0, B), tl.load(x + at))  # planted: memcheck


@pair(gather)
def _(wrong):
    x, o, index = cuda(100), cuda(32), torch.arange(-16, 16, device="cuda")
    gather[(1,)](x, index, o, 100, B=32, W=wrong)
    return o.cpu(), x.cpu()[index.cpu()]


@triton.jit
def scatter(x, index, o, B: tl.constexpr, W: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    if W:
        tl.store(o + tl.load(index + i), tl.load(x + i))  # planted: racecheck
    else:
        tl.atomic_add(o + tl.load(index + i), tl.load(x + i))


@pair(scatter)
def _(wrong):
    x, o, index = cuda(128), torch.zeros(50, device="cuda"), torch.arange(128, device="cuda") % 50
    scatter[(2,)](x, index, o, B=64, W=wrong)
    return o.cpu(), torch.zeros(50).index_add(0, index.cpu(), x.cpu())


@triton.jit
def histogram(x, o, B: tl.constexpr, W: tl.constexpr):
    v = tl.load(x + tl.program_id(0) * B + tl.arange(0, B))
    if W:
        tl.store(o + v, tl.load(o + v) + 1)  # planted: racecheck
    else:
        tl.atomic_add(o + v, 1)


@pair(histogram)
def _(wrong):
    x, o = torch.randint(0, 32, (1024,)).cuda(), torch.zeros(32, dtype=torch.int32, device="cuda")
    histogram[(4,)](x, o, B=256, W=wrong)
    return o.cpu(), torch.bincount(x.cpu(), minlength=32)


@triton.jit
def histogram_of_a_block(x, o, n, B: tl.constexpr, W: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    counts = tl.histogram(tl.load(x + i, mask=i < n, other=0), 32)
    tl.atomic_add(o + tl.arange(0, 32), counts if W else counts - tl.where(tl.arange(0, 32) == 0, tl.sum((i >= n).to(tl.int32), 0), 0))  # planted: numbers


@pair(histogram_of_a_block)
def _(wrong):
    x, o = torch.randint(0, 32, (1000,), dtype=torch.int32).cuda(), torch.zeros(32, dtype=torch.int32, device="cuda")
    histogram_of_a_block[(4,)](x, o, 1000, B=256, W=wrong)
    return o.cpu(), torch.bincount(x.cpu(), minlength=32)


@triton.jit
def scan(x, o, n, B: tl.constexpr, W: tl.constexpr):
    carry = 0.0
    for k in range(0, n, B):
        s = tl.cumsum(tl.load(x + k + tl.arange(0, B)), 0)
        tl.store(o + k + tl.arange(0, B), s + carry)
        carry = tl.max(s, 0) if W else carry + tl.max(s, 0)  # planted: numbers


@pair(scan)
def _(wrong):
    x, o = cuda(512).abs(), cuda(512)
    scan[(1,)](x, o, 512, B=128, W=wrong)
    return o.cpu(), x.cpu().cumsum(0)


# Memory between threads and between programs


@triton.jit
def through_scratch(x, o, scratch, B: tl.constexpr, W: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(scratch + i, tl.load(x + i))  # planted: racecheck
    if not W:
        tl.debug_barrier()
    tl.store(o + i, tl.load(scratch + B - 1 - i))  # planted: racecheck


@pair(through_scratch)
def _(wrong):
    x, o, scratch = cuda(256), cuda(256), cuda(256)
    through_scratch[(1,)](x, o, scratch, B=256, W=wrong)
    return o.cpu(), x.cpu().flip(0)


@triton.jit
def accumulate(x, scratch, n, B: tl.constexpr, W: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    if not W:
        tl.store(scratch + i, 0.0)
    for k in range(n):
        tl.store(scratch + i, tl.load(scratch + i) + tl.load(x + k * 4 * B + i))  # planted: initcheck


@pair(accumulate)
def _(wrong):
    x, scratch = cuda(3, 256), torch.empty(256, device="cuda")
    accumulate[(4,)](x, scratch, 3, B=64, W=wrong)
    return scratch.cpu(), x.cpu().sum(0)


@triton.jit
def split_k(a, b, c, K: tl.constexpr, B: tl.constexpr, W: tl.constexpr):
    i, k = tl.arange(0, B), tl.program_id(0) * B + tl.arange(0, B)
    acc = tl.dot(tl.load(a + i[:, None] * K + k[None, :]), tl.load(b + k[:, None] * B + i[None, :]), input_precision="ieee")
    to = c + i[:, None] * B + i[None, :]
    if W:
        tl.store(to, tl.load(to) + acc)  # planted: racecheck
    else:
        tl.atomic_add(to, acc)


@pair(split_k)
def _(wrong):
    a, b, c = cuda(16, 64), cuda(64, 16), torch.zeros(16, 16, device="cuda")
    split_k[(4,)](a, b, c, K=64, B=16, W=wrong)
    return c.cpu(), a.cpu() @ b.cpu()


@triton.jit
def last_program_adds_up(x, o, partial, ticket, B: tl.constexpr, W: tl.constexpr):
    p, n = tl.program_id(0), tl.num_programs(0)
    tl.store(partial + p, tl.sum(tl.load(x + p * B + tl.arange(0, B)), 0))
    if not W:
        tl.debug_barrier()
    done = tl.atomic_add(ticket, 1, sem="relaxed" if W else "acq_rel")
    if done == n - 1:
        tl.store(o, tl.sum(tl.load(partial + tl.arange(0, 8)), 0))  # planted: racecheck


@pair(last_program_adds_up)
def _(wrong):
    x, o, partial, ticket = cuda(1024), cuda(1), cuda(8), torch.zeros(1, dtype=torch.int32, device="cuda")
    last_program_adds_up[(8,)](x, o, partial, ticket, B=128, W=wrong)
    return o.cpu(), x.cpu().sum(0, keepdim=True)


@triton.jit
def sum_under_a_lock(x, o, lock, B: tl.constexpr, W: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * B + i)
    while tl.atomic_cas(lock, 0, 1, sem="relaxed" if W else "acquire") == 1:
        pass
    tl.store(o + i, tl.load(o + i) + v)  # planted: racecheck
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0, sem="release")


@pair(sum_under_a_lock)
def _(wrong):
    x, o, lock = cuda(8, 256), torch.zeros(256, device="cuda"), torch.zeros(1, dtype=torch.int32, device="cuda")
    sum_under_a_lock[(8,)](x, o, lock, B=256, W=wrong)
    return o.cpu(), x.cpu().sum(0)


@triton.jit
def chained_scan(x, o, sums, flags, B: tl.constexpr, W: tl.constexpr):
    p = tl.program_id(0)
    s = tl.cumsum(tl.load(x + p * B + tl.arange(0, B)), 0)
    before = 0.0
    if p > 0:
        while tl.atomic_add(flags + p - 1, 0, sem="relaxed" if W else "acquire") == 0:
            pass
        before = tl.load(sums + p - 1)  # planted: racecheck
    tl.store(sums + p, before + tl.max(s, 0))
    tl.debug_barrier()
    tl.atomic_xchg(flags + p, 1, sem="relaxed" if W else "release")
    tl.store(o + p * B + tl.arange(0, B), s + before)


@pair(chained_scan)
def _(wrong):
    x, o, sums, flags = cuda(512).abs(), cuda(512), cuda(4), torch.zeros(4, dtype=torch.int32, device="cuda")
    chained_scan[(4,)](x, o, sums, flags, B=128, W=wrong)
    return o.cpu(), x.cpu().cumsum(0)


@triton.jit
def sum_of_many(pointers, o, n, B: tl.constexpr, W: tl.constexpr):
    acc = tl.zeros((B,), tl.float32)
    for k in range(n):
        x = tl.load(pointers + k).to(tl.pointer_type(tl.float32))
        acc += tl.load(x + tl.arange(0, B))  # planted: memcheck
    tl.store(o + tl.arange(0, B), acc)


@pair(sum_of_many)
def _(wrong):
    """The kernel is right; its caller has freed a tensor."""
    many, o = [cuda(64) for _ in range(3)], cuda(64)
    pointers, expected = torch.tensor([one.data_ptr() for one in many]).cuda(), sum(one.cpu() for one in many)
    if wrong:
        del many[1]
    sum_of_many[(1,)](pointers, o, 3, B=64, W=wrong)
    return o.cpu(), expected


# Products of matrices and attention


@triton.jit
def matmul(a, b, c, M, N, K, stride, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr, W: tl.constexpr):
    i, j, k = tl.program_id(0) * TM + tl.arange(0, TM), tl.program_id(1) * TN + tl.arange(0, TN), tl.arange(0, TK)
    acc = tl.zeros((TM, TN), tl.float32)
    for k0 in range(0, K, TK):
        left = tl.load(a + i[:, None] * K + k0 + k[None, :], mask=k[None, :] < K - k0, other=0.0)
        rows = TK if W else K - k0
        right = tl.load(b + (k0 + k[:, None]) * stride + j[None, :], mask=k[:, None] < rows, other=0.0)  # planted: memcheck
        acc = tl.dot(left, right, acc)
    tl.store(c + i[:, None] * N + j[None, :], acc.to(c.dtype.element_ty))


@pair(matmul)
def _(wrong):
    a, b, c = cuda(128, 104, dtype=torch.float16), cuda(104, 128, dtype=torch.float16), cuda(128, 128)
    matmul[(2, 2)](a, b, c, 128, 128, 104, 128, TM=64, TN=64, TK=32, W=wrong, num_stages=3)
    return c.cpu(), a.cpu().float() @ b.cpu().float()


@triton.jit
def matmul_of_transposed(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, W: tl.constexpr):
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    left = tl.load(a + i[:, None] * K + k[None, :])
    right = tl.load(b + j[None, :] * (N if W else K) + k[:, None])  # planted: memcheck
    tl.store(c + i[:, None] * N + j[None, :], tl.dot(left, right, out_dtype=tl.float32))


@pair(matmul_of_transposed)
def _(wrong):
    a, b, c = cuda(64, 32, dtype=torch.bfloat16), cuda(64, 32, dtype=torch.bfloat16), cuda(64, 64)
    matmul_of_transposed[(1,)](a, b, c, M=64, N=64, K=32, W=wrong)
    return c.cpu(), a.cpu().float() @ b.cpu().float().T


@triton.jit
def tf32_matmul(a, b, c, B: tl.constexpr, W: tl.constexpr):
    i, j = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    product = tl.dot(tl.load(a + i * B + j), tl.load(b + (j * B + i if W else i * B + j)), input_precision="tf32")  # planted: numbers
    tl.store(c + i * B + j, product)


@pair(tf32_matmul)
def _(wrong):
    a, b, c = (cuda(64, 64).round() for _ in range(3))
    tf32_matmul[(1,)](a, b, c, B=64, W=wrong)
    return c.cpu(), a.cpu() @ b.cpu()


@triton.jit
def fp8_matmul(a, b, scales, c, B: tl.constexpr, W: tl.constexpr):
    i, j = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    product = tl.dot(tl.load(a + i * B + j), tl.load(b + j * B + i))
    tl.store(c + i * B + j, product * tl.load(scales + (j if W else i)))  # planted: numbers


@pair(fp8_matmul)
def _(wrong):
    a, b = (cuda(64, 64).to(torch.float8_e4m3fn) for _ in range(2))
    scales, c = cuda(64), cuda(64, 64)
    fp8_matmul[(1,)](a, b, scales, c, B=64, W=wrong)
    return c.cpu(), a.cpu().float() @ b.cpu().float().T * scales.cpu()[:, None]


@triton.jit
def attention(q, k, v, o, n, D: tl.constexpr, B: tl.constexpr, W: tl.constexpr):
    h, i, d = tl.program_id(1) * n * D, tl.program_id(0) * B + tl.arange(0, B), tl.arange(0, D)
    at = h + i[:, None] * D + d[None, :]
    mine = tl.load(q + at, mask=i[:, None] < n, other=0.0)
    most, total, acc = tl.full((B,), -1e30, tl.float32), tl.zeros((B,), tl.float32), tl.zeros((B, D), tl.float32)
    for j0 in range(0, (tl.program_id(0) + 1) * B, B):
        j = j0 + tl.arange(0, B)
        inside = j[:, None] < n
        keys = tl.load(k + h + j[:, None] * D + d[None, :], mask=inside, other=0.0)
        s = tl.where(i[:, None] >= j[None, :], tl.dot(mine, keys.T) * 0.25, -1e30)
        now = tl.maximum(most, tl.max(s, 1))
        p, shrunk = tl.exp(s - now[:, None]), tl.exp(most - now)
        total = total * shrunk + tl.sum(p, 1)
        acc = acc if W else acc * shrunk[:, None]  # planted: numbers
        acc = tl.dot(p.to(tl.float16), tl.load(v + h + j[:, None] * D + d[None, :], mask=inside, other=0.0), acc)
        most = now
    tl.store(o + at, acc / total[:, None], mask=i[:, None] < n)


@pair(attention)
def _(wrong):
    q, k, v = (cuda(2, 100, 16, dtype=torch.float16) for _ in range(3))
    o = cuda(2, 100, 16)
    attention[(2, 2)](q, k, v, o, 100, D=16, B=64, W=wrong)
    return o.cpu(), F.scaled_dot_product_attention(q.cpu().float(), k.cpu().float(), v.cpu().float(), is_causal=True)


# Descriptors


@triton.jit
def transpose_tiles(x, o, M, N, rows, B: tl.constexpr, W: tl.constexpr):
    source = tl.make_tensor_descriptor(x, shape=[rows, N], strides=[N, 1], block_shape=[B, B])
    i, j = tl.program_id(0) * B, tl.program_id(1) * B
    tile = source.load([i, j])  # planted: memcheck
    to = tl.make_tensor_descriptor(o, shape=[N, M], strides=[M, 1], block_shape=[B, B])
    to.store([j, i], tile.T)


def scratch_for_descriptors(size: int, alignment: int, stream: Any) -> torch.Tensor:
    """As Triton asks for it."""
    return torch.empty(size, dtype=torch.int8, device="cuda")


@pair(transpose_tiles)
def _(wrong):
    triton.set_allocator(scratch_for_descriptors)
    x, o = cuda(40, 64), cuda(64, 40)
    transpose_tiles[(2, 2)](x, o, 40, 64, 48 if wrong else 40, B=32, W=wrong)
    return o.cpu(), x.cpu().T


@triton.jit
def copy_of_tiles(x, o, B: tl.constexpr, W: tl.constexpr):
    tile = x.load([tl.program_id(0) * B, 0])  # planted: initcheck
    tl.store(o + (tl.program_id(0) * B + tl.arange(0, B)[:, None]) * 32 + tl.arange(0, 32)[None, :], tile * 2)


@pair(copy_of_tiles)
def _(wrong):
    from triton.tools.tensor_descriptor import TensorDescriptor as Descriptor
    x, o, filled = torch.empty(64, 32, device="cuda"), cuda(64, 32), cuda(64, 32)
    x[: 60 if wrong else 64] = filled[: 60 if wrong else 64]
    copy_of_tiles[(2,)](Descriptor.from_tensor(x, [32, 32]), o, B=32, W=wrong)
    return o.cpu(), 2 * filled.cpu()


# Gluon: barriers, copies and products that the kernel waits for itself


@gluon.jit
def staged_copies(x, o, n, B: gl.constexpr, STAGES: gl.constexpr, W: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([2], [32], [4], [0])
    i = gl.arange(0, B, layout)
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    buffers = gl.allocate_shared_memory(gl.float32, [STAGES, B], shared)
    for k in gl.static_range(STAGES - 1):
        async_copy.async_load(buffers.index(k), x + k * B + i)
        async_copy.commit_group()
    total = gl.zeros([B], gl.float32, layout)
    for k in range(n):
        async_copy.async_load(buffers.index((k + STAGES - 1) % STAGES), x + (k + STAGES - 1) * B + i, mask=i < (n - k - STAGES + 1) * B)
        async_copy.commit_group()
        async_copy.wait_group(STAGES if W else STAGES - 1)
        gl.barrier()
        total += gl.convert_layout(buffers.index(k % STAGES).load(gl.BlockedLayout([1], [32], [4], [0])), layout)  # planted: racecheck initcheck
        gl.barrier()
    gl.store(o + i, total)


@pair(staged_copies)
def _(wrong):
    x, o = cuda(5, 256), cuda(256)
    staged_copies[(1,)](x, o, 5, B=256, STAGES=3, W=wrong)
    return o.cpu(), x.cpu().sum(0)


@gluon.jit
def tma_load(x, o, B: gl.constexpr, W: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    tile, bar = gl.allocate_shared_memory(x.dtype, [B, B], x.layout), mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    mbarrier.expect(bar, x.nbytes_per_cta)
    tma.async_load(x, [0, 0], bar, tile)
    if not W:
        mbarrier.wait(bar, 0)
    v = tile.load(layout)  # planted: racecheck initcheck
    mbarrier.wait(bar, 0)
    mbarrier.invalidate(bar)
    at = gl.arange(0, B, gl.SliceLayout(1, layout))[:, None] * B + gl.arange(0, B, gl.SliceLayout(0, layout))[None, :]
    gl.store(o + at, v)


def described(tensor: torch.Tensor, *block: int) -> TensorDescriptor:
    """A descriptor for gluon."""
    return TensorDescriptor.from_tensor(tensor, list(block), gl.NVMMASharedLayout.get_default_for(list(block), getattr(gl, str(tensor.dtype)[6:])))


@pair(tma_load)
def _(wrong):
    x, o = cuda(32, 32), cuda(32, 32)
    tma_load[(1,)](described(x, 32, 32), o, B=32, W=wrong)
    return o.cpu(), x.cpu()


@gluon.jit
def tma_ring(x, o, n, B: gl.constexpr, W: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    tile, bar = gl.allocate_shared_memory(x.dtype, [B, B], x.layout), mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    total = gl.zeros([B, B], gl.float32, layout)
    for k in range(n):
        mbarrier.expect(bar, x.nbytes_per_cta)
        tma.async_load(x, [k * B, 0], bar, tile)
        mbarrier.wait(bar, 0 if W else k & 1)  # planted: synccheck
        total += tile.load(layout)
        gl.barrier()
    at = gl.arange(0, B, gl.SliceLayout(1, layout))[:, None] * B + gl.arange(0, B, gl.SliceLayout(0, layout))[None, :]
    gl.store(o + at, total)


@pair(tma_ring)
def _(wrong):
    x, o = cuda(96, 32), cuda(32, 32)
    tma_ring[(1,)](described(x, 32, 32), o, 3, B=32, W=wrong)
    return o.cpu(), x.cpu().reshape(3, 32, 32).sum(0)


@gluon.jit
def tma_stores(x, o, n, B: gl.constexpr, W: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    tile = gl.allocate_shared_memory(o.dtype, [B, B], o.layout)
    at = gl.arange(0, B, gl.SliceLayout(1, layout))[:, None] * B + gl.arange(0, B, gl.SliceLayout(0, layout))[None, :]
    for k in range(n):
        tile.store(gl.load(x + k * B * B + at) * 2)  # planted: racecheck
        fence_async_shared()
        gl.barrier()
        tma.async_store(o, [k * B, 0], tile)
        if not W:
            tma.store_wait(0)
            gl.barrier()
    tma.store_wait(0)


@pair(tma_stores)
def _(wrong):
    x, o = cuda(96, 32), cuda(96, 32)
    tma_stores[(1,)](x, described(o, 32, 32), 3, B=32, W=wrong)
    return o.cpu(), 2 * x.cpu()


@gluon.jit
def product_in_flight(a, b, o, B: gl.constexpr, W: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    result: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 64, 16])
    at = gl.arange(0, B, gl.SliceLayout(1, layout))[:, None] * B + gl.arange(0, B, gl.SliceLayout(0, layout))[None, :]
    shared: gl.constexpr = gl.NVMMASharedLayout.get_default_for([B, B], gl.float16)
    left, right = gl.allocate_shared_memory(gl.float16, [B, B], shared), gl.allocate_shared_memory(gl.float16, [B, B], shared)
    left.store(gl.load(a + at))
    right.store(gl.load(b + at))
    fence_async_shared()
    gl.barrier()
    acc = warpgroup_mma(left, right, gl.zeros([B, B], gl.float32, result), is_async=True)
    if not W:
        acc = warpgroup_mma_wait(0, deps=[acc])
    gl.barrier()
    left.store(gl.full([B, B], 0, gl.float16, layout))  # planted: racecheck
    total = warpgroup_mma_wait(0, deps=[acc]) if W else acc
    gl.store(o + at, gl.convert_layout(total, layout))


@pair(product_in_flight)
def _(wrong):
    a, b, o = cuda(64, 64, dtype=torch.float16), cuda(64, 64, dtype=torch.float16), cuda(64, 64)
    product_in_flight[(1,)](a, b, o, B=64, W=wrong)
    return o.cpu(), a.cpu().float() @ b.cpu().float()


@gluon.jit
def shared_scratch(x, o, B: gl.constexpr, W: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    i = gl.arange(0, B, layout)
    scratch = gl.allocate_shared_memory(gl.float32, [2, B], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    scratch.index(0).store(gl.load(x + i))
    gl.store(o + i, scratch.index(1 if W else 0).load(layout) * 2)  # planted: initcheck


@pair(shared_scratch)
def _(wrong):
    x, o = cuda(128), cuda(128)
    shared_scratch[(1,)](x, o, B=128, W=wrong)
    return o.cpu(), 2 * x.cpu()


@gluon.jit
def bytes_of_a_barrier(x, o, B: gl.constexpr, W: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    tile, bar = gl.allocate_shared_memory(x.dtype, [B, B], x.layout), mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    mbarrier.expect(bar, 2 * x.nbytes_per_cta if W else x.nbytes_per_cta)
    tma.async_load(x, [0, 0], bar, tile)
    mbarrier.wait(bar, 0)  # planted: synccheck
    at = gl.arange(0, B, gl.SliceLayout(1, layout))[:, None] * B + gl.arange(0, B, gl.SliceLayout(0, layout))[None, :]
    gl.store(o + at, tile.load(layout))


@pair(bytes_of_a_barrier)
def _(wrong):
    x, o = cuda(32, 32), cuda(32, 32)
    bytes_of_a_barrier[(1,)](described(x, 32, 32), o, B=32, W=wrong)
    return o.cpu(), x.cpu()


@gluon.jit
def consumer(tiles, full, empty, o, n, B: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    total = gl.zeros([B, B], gl.float32, layout)
    for k in range(n):
        mbarrier.wait(full.index(k % 2), (k // 2) & 1)  # planted: synccheck
        total += tiles.index(k % 2).load(layout)  # planted: racecheck
        mbarrier.arrive(empty.index(k % 2), count=1)
    at = gl.arange(0, B, gl.SliceLayout(1, layout))[:, None] * B + gl.arange(0, B, gl.SliceLayout(0, layout))[None, :]
    gl.store(o + at, total)


@gluon.jit
def producer(x, tiles, full, empty, n, B: gl.constexpr, W: gl.constexpr):
    for k in range(n):
        if not W:
            mbarrier.wait(empty.index(k % 2), ((k // 2) & 1) ^ 1)
        mbarrier.expect(full.index(k % 2), x.nbytes_per_cta)  # planted: synccheck
        tma.async_load(x, [k * B, 0], full.index(k % 2), tiles.index(k % 2))  # planted: racecheck


@gluon.jit
def specialized_warps(x, o, n, B: gl.constexpr, W: gl.constexpr):
    tiles = gl.allocate_shared_memory(x.dtype, [2, B, B], x.layout)
    full, empty = mbarrier.allocate_mbarrier(batch=2), mbarrier.allocate_mbarrier(batch=2)
    for k in gl.static_range(2):
        mbarrier.init(full.index(k), count=1)
        mbarrier.init(empty.index(k), count=1)
    gl.warp_specialize([(consumer, (tiles, full, empty, o, n, B)), (producer, (x, tiles, full, empty, n, B, W))], [1], [24])


@pair(specialized_warps)
def _(wrong):
    x, o = cuda(192, 32), cuda(32, 32)
    specialized_warps[(1,)](described(x, 32, 32), o, 6, B=32, W=wrong)
    return o.cpu(), x.cpu().reshape(6, 32, 32).sum(0)


# What was seen of each: a line of JSON.

PLANTED = re.compile(r"# planted: ([\w ]+)$")
MINE = [(number, by) for number, line in enumerate(open(__file__, encoding="utf-8"), 1) if (found := PLANTED.search(line.rstrip()))
        for by in found.group(1).split()]


def planted(kernel: Any) -> list[tuple[int, str]]:
    """The lines of a kernel, and of the functions above it that nobody launches, at which a finding is right."""
    lines, first = inspect.getsourcelines(kernel.fn)
    others = [one.fn for one in (consumer, producer)] if kernel is specialized_warps else []
    spans = [(first, first + len(lines))] + [(start, start + len(text)) for text, start in map(inspect.getsourcelines, others)]
    return [one for one in MINE if any(start <= one[0] < end for start, end in spans)]


def main(names: list[str]) -> None:
    """Runs all, or those with these names."""
    for kernel, run in PAIRS:
        name = kernel.fn.__name__
        for wrong in (True, False):
            if names and name not in names:
                continue
            torch.manual_seed(0)
            before, error, is_right = findings_so_far(), "", False
            try:
                got, expected = run(wrong)
                is_right = torch.allclose(got.double(), expected.double(), rtol=1e-2, atol=1e-2 * math.sqrt(float(expected.double().square().mean())))
            except Exception as caught:  # pylint: disable=broad-except
                error = "".join(traceback.format_exception_only(caught))
            new: Counter[str] = findings_so_far() - before
            print(json.dumps({"name": name, "wrong": wrong, "planted": planted(kernel), "is_right": is_right, "findings": list(new), "error": error}), flush=True)


main(sys.argv[1:])

# @title Four columns of a thread, in CuTe DSL
# @builds-on naive
# @hypothesis an element of the left matrix is read once for four products
# @parameter COLUMNS 4 2 1
# @launch product grid(div(N, 32 * COLUMNS), div(M + 3, 4)) block(32, 4) args(a, b, c, M, N, K, COLUMNS)
# @requires mod(N, 128) == 0
import cutlass
import cutlass.cute as cute


@cute.kernel
def product(a: cute.Pointer, b: cute.Pointer, c: cute.Pointer, M: cutlass.Int32, N: cutlass.Int32, K: cutlass.Int32,
            COLUMNS: cutlass.Constexpr):
    thread, line, _ = cute.arch.thread_idx()
    block, row, _ = cute.arch.block_idx()
    m = row * 4 + line
    n = (block * 32 + thread) * COLUMNS
    left = cute.make_tensor(a, cute.make_layout((M, K), stride=(K, 1)))
    right = cute.make_tensor(b, cute.make_layout((K, N), stride=(N, 1)))
    result = cute.make_tensor(c, cute.make_layout((M, N), stride=(N, 1)))
    total = cute.make_rmem_tensor(cute.make_layout(COLUMNS), cutlass.Float32)
    total.fill(0.0)
    if m < M:
        for k in range(K):
            for i in cutlass.range_constexpr(COLUMNS):
                total[i] += left[m, k].to(cutlass.Float32) * right[k, n + i].to(cutlass.Float32)
        for i in cutlass.range_constexpr(COLUMNS):
            result[m, n + i] = total[i]

# @title Tiles on tensor cores, in TileLang
# @builds-on naive
# @parameter TILE 64
# @requires mod(M, 64) == 0
# @requires mod(N, 64) == 0
# @requires mod(K, 32) == 0
# @launch product grid(div(N, TILE), div(M, TILE))
import tilelang.language as T

TILE = globals().get("TILE", 64)
INNER = 32
M, N, K = T.dynamic("M"), T.dynamic("N"), T.dynamic("K")


@T.prim_func
def product(a: T.Tensor((M, K), "float16"), b: T.Tensor((K, N), "float16"), c: T.Tensor((M, N), "float32")):
    with T.Kernel(T.ceildiv(N, TILE), T.ceildiv(M, TILE), threads=128) as (bx, by):
        left = T.alloc_shared((TILE, INNER), "float16")
        right = T.alloc_shared((INNER, TILE), "float16")
        total = T.alloc_fragment((TILE, TILE), "float32")
        T.clear(total)
        for k in T.Pipelined(T.ceildiv(K, INNER), num_stages=2):
            T.copy(a[by * TILE, k * INNER], left)
            T.copy(b[k * INNER, bx * TILE], right)
            T.gemm(left, right, total)
        T.copy(total, c[by * TILE, bx * TILE])

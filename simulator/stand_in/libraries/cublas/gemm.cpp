// Products of matrices.
#include <algorithm>

#include "simulator/stand_in/libraries/cublas/handle.hpp"
#include "simulator/stand_in/libraries/openblas/openblas.hpp"

using namespace convladder::stand_in;

extern "C" {

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n,
                              int k, const float* alpha, const float* a, int lda, const float* b, int ldb,
                              const float* beta, float* c, int ldc) {
  return answer("cublasSgemm", handle, [&](LibraryCall& call, cublasContext& context) {
    require(m >= 0 && n >= 0 && k >= 0, "a size is negative");
    const bool turned_a = of_a != CUBLAS_OP_N;
    const bool turned_b = of_b != CUBLAS_OP_N;
    require(lda >= std::max(1, turned_a ? k : m), "lda is less than the rows of A");
    require(ldb >= std::max(1, turned_b ? n : k), "ldb is less than the rows of B");
    require(ldc >= std::max(1, m), "ldc is less than the rows of C");
    if (m == 0 || n == 0) return;
    const auto columns = [](const char* name, const float* at, int rows, int count, int ld, bool reads, bool writes) {
      return MemoryUse{.name = name,
                       .address = at,
                       .run_bytes = sizeof(float) * static_cast<std::uint64_t>(rows),
                       .runs = static_cast<std::uint64_t>(count),
                       .distance = sizeof(float) * static_cast<std::uint64_t>(ld),
                       .reads = reads,
                       .writes = writes};
    };
    LibraryWork work;
    work.uses = {columns("A", a, turned_a ? k : m, turned_a ? m : k, lda, true, false),
                 columns("B", b, turned_b ? n : k, turned_b ? k : n, ldb, true, false),
                 columns("C", c, m, n, ldc, *beta != 0, true)};
    work.amount.fp32 = 2.0 * m * n * k;
    work.amount.bytes = 4.0 * (1.0 * m * k + 1.0 * k * n + 2.0 * m * n);
    work.compute = [=, alpha = *alpha, beta = *beta](LibraryTurn& turn) {
      OPENBLAS(cblas_sgemm)(kColumnMajor, turned_a ? kTransposed : kPlain, turned_b ? kTransposed : kPlain, m, n, k, alpha,
                  turn.at(a), lda, turn.at(b), ldb, beta, turn.at(c), ldc);
    };
    enqueue(kCublas, call, std::move(work), context.stream);
  });
}

}  // extern "C"

// Batches of small systems of equations: LU, solutions and inverses with it, QR.
#include <algorithm>
#include <vector>

#include "simulator/stand_in/libraries/cublas/functions.hpp"
#include "simulator/stand_in/libraries/openblas/lapack.hpp"
#include "simulator/stand_in/libraries/operands/lu.hpp"

using namespace convladder::stand_in;

namespace {

MemoryUse pointers(const char* name, const void* at, int batch) {
  return vector_use(name, at, batch, 1, sizeof(void*), Access::read);
}
MemoryUse whole_numbers(const char* name, const int* at, std::int64_t count, Access access) {
  return vector_use(name, at, count, 1, sizeof(int), access);
}

/// Enqueues work on each of a batch; `one(turn, i)`.
template <typename T, typename One>
void enqueue_batch(LibraryCall& call, const cublasContext& context, std::vector<MemoryUse> uses, int batch,
                   double pairs, const One& one) {
  if (batch == 0) return;
  LibraryWork work{.uses = std::move(uses)};
  add_pairs<T>(work.amount, context, pairs * batch);
  work.amount.bytes = bytes_of(work.uses);
  work.compute = [batch, one](LibraryTurn& turn) {
    for (int i = 0; i < batch; ++i) one(turn, i);
  };
  enqueue(call, context, std::move(work));
}

double cube(int n) { return static_cast<double>(n) * n * n; }

void check(int n, int leading, int batch) {
  require(n >= 0 && batch >= 0, "a size is negative");
  require(leading >= std::max(1, n), "a leading dimension is less than the rows of its matrix");
}

/// LU of a matrix on the host; without a place for pivots, rows are not exchanged.
template <typename T>
int factorize(int n, T* a, int lda, int* pivots) {
  return pivots == nullptr ? lu_without_pivots(n, n, a, lda) : lapack::getrf(n, n, a, lda, pivots);
}

/// The pivots of matrix i, or those that exchange nothing; empty if they are none of a matrix of that size.
std::vector<int> pivots_of(LibraryTurn& turn, const int* pivots, int n, int i) {
  std::vector<int> rows(static_cast<std::size_t>(n) + 1);
  for (int row = 0; row < n; ++row) {
    const int with = pivots == nullptr ? row + 1 : turn.at(pivots)[static_cast<std::int64_t>(i) * n + row];
    if (with < 1 || with > n) return {};
    rows[static_cast<std::size_t>(row)] = with;
  }
  return rows;
}

template <typename T>
cublasStatus_t getrf(const char* name, cublasHandle_t handle, int n, T* const* a, int lda, int* pivots, int* infos,
                     int batch) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    check(n, lda, batch);
    std::vector<MemoryUse> uses = {pointers("the pointers to A", a, batch),
                                   whole_numbers("the infos", infos, batch, Access::write)};
    const std::int64_t count = static_cast<std::int64_t>(n) * batch;
    if (pivots != nullptr) uses.push_back(whole_numbers("the pivots", pivots, count, Access::write));
    enqueue_batch<T>(call, context, std::move(uses), batch, cube(n) / 3, [=](LibraryTurn& turn, int i) {
      T* const one = turn.at(a)[i];
      if (!turn.may_use(matrix_use("A", one, n, n, lda, sizeof(T), Access::both))) return;
      int* const rows = pivots == nullptr ? nullptr : turn.at(pivots) + static_cast<std::int64_t>(i) * n;
      turn.at(infos)[i] = factorize(n, turn.at(one), lda, rows);
    });
  });
}

template <typename T>
cublasStatus_t getrs(const char* name, cublasHandle_t handle, cublasOperation_t operation, int n, int count,
                     const T* const* a, int lda, const int* pivots, T* const* b, int ldb, int* info, int batch) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    require(info != nullptr, "the place for info is null");
    *info = 0;  // of the host
    require_operation(operation);
    require(count >= 0, "a size is negative");
    check(n, lda, batch);
    check(n, ldb, batch);
    std::vector<MemoryUse> uses = {pointers("the pointers to A", a, batch), pointers("the pointers to B", b, batch)};
    if (pivots != nullptr) {
      uses.push_back(whole_numbers("the pivots", pivots, static_cast<std::int64_t>(n) * batch, Access::read));
    }
    const double pairs = static_cast<double>(n) * n * count;
    enqueue_batch<T>(call, context, std::move(uses), batch, pairs, [=](LibraryTurn& turn, int i) {
      const T* const from = turn.at(a)[i];
      T* const to = turn.at(b)[i];
      const bool is_there = turn.may_use(matrix_use("A", from, n, n, lda, sizeof(T), Access::read));
      if (!turn.may_use(matrix_use("B", to, n, count, ldb, sizeof(T), Access::both)) || !is_there) return;
      const std::vector<int> rows = pivots_of(turn, pivots, n, i);
      const char how = operation == CUBLAS_OP_N ? 'N' : operation == CUBLAS_OP_C && is_complex<T> ? 'C' : 'T';
      if (!rows.empty()) lapack::getrs(how, n, count, turn.at(from), lda, rows.data(), turn.at(to), ldb);
    });
  });
}

/// The inverse of each matrix, from its LU, or from the matrix itself (`is_whole`).
template <typename T>
cublasStatus_t invert(const char* name, cublasHandle_t handle, bool is_whole, int n, const T* const* a, int lda,
                      const int* pivots, T* const* c, int ldc, int* infos, int batch) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    check(n, lda, batch);
    check(n, ldc, batch);
    require(!is_whole || n <= 32, "the matrices are larger than 32 x 32");
    std::vector<MemoryUse> uses = {pointers("the pointers to A", a, batch), pointers("the pointers to C", c, batch),
                                   whole_numbers("the infos", infos, batch, Access::write)};
    if (pivots != nullptr) {
      uses.push_back(whole_numbers("the pivots", pivots, static_cast<std::int64_t>(n) * batch, Access::read));
    }
    enqueue_batch<T>(call, context, std::move(uses), batch, cube(n), [=](LibraryTurn& turn, int i) {
      const T* const from = turn.at(a)[i];
      T* const to = turn.at(c)[i];
      const bool is_there = turn.may_use(matrix_use("A", from, n, n, lda, sizeof(T), Access::read));
      if (!turn.may_use(matrix_use("C", to, n, n, ldc, sizeof(T), Access::write)) || !is_there) return;
      const T* const source = turn.at(from);
      T* const target = turn.at(to);
      for (int column = 0; column < n; ++column) {
        std::copy_n(source + static_cast<std::int64_t>(column) * lda, n,
                    target + static_cast<std::int64_t>(column) * ldc);
      }
      std::vector<int> rows = pivots_of(turn, pivots, n, i);
      int info = rows.empty() ? -4 : 0;
      if (info == 0 && is_whole) info = lapack::getrf(n, n, target, ldc, rows.data());
      if (info == 0) info = lapack::getri(n, target, ldc, rows.data());
      turn.at(infos)[i] = info;
    });
  });
}

template <typename T>
cublasStatus_t geqrf(const char* name, cublasHandle_t handle, int m, int n, T* const* a, int lda, T* const* tau,
                     int* info, int batch) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    require(info != nullptr, "the place for info is null");
    *info = 0;  // of the host
    require(n >= 0, "a size is negative");
    check(m, lda, batch);
    std::vector<MemoryUse> uses = {pointers("the pointers to A", a, batch),
                                   pointers("the pointers to tau", tau, batch)};
    const int count = std::min(m, n);
    const double pairs = static_cast<double>(m) * n * count;
    enqueue_batch<T>(call, context, std::move(uses), batch, pairs, [=](LibraryTurn& turn, int i) {
      T* const one = turn.at(a)[i];
      T* const factors = turn.at(tau)[i];
      const bool is_there = turn.may_use(matrix_use("A", one, m, n, lda, sizeof(T), Access::both));
      if (!turn.may_use(vector_use("tau", factors, count, 1, sizeof(T), Access::write)) || !is_there) return;
      lapack::geqrf(m, n, turn.at(one), lda, turn.at(factors));
    });
  });
}

template <typename T>
auto numbers(T* const* at) {
  return reinterpret_cast<Number<T>* const*>(at);
}
template <typename T>
auto numbers(const T* const* at) {
  return reinterpret_cast<const Number<T>* const*>(at);
}

}  // namespace

extern "C" {

#define FACTORIZATIONS(L, C)                                                                                          \
  cublasStatus_t cublas##L##getrfBatched(cublasHandle_t handle, int n, C* const A[], int lda, int* P, int* info,      \
                                         int count) {                                                                 \
    return getrf("cublas" #L "getrfBatched", handle, n, numbers(A), lda, P, info, count);                             \
  }                                                                                                                   \
  cublasStatus_t cublas##L##getrsBatched(cublasHandle_t handle, cublasOperation_t trans, int n, int nrhs,             \
                                         const C* const A[], int lda, const int* P, C* const B[], int ldb, int* info, \
                                         int count) {                                                                 \
    return getrs("cublas" #L "getrsBatched", handle, trans, n, nrhs, numbers(A), lda, P, numbers(B), ldb, info,       \
                 count);                                                                                              \
  }                                                                                                                   \
  cublasStatus_t cublas##L##getriBatched(cublasHandle_t handle, int n, const C* const A[], int lda, const int* P,     \
                                         C* const c[], int ldc, int* info, int count) {                               \
    return invert("cublas" #L "getriBatched", handle, false, n, numbers(A), lda, P, numbers(c), ldc, info, count);    \
  }                                                                                                                   \
  cublasStatus_t cublas##L##matinvBatched(cublasHandle_t handle, int n, const C* const A[], int lda, C* const c[],    \
                                          int ldc, int* info, int count) {                                            \
    return invert("cublas" #L "matinvBatched", handle, true, n, numbers(A), lda, nullptr, numbers(c), ldc, info,      \
                  count);                                                                                             \
  }                                                                                                                   \
  cublasStatus_t cublas##L##geqrfBatched(cublasHandle_t handle, int m, int n, C* const A[], int lda, C* const tau[],  \
                                         int* info, int count) {                                                      \
    return geqrf("cublas" #L "geqrfBatched", handle, m, n, numbers(A), lda, numbers(tau), info, count);               \
  }
CUBLAS_ALL_OF_INT(FACTORIZATIONS)

}  // extern "C"

// Factorizations, and solutions with them: Cholesky, LU, QR, singular values, eigenvalues of symmetric matrices. What
// functions of both interfaces, by letter and by data type, do.
#pragma once

#include <algorithm>
#include <climits>
#include <complex>
#include <vector>

#include "simulator/stand_in/libraries/cusolver/handle.hpp"
#include "simulator/stand_in/libraries/openblas/lapack.hpp"
#include "simulator/stand_in/libraries/operands/api_numbers.hpp"
#include "simulator/stand_in/libraries/operands/lu.hpp"
#include "simulator/stand_in/libraries/operands/numbers.hpp"
#include "simulator/stand_in/libraries/operands/operands.hpp"

namespace convladder::stand_in::cusolver {

inline int small(std::int64_t size) {
  if (size > INT_MAX)
    throw Refused(CUSOLVER_STATUS_NOT_SUPPORTED, "sizes of more than 2147483647 are not computed here");
  return static_cast<int>(size);
}

inline void require_sizes(std::initializer_list<std::int64_t> sizes) {
  for (const std::int64_t size : sizes) {
    require(size >= 0, "a size is negative");
    static_cast<void>(small(size));
  }
}
inline void require_leading(std::int64_t leading, std::int64_t rows) {
  require(leading >= std::max<std::int64_t>(1, rows), "a leading dimension is less than the rows of its matrix");
  static_cast<void>(small(leading));
}
inline void require_triangle(cublasFillMode_t part) {
  require(part == CUBLAS_FILL_MODE_LOWER || part == CUBLAS_FILL_MODE_UPPER, "no such part of a matrix");
}
inline void require_operation(cublasOperation_t operation) {
  require(operation == CUBLAS_OP_N || operation == CUBLAS_OP_T || operation == CUBLAS_OP_C, "no such operation");
}

inline char letter_of(cublasFillMode_t part) { return part == CUBLAS_FILL_MODE_LOWER ? 'L' : 'U'; }
template <typename T>
char letter_of(cublasOperation_t operation) {
  return operation == CUBLAS_OP_N ? 'N' : operation == CUBLAS_OP_C && is_complex<T> ? 'C' : 'T';
}
inline bool is_lower(cublasFillMode_t part) { return part == CUBLAS_FILL_MODE_LOWER; }

/// The call's place for `info`, and its workspace, of which the real library may write every byte.
struct Around {
  int* info = nullptr;
  void* work = nullptr;
  std::int64_t work_bytes = 0;
  std::int64_t work_needed = 0;
};

/// Enqueues a computation that returns LAPACK's `info`.
template <typename T, typename Run>
void enqueue(LibraryCall& call, const cusolverDnContext& context, const Around& around, std::vector<MemoryUse> uses,
             double pairs, double steps, const Run& run) {
  require(around.info != nullptr, "the place for info is null");
  require(around.work_bytes >= around.work_needed,
          "the workspace is smaller than the function that tells its size says");
  LibraryWork work{.uses = std::move(uses)};
  work.uses.push_back({.name = "info", .address = around.info, .run_bytes = sizeof(int), .writes = true});
  if (around.work_needed > 0) {
    work.uses.push_back({.name = "the workspace",
                         .address = around.work,
                         .run_bytes = static_cast<std::uint64_t>(around.work_needed),
                         .writes = true});
  }
  const double operations = (is_complex<T> ? 8 : 2) * pairs;
  (std::is_same_v<Real<T>, double> ? work.amount.fp64 : work.amount.fp32) = operations;
  for (const MemoryUse& use : work.uses) {
    work.amount.bytes += static_cast<double>(use.runs) * static_cast<double>(use.run_bytes);
  }
  work.amount.steps = steps;
  work.compute = [info = around.info, run](LibraryTurn& turn) { *turn.at(info) = run(turn); };
  convladder::stand_in::enqueue(kCusolver, call, std::move(work), context.stream);
}

/// Kernels that have to wait for each other: a panel of columns after the other.
inline double panels(std::int64_t n) { return 3 * static_cast<double>(1 + n / 64); }
inline double cube(std::int64_t a, std::int64_t b, std::int64_t c) {
  return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c);
}

/// The numbers of workspace that are asked for: about what the real library takes, so that programs have it.
inline std::int64_t work_count(std::int64_t columns) { return std::max<std::int64_t>(1, 32 * columns); }

template <typename T>
void potrf(LibraryCall& call, const cusolverDnContext& context, cublasFillMode_t part, std::int64_t n, T* a,
           std::int64_t lda, const Around& around) {
  require_triangle(part);
  require_sizes({n});
  require_leading(lda, n);
  enqueue<T>(call, context, around, {triangle_use("A", a, n, lda, sizeof(T), is_lower(part), Access::both)},
             cube(n, n, n) / 6, panels(n),
             [=](LibraryTurn& turn) { return lapack::potrf(letter_of(part), small(n), turn.at(a), small(lda)); });
}

template <typename T>
void potri(LibraryCall& call, const cusolverDnContext& context, cublasFillMode_t part, std::int64_t n, T* a,
           std::int64_t lda, const Around& around) {
  require_triangle(part);
  require_sizes({n});
  require_leading(lda, n);
  enqueue<T>(call, context, around, {triangle_use("A", a, n, lda, sizeof(T), is_lower(part), Access::both)},
             cube(n, n, n) / 3, panels(n),
             [=](LibraryTurn& turn) { return lapack::potri(letter_of(part), small(n), turn.at(a), small(lda)); });
}

template <typename T>
void potrs(LibraryCall& call, const cusolverDnContext& context, cublasFillMode_t part, std::int64_t n,
           std::int64_t count, const T* a, std::int64_t lda, T* b, std::int64_t ldb, const Around& around) {
  require_triangle(part);
  require_sizes({n, count});
  require_leading(lda, n);
  require_leading(ldb, n);
  enqueue<T>(call, context, around,
             {triangle_use("A", a, n, lda, sizeof(T), is_lower(part), Access::read),
              matrix_use("B", b, n, count, ldb, sizeof(T), Access::both)},
             cube(n, n, count), panels(n), [=](LibraryTurn& turn) {
               return lapack::potrs(letter_of(part), small(n), small(count), turn.at(a), small(lda), turn.at(b),
                                    small(ldb));
             });
}

template <typename T, typename Pivot>
void getrf(LibraryCall& call, const cusolverDnContext& context, std::int64_t m, std::int64_t n, T* a, std::int64_t lda,
           Pivot* pivots, const Around& around) {
  require_sizes({m, n});
  require_leading(lda, m);
  const std::int64_t count = std::min(m, n);
  std::vector<MemoryUse> uses = {matrix_use("A", a, m, n, lda, sizeof(T), Access::both)};
  if (pivots != nullptr) uses.push_back(vector_use("the pivots", pivots, count, 1, sizeof(Pivot), Access::write));
  enqueue<T>(call, context, around, std::move(uses), cube(m, n, count) - cube(count, count, count) * 2 / 3,
             panels(count), [=](LibraryTurn& turn) {
               if (pivots == nullptr) return lu_without_pivots(small(m), small(n), turn.at(a), small(lda));
               std::vector<int> rows(static_cast<std::size_t>(count) + 1);
               const int info = lapack::getrf(small(m), small(n), turn.at(a), small(lda), rows.data());
               std::copy_n(rows.begin(), count, turn.at(pivots));
               return info;
             });
}

template <typename T, typename Pivot>
void getrs(LibraryCall& call, const cusolverDnContext& context, cublasOperation_t operation, std::int64_t n,
           std::int64_t count, const T* a, std::int64_t lda, const Pivot* pivots, T* b, std::int64_t ldb,
           const Around& around) {
  require_operation(operation);
  require_sizes({n, count});
  require_leading(lda, n);
  require_leading(ldb, n);
  std::vector<MemoryUse> uses = {matrix_use("A", a, n, n, lda, sizeof(T), Access::read),
                                 matrix_use("B", b, n, count, ldb, sizeof(T), Access::both)};
  if (pivots != nullptr) uses.push_back(vector_use("the pivots", pivots, n, 1, sizeof(Pivot), Access::read));
  enqueue<T>(call, context, around, std::move(uses), cube(n, n, count), panels(n), [=](LibraryTurn& turn) {
    std::vector<int> rows(static_cast<std::size_t>(n) + 1);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t row = pivots != nullptr ? static_cast<std::int64_t>(turn.at(pivots)[i]) : i + 1;
      if (row < 1 || row > n) return -5;  // LAPACK would exchange rows far away
      rows[static_cast<std::size_t>(i)] = static_cast<int>(row);
    }
    return lapack::getrs(letter_of<T>(operation), small(n), small(count), turn.at(a), small(lda), rows.data(),
                         turn.at(b), small(ldb));
  });
}

template <typename T>
void geqrf(LibraryCall& call, const cusolverDnContext& context, std::int64_t m, std::int64_t n, T* a, std::int64_t lda,
           T* tau, const Around& around) {
  require_sizes({m, n});
  require_leading(lda, m);
  const std::int64_t count = std::min(m, n);
  enqueue<T>(call, context, around,
             {matrix_use("A", a, m, n, lda, sizeof(T), Access::both),
              vector_use("tau", tau, count, 1, sizeof(T), Access::write)},
             cube(m, n, count), panels(count), [=](LibraryTurn& turn) {
               return lapack::geqrf(small(m), small(n), turn.at(a), small(lda), turn.at(tau));
             });
}

template <typename T>
void orgqr(LibraryCall& call, const cusolverDnContext& context, std::int64_t m, std::int64_t n, std::int64_t k, T* a,
           std::int64_t lda, const T* tau, const Around& around) {
  require_sizes({m, n, k});
  require(n <= m && k <= n, "there are more columns than rows, or more reflectors than columns");
  require_leading(lda, m);
  enqueue<T>(
      call, context, around,
      {matrix_use("A", a, m, n, lda, sizeof(T), Access::both), vector_use("tau", tau, k, 1, sizeof(T), Access::read)},
      2 * cube(m, n, k), panels(k), [=](LibraryTurn& turn) {
        return lapack::orgqr(small(m), small(n), small(k), turn.at(a), small(lda), turn.at(tau));
      });
}

template <typename T>
void ormqr(LibraryCall& call, const cusolverDnContext& context, cublasSideMode_t side, cublasOperation_t operation,
           std::int64_t m, std::int64_t n, std::int64_t k, const T* a, std::int64_t lda, const T* tau, T* c,
           std::int64_t ldc, const Around& around) {
  require(side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT, "no such side");
  require_operation(operation);
  require(!is_complex<T> || operation != CUBLAS_OP_T, "a unitary matrix is turned with CUBLAS_OP_C");
  require_sizes({m, n, k});
  const std::int64_t rows = side == CUBLAS_SIDE_LEFT ? m : n;
  require(k <= rows, "there are more reflectors than rows");
  require_leading(lda, rows);
  require_leading(ldc, m);
  // The reflectors lie below the diagonal of A, and nothing else of it is read.
  MemoryUse reflectors = matrix_use("A", a, rows, k, lda, sizeof(T), Access::read);
  reflectors.shift = sizeof(T);
  reflectors.growth = -static_cast<std::int64_t>(sizeof(T));
  enqueue<T>(call, context, around,
             {reflectors, vector_use("tau", tau, k, 1, sizeof(T), Access::read),
              matrix_use("C", c, m, n, ldc, sizeof(T), Access::both)},
             2 * cube(m, n, k), panels(k), [=](LibraryTurn& turn) {
               // LAPACK writes the diagonal of A and puts it back: a copy, as the memory is only to be read.
               std::vector<T> own(static_cast<std::size_t>(rows * k));
               const T* const from = turn.at(a);
               for (std::int64_t column = 0; column < k; ++column) {
                 std::copy_n(from + column * lda, rows, own.data() + column * rows);
               }
               return lapack::ormqr(side == CUBLAS_SIDE_LEFT ? 'L' : 'R', letter_of<T>(operation), small(m), small(n),
                                    small(k), own.data(), std::max(1, small(rows)), turn.at(tau), turn.at(c),
                                    small(ldc));
             });
}

template <typename T>
struct Svd {
  std::int64_t m = 0;
  std::int64_t n = 0;
  T* a = nullptr;
  std::int64_t lda = 0;
  Real<T>* s = nullptr;
  char of_u = 'N';
  T* u = nullptr;
  std::int64_t ldu = 0;
  char of_v = 'N';
  T* v = nullptr;
  std::int64_t ldv = 0;
  bool gives_v = false;  ///< V, not its conjugate transpose
};

template <typename T>
void gesvd(LibraryCall& call, const cusolverDnContext& context, const Svd<T>& svd, const Around& around) {
  const auto is_job = [](char job) { return job == 'A' || job == 'S' || job == 'O' || job == 'N'; };
  require(is_job(svd.of_u) && is_job(svd.of_v), "no such job");
  require(svd.of_u != 'O' || svd.of_v != 'O', "both results cannot take the place of A");
  require_sizes({svd.m, svd.n});
  require_leading(svd.lda, svd.m);
  const std::int64_t count = std::min(svd.m, svd.n);
  const std::int64_t columns_of_u = svd.of_u == 'A' ? svd.m : svd.of_u == 'S' ? count : 0;
  const std::int64_t rows_of_v = svd.of_v == 'A' ? svd.n : svd.of_v == 'S' ? count : 0;
  std::vector<MemoryUse> uses = {matrix_use("A", svd.a, svd.m, svd.n, svd.lda, sizeof(T), Access::both),
                                 vector_use("S", svd.s, count, 1, sizeof(Real<T>), Access::write)};
  if (columns_of_u > 0) {
    require_leading(svd.ldu, svd.m);
    uses.push_back(matrix_use("U", svd.u, svd.m, columns_of_u, svd.ldu, sizeof(T), Access::write));
  }
  if (rows_of_v > 0) {
    require_leading(svd.ldv, svd.gives_v ? svd.n : rows_of_v);
    uses.push_back(matrix_use(svd.gives_v ? "V" : "VT", svd.v, svd.gives_v ? svd.n : rows_of_v,
                              svd.gives_v ? rows_of_v : svd.n, svd.ldv, sizeof(T), Access::write));
  }
  const bool has_vectors = columns_of_u > 0 || rows_of_v > 0;
  enqueue<T>(call, context, around, std::move(uses), (has_vectors ? 8 : 2) * cube(svd.m, svd.n, count),
             10 * panels(count), [=](LibraryTurn& turn) {
               T none{};
               T* const u = columns_of_u > 0 ? turn.at(svd.u) : &none;
               std::vector<T> turned;
               T* v = rows_of_v > 0 ? turn.at(svd.v) : &none;
               std::int64_t ldv = std::max<std::int64_t>(1, svd.ldv);
               if (svd.gives_v && rows_of_v > 0) {
                 turned.resize(static_cast<std::size_t>(rows_of_v * svd.n));
                 v = turned.data();
                 ldv = rows_of_v;
               }
               const int info =
                   lapack::gesvd(svd.of_u, svd.of_v, small(svd.m), small(svd.n), turn.at(svd.a), small(svd.lda),
                                 turn.at(svd.s), u, small(std::max<std::int64_t>(1, svd.ldu)), v, small(ldv));
               if (!turned.empty()) {
                 T* const to = turn.at(svd.v);
                 for (std::int64_t row = 0; row < rows_of_v; ++row) {
                   for (std::int64_t column = 0; column < svd.n; ++column) {
                     to[column + row * svd.ldv] = conjugated(v[row + column * ldv]);
                   }
                 }
               }
               return info;
             });
}

template <typename T>
void syevd(LibraryCall& call, const cusolverDnContext& context, cusolverEigMode_t job, cublasFillMode_t part,
           std::int64_t n, T* a, std::int64_t lda, Real<T>* w, const Around& around) {
  require(job == CUSOLVER_EIG_MODE_NOVECTOR || job == CUSOLVER_EIG_MODE_VECTOR, "no such job");
  require_triangle(part);
  require_sizes({n});
  require_leading(lda, n);
  const bool has_vectors = job == CUSOLVER_EIG_MODE_VECTOR;
  std::vector<MemoryUse> uses = {triangle_use("A", a, n, lda, sizeof(T), is_lower(part), Access::both),
                                 vector_use("W", w, n, 1, sizeof(Real<T>), Access::write)};
  if (has_vectors) uses.push_back(matrix_use("A", a, n, n, lda, sizeof(T), Access::write));
  enqueue<T>(call, context, around, std::move(uses), (has_vectors ? 4.5 : 0.7) * cube(n, n, n), 10 * panels(n),
             [=](LibraryTurn& turn) {
               return lapack::syevd(has_vectors ? 'V' : 'N', letter_of(part), small(n), turn.at(a), small(lda),
                                    turn.at(w));
             });
}

template <typename T>
void sygvd(LibraryCall& call, const cusolverDnContext& context, cusolverEigType_t kind, cusolverEigMode_t job,
           cublasFillMode_t part, std::int64_t n, T* a, std::int64_t lda, T* b, std::int64_t ldb, Real<T>* w,
           const Around& around) {
  require(kind == CUSOLVER_EIG_TYPE_1 || kind == CUSOLVER_EIG_TYPE_2 || kind == CUSOLVER_EIG_TYPE_3, "no such type");
  require(job == CUSOLVER_EIG_MODE_NOVECTOR || job == CUSOLVER_EIG_MODE_VECTOR, "no such job");
  require_triangle(part);
  require_sizes({n});
  require_leading(lda, n);
  require_leading(ldb, n);
  const bool has_vectors = job == CUSOLVER_EIG_MODE_VECTOR;
  std::vector<MemoryUse> uses = {triangle_use("A", a, n, lda, sizeof(T), is_lower(part), Access::both),
                                 triangle_use("B", b, n, ldb, sizeof(T), is_lower(part), Access::both),
                                 vector_use("W", w, n, 1, sizeof(Real<T>), Access::write)};
  if (has_vectors) uses.push_back(matrix_use("A", a, n, n, lda, sizeof(T), Access::write));
  enqueue<T>(call, context, around, std::move(uses), (has_vectors ? 6 : 2) * cube(n, n, n), 12 * panels(n),
             [=](LibraryTurn& turn) {
               return lapack::sygvd(static_cast<int>(kind), has_vectors ? 'V' : 'N', letter_of(part), small(n),
                                    turn.at(a), small(lda), turn.at(b), small(ldb), turn.at(w));
             });
}

/// Tells the size of a workspace, in numbers.
inline cusolverStatus_t tell_size(const char* name, cusolverDnHandle_t handle, int* place, std::int64_t columns) {
  return answer(name, handle, [&](LibraryCall&, cusolverDnContext&) {
    require(place != nullptr, "the place for the size is null");
    require(columns >= 0, "a size is negative");
    *place = small(work_count(columns));
  });
}

template <typename T>
Around around(int* info, T* work, std::int64_t count, std::int64_t columns) {
  const auto bytes = static_cast<std::int64_t>(sizeof(T));
  return {info, work, count * bytes, work_count(columns) * bytes};
}

/// A batch: `one(turn, index)`, with pointers that lie on the device.
template <typename T, typename One>
void enqueue_batch(LibraryCall& call, const cusolverDnContext& context, std::vector<MemoryUse> arrays,
                   std::int64_t batch, double pairs, const One& one) {
  LibraryWork work{.uses = std::move(arrays)};
  const double operations = (is_complex<T> ? 8 : 2) * pairs * static_cast<double>(batch);
  (std::is_same_v<Real<T>, double> ? work.amount.fp64 : work.amount.fp32) = operations;
  work.compute = [=](LibraryTurn& turn) {
    for (std::int64_t i = 0; i < batch; ++i) one(turn, i);
  };
  convladder::stand_in::enqueue(kCusolver, call, std::move(work), context.stream);
}

template <typename T>
void potrf_batched(LibraryCall& call, const cusolverDnContext& context, cublasFillMode_t part, std::int64_t n, T** a,
                   std::int64_t lda, int* infos, std::int64_t batch) {
  require_triangle(part);
  require_sizes({n, batch});
  require_leading(lda, n);
  enqueue_batch<T>(call, context,
                   {vector_use("the pointers to A", a, batch, 1, sizeof(void*), Access::read),
                    vector_use("the infos", infos, batch, 1, sizeof(int), Access::write)},
                   batch, cube(n, n, n) / 6, [=](LibraryTurn& turn, std::int64_t i) {
                     T* const one = turn.at(a)[i];
                     if (!turn.may_use(triangle_use("A", one, n, lda, sizeof(T), is_lower(part), Access::both))) return;
                     turn.at(infos)[i] = lapack::potrf(letter_of(part), small(n), turn.at(one), small(lda));
                   });
}

template <typename T>
void potrs_batched(LibraryCall& call, const cusolverDnContext& context, cublasFillMode_t part, std::int64_t n,
                   std::int64_t count, T** a, std::int64_t lda, T** b, std::int64_t ldb, int* info,
                   std::int64_t batch) {
  require_triangle(part);
  require_sizes({n, count, batch});
  require(count == 1, "only one right-hand side is taken");
  require_leading(lda, n);
  require_leading(ldb, n);
  enqueue_batch<T>(
      call, context,
      {vector_use("the pointers to A", a, batch, 1, sizeof(void*), Access::read),
       vector_use("the pointers to B", b, batch, 1, sizeof(void*), Access::read),
       vector_use("info", info, 1, 1, sizeof(int), Access::write)},
      batch, cube(n, n, count), [=](LibraryTurn& turn, std::int64_t i) {
        const T* const from = turn.at(a)[i];
        T* const to = turn.at(b)[i];
        *turn.at(info) = 0;
        const bool is_there = turn.may_use(triangle_use("A", from, n, lda, sizeof(T), is_lower(part), Access::read));
        if (!turn.may_use(matrix_use("B", to, n, count, ldb, sizeof(T), Access::both)) || !is_there) return;
        lapack::potrs(letter_of(part), small(n), small(count), turn.at(from), small(lda), turn.at(to), small(ldb));
      });
}

}  // namespace convladder::stand_in::cusolver

// Matrices and vectors: BLAS's level 2, without packed and banded matrices.
#include <algorithm>
#include <vector>

#include "simulator/stand_in/libraries/cublas/functions.hpp"

using namespace convladder::stand_in;

namespace {

template <typename T>
MemoryUse vector(const char* name, const T* at, std::int64_t n, std::int64_t step, Access access) {
  return vector_use(name, at, n, step, sizeof(T), access);
}

/// Elements of a matrix on the host, by columns.
template <typename T>
class Columns {
 public:
  Columns(T* at, std::int64_t leading) : at_(at), leading_(leading) {}
  T& operator()(std::int64_t row, std::int64_t column) const { return at_[row + column * leading_]; }

 private:
  T* at_;
  std::int64_t leading_;
};

/// y = beta y, which is not read where beta is zero.
template <typename T>
void scale(const Strided<T>& y, std::int64_t n, T beta) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = beta == T{} ? T{} : times(beta, y[i]);
}

/// A result that is read unless beta is zero. The part that only the device knows is checked in its turn.
template <typename T>
bool reads_result(LibraryTurn& turn, const Scalar<T>& beta, MemoryUse result) {
  if (!beta.is_of_device() || beta.value(turn) == T{}) return true;
  result.reads = true;
  result.writes = false;
  return turn.may_use(result);
}

template <typename T>
struct MatrixVector {
  cublasOperation_t operation;
  std::int64_t m, n, lda, x_step, y_step;
  const T* a;
  const T* x;
  T* y;
};

/// y = alpha op(A) x + beta y.
template <typename T>
void gemv_on_host(LibraryTurn& turn, const MatrixVector<T>& g, T alpha, T beta) {
  const bool is_turned = g.operation != CUBLAS_OP_N;
  const std::int64_t in = is_turned ? g.m : g.n;
  const std::int64_t out = is_turned ? g.n : g.m;
  const Strided to(turn.at(g.y), out, g.y_step);
  if (alpha == T{}) {
    scale(to, out, beta);
    return;
  }
  const Columns a(turn.at(g.a), g.lda);
  const Strided from(turn.at(g.x), in, g.x_step);
  std::vector<Sum<T>> sums(static_cast<std::size_t>(out));
  for (std::int64_t column = 0; column < g.n; ++column) {
    if (is_turned) {
      Sum<T> sum{};
      for (std::int64_t row = 0; row < g.m; ++row) {
        const T element = g.operation == CUBLAS_OP_C ? conjugated(a(row, column)) : a(row, column);
        sum += times(static_cast<Sum<T>>(element), static_cast<Sum<T>>(from[row]));
      }
      sums[static_cast<std::size_t>(column)] = sum;
    } else {
      const auto by = static_cast<Sum<T>>(from[column]);
      for (std::int64_t row = 0; row < g.m; ++row) {
        sums[static_cast<std::size_t>(row)] += times(static_cast<Sum<T>>(a(row, column)), by);
      }
    }
  }
  for (std::int64_t i = 0; i < out; ++i) {
    const T product = times(alpha, static_cast<T>(sums[static_cast<std::size_t>(i)]));
    to[i] = beta == T{} ? product : product + times(beta, to[i]);
  }
}

template <typename T>
cublasStatus_t gemv(const char* name, cublasHandle_t handle, const T* alpha, const T* beta, MatrixVector<T> g,
                    std::int64_t batch = 1, std::int64_t a_stride = 0, std::int64_t x_stride = 0,
                    std::int64_t y_stride = 0) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    require_operation(g.operation);
    require(g.m >= 0 && g.n >= 0 && batch >= 0, "a size is negative");
    require(g.lda >= std::max<std::int64_t>(1, g.m), "lda is less than the rows of A");
    require(g.x_step != 0 && g.y_step != 0, "an increment is zero");
    const Scalar<T> by = scalar(context, "alpha", alpha);
    const Scalar<T> keeps = scalar(context, "beta", beta);
    if (g.m == 0 || g.n == 0 || batch == 0) return;
    const bool is_turned = g.operation != CUBLAS_OP_N;
    const std::int64_t in = is_turned ? g.m : g.n;
    const std::int64_t out = is_turned ? g.n : g.m;
    const auto result = [=](std::int64_t i, Access access) {
      return vector("y", g.y + i * y_stride, out, g.y_step, access);
    };
    LibraryWork work;
    for (std::int64_t i = 0; i < batch; ++i) {
      if (!by.is_zero()) {
        work.uses.push_back(matrix_use("A", g.a + i * a_stride, g.m, g.n, g.lda, sizeof(T), Access::read));
        work.uses.push_back(vector("x", g.x + i * x_stride, in, g.x_step, Access::read));
      }
      work.uses.push_back(result(i, keeps.may_be_zero() ? Access::write : Access::both));
    }
    by.add_use(work.uses);
    keeps.add_use(work.uses);
    add_pairs<T>(work.amount, context,
                 static_cast<double>(batch) * static_cast<double>(g.m) * static_cast<double>(g.n));
    work.amount.bytes = bytes_of(work.uses);
    work.compute = [=](LibraryTurn& turn) {
      for (std::int64_t i = 0; i < batch; ++i) {
        if (!reads_result(turn, keeps, result(i, Access::read))) return;
        MatrixVector<T> one = g;
        one.a += i * a_stride;
        one.x += i * x_stride;
        one.y += i * y_stride;
        gemv_on_host(turn, one, by.value(turn), keeps.value(turn));
      }
    };
    enqueue(call, context, std::move(work));
  });
}

/// A = alpha x y^T + A, or with the conjugate of y.
template <typename T>
cublasStatus_t ger(const char* name, cublasHandle_t handle, bool conjugates, std::int64_t m, std::int64_t n,
                   const T* alpha, const T* x, std::int64_t x_step, const T* y, std::int64_t y_step, T* a,
                   std::int64_t lda) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    require(m >= 0 && n >= 0, "a size is negative");
    require(lda >= std::max<std::int64_t>(1, m), "lda is less than the rows of A");
    require(x_step != 0 && y_step != 0, "an increment is zero");
    const Scalar<T> by = scalar(context, "alpha", alpha);
    if (m == 0 || n == 0 || by.is_zero()) return;
    LibraryWork work{.uses = {vector("x", x, m, x_step, Access::read), vector("y", y, n, y_step, Access::read),
                              matrix_use("A", a, m, n, lda, sizeof(T), Access::both)}};
    by.add_use(work.uses);
    add_pairs<T>(work.amount, context, static_cast<double>(m) * static_cast<double>(n));
    work.amount.bytes = bytes_of(work.uses);
    work.compute = [=](LibraryTurn& turn) {
      const T factor = by.value(turn);
      const Strided rows(turn.at(x), m, x_step);
      const Strided columns(turn.at(y), n, y_step);
      const Columns to(turn.at(a), lda);
      for (std::int64_t column = 0; column < n; ++column) {
        const T with = times(factor, conjugates ? conjugated(columns[column]) : columns[column]);
        for (std::int64_t row = 0; row < m; ++row) to(row, column) += times(rows[row], with);
      }
    };
    enqueue(call, context, std::move(work));
  });
}

/// The element of a symmetric or Hermitian matrix of which one triangle is there.
template <typename T>
T symmetric_element(const Columns<const T>& a, bool is_lower, bool is_hermitian, std::int64_t row,
                    std::int64_t column) {
  if (row == column) return is_hermitian ? T{std::real(a(row, column))} : a(row, column);
  const bool is_there = is_lower == (row > column);
  const T element = is_there ? a(row, column) : a(column, row);
  return is_hermitian && !is_there ? conjugated(element) : element;
}

template <typename T>
cublasStatus_t symv(const char* name, cublasHandle_t handle, bool is_hermitian, cublasFillMode_t part, std::int64_t n,
                    const T* alpha, const T* a, std::int64_t lda, const T* x, std::int64_t x_step, const T* beta, T* y,
                    std::int64_t y_step) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    require_triangle(part);
    require(n >= 0, "a size is negative");
    require(lda >= std::max<std::int64_t>(1, n), "lda is less than the rows of A");
    require(x_step != 0 && y_step != 0, "an increment is zero");
    const Scalar<T> by = scalar(context, "alpha", alpha);
    const Scalar<T> keeps = scalar(context, "beta", beta);
    if (n == 0) return;
    const bool is_lower = part == CUBLAS_FILL_MODE_LOWER;
    LibraryWork work;
    if (!by.is_zero()) {
      work.uses = {triangle_use("A", a, n, lda, sizeof(T), is_lower, Access::read),
                   vector("x", x, n, x_step, Access::read)};
    }
    const auto result = [=](Access access) { return vector("y", y, n, y_step, access); };
    work.uses.push_back(result(keeps.may_be_zero() ? Access::write : Access::both));
    by.add_use(work.uses);
    keeps.add_use(work.uses);
    add_pairs<T>(work.amount, context, static_cast<double>(n) * static_cast<double>(n));
    work.amount.bytes = bytes_of(work.uses);
    work.compute = [=](LibraryTurn& turn) {
      if (!reads_result(turn, keeps, result(Access::read))) return;
      const T factor = by.value(turn);
      const T kept = keeps.value(turn);
      const Strided to(turn.at(y), n, y_step);
      if (factor == T{}) {
        scale(to, n, kept);
        return;
      }
      const Columns<const T> from(turn.at(a), lda);
      const Strided with(turn.at(x), n, x_step);
      for (std::int64_t row = 0; row < n; ++row) {
        Sum<T> sum{};
        for (std::int64_t column = 0; column < n; ++column) {
          sum += times(static_cast<Sum<T>>(symmetric_element(from, is_lower, is_hermitian, row, column)),
                       static_cast<Sum<T>>(with[column]));
        }
        const T product = times(factor, static_cast<T>(sum));
        to[row] = kept == T{} ? product : product + times(kept, to[row]);
      }
    };
    enqueue(call, context, std::move(work));
  });
}

/// x = op(A) x, or, if `solves`, the solution of op(A) x' = x.
template <typename T>
cublasStatus_t triangle_times_vector(const char* name, cublasHandle_t handle, bool solves, cublasFillMode_t part,
                                     cublasOperation_t operation, cublasDiagType_t diagonal, std::int64_t n, const T* a,
                                     std::int64_t lda, T* x, std::int64_t step) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    require_triangle(part);
    require_operation(operation);
    require(diagonal == CUBLAS_DIAG_UNIT || diagonal == CUBLAS_DIAG_NON_UNIT, "no such diagonal");
    require(n >= 0, "a size is negative");
    require(lda >= std::max<std::int64_t>(1, n), "lda is less than the rows of A");
    require(step != 0, "an increment is zero");
    if (n == 0) return;
    const bool is_lower = part == CUBLAS_FILL_MODE_LOWER;
    const bool is_unit = diagonal == CUBLAS_DIAG_UNIT;
    LibraryWork work{.uses = {triangle_use("A", a, n, lda, sizeof(T), is_lower, Access::read, !is_unit),
                              vector("x", x, n, step, Access::both)}};
    add_pairs<T>(work.amount, context, 0.5 * static_cast<double>(n) * static_cast<double>(n));
    work.amount.bytes = bytes_of(work.uses);
    work.amount.steps = solves ? static_cast<double>(1 + n / 32) : 1;
    work.compute = [=](LibraryTurn& turn) {
      const Columns<const T> from(turn.at(a), lda);
      const Strided to(turn.at(x), n, step);
      const bool is_turned = operation != CUBLAS_OP_N;
      const auto element = [&](std::int64_t row, std::int64_t column) {
        const T one = is_turned ? from(column, row) : from(row, column);
        return static_cast<Sum<T>>(operation == CUBLAS_OP_C ? conjugated(one) : one);
      };
      // The triangle of the matrix as it is used, turned or not.
      const bool uses_lower = is_lower != is_turned;
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t row = uses_lower == solves ? i : n - 1 - i;
        auto sum = static_cast<Sum<T>>(to[row]);
        if (!solves && !is_unit) sum = times(element(row, row), sum);
        const std::int64_t first = uses_lower ? 0 : row + 1;
        const std::int64_t end = uses_lower ? row : n;
        for (std::int64_t column = first; column < end; ++column) {
          const Sum<T> product = times(element(row, column), static_cast<Sum<T>>(to[column]));
          sum = solves ? sum - product : sum + product;
        }
        if (solves && !is_unit) sum /= element(row, row);
        to[row] = static_cast<T>(sum);
      }
    };
    enqueue(call, context, std::move(work));
  });
}

/// A = alpha x y^T + (the same turned, if there is a y of its own) + A, in one triangle.
template <typename T, typename Factor>
cublasStatus_t syr(const char* name, cublasHandle_t handle, bool is_hermitian, cublasFillMode_t part, std::int64_t n,
                   const Factor* alpha, const T* x, std::int64_t x_step, const T* y, std::int64_t y_step, bool has_y,
                   T* a, std::int64_t lda) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    require_triangle(part);
    require(n >= 0, "a size is negative");
    require(lda >= std::max<std::int64_t>(1, n), "lda is less than the rows of A");
    require(x_step != 0 && y_step != 0, "an increment is zero");
    const Scalar<Factor> by = scalar(context, "alpha", alpha);
    if (n == 0 || by.is_zero()) return;
    const bool is_lower = part == CUBLAS_FILL_MODE_LOWER;
    LibraryWork work{.uses = {vector("x", x, n, x_step, Access::read),
                              triangle_use("A", a, n, lda, sizeof(T), is_lower, Access::both)}};
    if (has_y) work.uses.push_back(vector("y", y, n, y_step, Access::read));
    by.add_use(work.uses);
    add_pairs<T>(work.amount, context, (has_y ? 1 : 0.5) * static_cast<double>(n) * static_cast<double>(n));
    work.amount.bytes = bytes_of(work.uses);
    work.compute = [=](LibraryTurn& turn) {
      const T factor = by.value(turn);
      const Strided first(turn.at(x), n, x_step);
      const Strided second(turn.at(y), n, y_step);
      const Columns to(turn.at(a), lda);
      const auto other = [is_hermitian](T value) { return is_hermitian ? conjugated(value) : value; };
      for (std::int64_t column = 0; column < n; ++column) {
        const std::int64_t begin = is_lower ? column : 0;
        const std::int64_t end = is_lower ? n : column + 1;
        for (std::int64_t row = begin; row < end; ++row) {
          T sum = times(factor, times(first[row], other(second[column])));
          if (has_y) sum += times(other(factor), times(second[row], other(first[column])));
          T& element = to(row, column);
          element += sum;
          if (is_hermitian && row == column) element = T{std::real(element)};
        }
      }
    };
    enqueue(call, context, std::move(work));
  });
}

}  // namespace

extern "C" {

#define GEMV(L, C, Int, tail)                                                                                       \
  cublasStatus_t cublas##L##gemv_v2##tail(cublasHandle_t handle, cublasOperation_t trans, Int m, Int n,             \
                                          const C* alpha, const C* A, Int lda, const C* x, Int incx, const C* beta, \
                                          C* y, Int incy) {                                                         \
    return gemv<Number<C>>("cublas" #L "gemv" #tail, handle, as_numbers(alpha), as_numbers(beta),                   \
                           {trans, m, n, lda, incx, incy, as_numbers(A), as_numbers(x), as_numbers(y)});            \
  }                                                                                                                 \
  cublasStatus_t cublas##L##gemvStridedBatched##tail(cublasHandle_t handle, cublasOperation_t trans, Int m, Int n,  \
                                                     const C* alpha, const C* A, Int lda, long long strideA,        \
                                                     const C* x, Int incx, long long stridex, const C* beta, C* y,  \
                                                     Int incy, long long stridey, Int count) {                      \
    return gemv<Number<C>>("cublas" #L "gemvStridedBatched" #tail, handle, as_numbers(alpha), as_numbers(beta),     \
                           {trans, m, n, lda, incx, incy, as_numbers(A), as_numbers(x), as_numbers(y)}, count,      \
                           strideA, stridex, stridey);                                                              \
  }
CUBLAS_ALL(GEMV)

#define GER(L, C, conjugates, Int, tail)                                                                          \
  cublasStatus_t cublas##L##_v2##tail(cublasHandle_t handle, Int m, Int n, const C* alpha, const C* x, Int incx,  \
                                      const C* y, Int incy, C* A, Int lda) {                                      \
    return ger("cublas" #L#tail, handle, conjugates, m, n, as_numbers(alpha), as_numbers(x), incx, as_numbers(y), \
               incy, as_numbers(A), lda);                                                                         \
  }
CUBLAS_BOTH_WIDTHS(GER, Sger, float, false)
CUBLAS_BOTH_WIDTHS(GER, Dger, double, false)
CUBLAS_BOTH_WIDTHS(GER, Cgeru, cuComplex, false)
CUBLAS_BOTH_WIDTHS(GER, Cgerc, cuComplex, true)
CUBLAS_BOTH_WIDTHS(GER, Zgeru, cuDoubleComplex, false)
CUBLAS_BOTH_WIDTHS(GER, Zgerc, cuDoubleComplex, true)

#define SYMV(L, C, is_hermitian, Int, tail)                                                                            \
  cublasStatus_t cublas##L##_v2##tail(cublasHandle_t handle, cublasFillMode_t uplo, Int n, const C* alpha, const C* A, \
                                      Int lda, const C* x, Int incx, const C* beta, C* y, Int incy) {                  \
    return symv("cublas" #L#tail, handle, is_hermitian, uplo, n, as_numbers(alpha), as_numbers(A), lda, as_numbers(x), \
                incx, as_numbers(beta), as_numbers(y), incy);                                                          \
  }
CUBLAS_BOTH_WIDTHS(SYMV, Ssymv, float, false)
CUBLAS_BOTH_WIDTHS(SYMV, Dsymv, double, false)
CUBLAS_BOTH_WIDTHS(SYMV, Csymv, cuComplex, false)
CUBLAS_BOTH_WIDTHS(SYMV, Zsymv, cuDoubleComplex, false)
CUBLAS_BOTH_WIDTHS(SYMV, Chemv, cuComplex, true)
CUBLAS_BOTH_WIDTHS(SYMV, Zhemv, cuDoubleComplex, true)

#define TRIANGLE(L, C, Int, tail)                                                                                   \
  cublasStatus_t cublas##L##trsv_v2##tail(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,    \
                                          cublasDiagType_t diag, Int n, const C* A, Int lda, C* x, Int incx) {      \
    return triangle_times_vector("cublas" #L "trsv" #tail, handle, true, uplo, trans, diag, n, as_numbers(A), lda,  \
                                 as_numbers(x), incx);                                                              \
  }                                                                                                                 \
  cublasStatus_t cublas##L##trmv_v2##tail(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,    \
                                          cublasDiagType_t diag, Int n, const C* A, Int lda, C* x, Int incx) {      \
    return triangle_times_vector("cublas" #L "trmv" #tail, handle, false, uplo, trans, diag, n, as_numbers(A), lda, \
                                 as_numbers(x), incx);                                                              \
  }
CUBLAS_ALL(TRIANGLE)

#define SYR(L, C, Factor, is_hermitian, Int, tail)                                                                     \
  cublasStatus_t cublas##L##_v2##tail(cublasHandle_t handle, cublasFillMode_t uplo, Int n, const Factor* alpha,        \
                                      const C* x, Int incx, C* A, Int lda) {                                           \
    return syr("cublas" #L#tail, handle, is_hermitian, uplo, n, as_numbers(alpha), as_numbers(x), incx, as_numbers(x), \
               incx, false, as_numbers(A), lda);                                                                       \
  }
CUBLAS_BOTH_WIDTHS(SYR, Ssyr, float, float, false)
CUBLAS_BOTH_WIDTHS(SYR, Dsyr, double, double, false)
CUBLAS_BOTH_WIDTHS(SYR, Csyr, cuComplex, cuComplex, false)
CUBLAS_BOTH_WIDTHS(SYR, Zsyr, cuDoubleComplex, cuDoubleComplex, false)
CUBLAS_BOTH_WIDTHS(SYR, Cher, cuComplex, float, true)
CUBLAS_BOTH_WIDTHS(SYR, Zher, cuDoubleComplex, double, true)

#define SYR2(L, C, is_hermitian, Int, tail)                                                                            \
  cublasStatus_t cublas##L##_v2##tail(cublasHandle_t handle, cublasFillMode_t uplo, Int n, const C* alpha, const C* x, \
                                      Int incx, const C* y, Int incy, C* A, Int lda) {                                 \
    return syr("cublas" #L#tail, handle, is_hermitian, uplo, n, as_numbers(alpha), as_numbers(x), incx, as_numbers(y), \
               incy, true, as_numbers(A), lda);                                                                        \
  }
CUBLAS_BOTH_WIDTHS(SYR2, Ssyr2, float, false)
CUBLAS_BOTH_WIDTHS(SYR2, Dsyr2, double, false)
CUBLAS_BOTH_WIDTHS(SYR2, Csyr2, cuComplex, false)
CUBLAS_BOTH_WIDTHS(SYR2, Zsyr2, cuDoubleComplex, false)
CUBLAS_BOTH_WIDTHS(SYR2, Cher2, cuComplex, true)
CUBLAS_BOTH_WIDTHS(SYR2, Zher2, cuDoubleComplex, true)

}  // extern "C"

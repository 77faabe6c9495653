// Matrices and vectors: BLAS's level 2.
#include <algorithm>
#include <vector>

#include "simulator/stand_in/libraries/cublas/layouts.hpp"

using namespace convladder::stand_in;

namespace {

template <typename T>
MemoryUse vector(const char* name, const T* at, std::int64_t n, std::int64_t step, Access access) {
  return vector_use(name, at, n, step, sizeof(T), access);
}

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
  Layout of_a;
  std::int64_t x_step, y_step;
  const T* a;
  const T* x;
  T* y;

  bool is_turned() const { return operation != CUBLAS_OP_N; }
  std::int64_t in() const { return is_turned() ? of_a.rows() : of_a.columns(); }
  std::int64_t out() const { return is_turned() ? of_a.columns() : of_a.rows(); }
};

/// y = alpha op(A) x + beta y.
template <typename T>
void gemv_on_host(LibraryTurn& turn, const MatrixVector<T>& g, T alpha, T beta) {
  const std::int64_t out = g.out();
  const Strided to(turn.at(g.y), out, g.y_step);
  if (alpha == T{}) {
    scale(to, out, beta);
    return;
  }
  const T* const a = turn.at(g.a);
  const Strided from(turn.at(g.x), g.in(), g.x_step);
  std::vector<Sum<T>> sums(static_cast<std::size_t>(out));
  for (std::int64_t column = 0; column < g.of_a.columns(); ++column) {
    const std::int64_t first = g.of_a.first_row(column);
    const std::int64_t end = g.of_a.end_row(column);
    if (g.is_turned()) {
      Sum<T> sum{};
      for (std::int64_t row = first; row < end; ++row) {
        const T there = a[g.of_a(row, column)];
        const T element = g.operation == CUBLAS_OP_C ? conjugated(there) : there;
        sum += times(static_cast<Sum<T>>(element), static_cast<Sum<T>>(from[row]));
      }
      sums[static_cast<std::size_t>(column)] = sum;
    } else {
      const auto by = static_cast<Sum<T>>(from[column]);
      for (std::int64_t row = first; row < end; ++row) {
        sums[static_cast<std::size_t>(row)] += times(static_cast<Sum<T>>(a[g.of_a(row, column)]), by);
      }
    }
  }
  for (std::int64_t i = 0; i < out; ++i) {
    const T product = times(alpha, static_cast<T>(sums[static_cast<std::size_t>(i)]));
    to[i] = beta == T{} ? product : product + times(beta, to[i]);
  }
}

/// Matrices at equal distances, and their vectors.
struct Strides {
  std::int64_t count = 1;
  std::int64_t a = 0;
  std::int64_t x = 0;
  std::int64_t y = 0;
};

/// `layout()` says how A lies, and refuses sizes that are wrong.
template <typename T, typename MakeLayout>
cublasStatus_t gemv(const char* name, cublasHandle_t handle, cublasOperation_t operation, const MakeLayout& layout,
                    const T* alpha, const T* a, const T* x, std::int64_t x_step, const T* beta, T* y,
                    std::int64_t y_step, const Strides& strides = {}) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    require_operation(operation);
    const MatrixVector<T> g{operation, layout(), x_step, y_step, a, x, y};
    require(strides.count >= 0, "a size is negative");
    require(x_step != 0 && y_step != 0, "an increment is zero");
    const Scalar<T> by = scalar(context, "alpha", alpha);
    const Scalar<T> keeps = scalar(context, "beta", beta);
    if (g.in() == 0 || g.out() == 0 || strides.count == 0) return;
    const auto result = [=](std::int64_t i, Access access) {
      return vector("y", g.y + i * strides.y, g.out(), g.y_step, access);
    };
    LibraryWork work;
    double elements = 0;
    for (std::int64_t i = 0; i < strides.count; ++i) {
      if (!by.is_zero()) {
        g.of_a.add_use(work.uses, "A", g.a + i * strides.a, sizeof(T), Access::read);
        if (i == 0) elements = bytes_of(work.uses) / sizeof(T);
        work.uses.push_back(vector("x", g.x + i * strides.x, g.in(), g.x_step, Access::read));
      }
      work.uses.push_back(result(i, keeps.may_be_zero() ? Access::write : Access::both));
    }
    by.add_use(work.uses);
    keeps.add_use(work.uses);
    add_pairs<T>(work.amount, context, static_cast<double>(strides.count) * elements);
    work.amount.bytes = bytes_of(work.uses);
    work.compute = [=](LibraryTurn& turn) {
      for (std::int64_t i = 0; i < strides.count; ++i) {
        if (!reads_result(turn, keeps, result(i, Access::read))) return;
        MatrixVector<T> one = g;
        one.a += i * strides.a;
        one.x += i * strides.x;
        one.y += i * strides.y;
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
      T* const to = turn.at(a);
      for (std::int64_t column = 0; column < n; ++column) {
        const T with = times(factor, conjugates ? conjugated(columns[column]) : columns[column]);
        for (std::int64_t row = 0; row < m; ++row) to[row + column * lda] += times(rows[row], with);
      }
    };
    enqueue(call, context, std::move(work));
  });
}

/// The element of a symmetric or Hermitian matrix of which one triangle is there.
template <typename T>
T symmetric_element(const T* a, const Layout& of_a, bool is_hermitian, std::int64_t row, std::int64_t column) {
  if (row == column) return is_hermitian ? T{std::real(a[of_a(row, column)])} : a[of_a(row, column)];
  const bool is_there = of_a.is_lower() == (row > column);
  const T element = a[is_there ? of_a(row, column) : of_a(column, row)];
  return is_hermitian && !is_there ? conjugated(element) : element;
}

template <typename T, typename MakeLayout>
cublasStatus_t symv(const char* name, cublasHandle_t handle, bool is_hermitian, const MakeLayout& layout,
                    const T* alpha, const T* a, const T* x, std::int64_t x_step, const T* beta, T* y,
                    std::int64_t y_step) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    const Layout of_a = layout();
    const std::int64_t n = of_a.rows();
    require(x_step != 0 && y_step != 0, "an increment is zero");
    const Scalar<T> by = scalar(context, "alpha", alpha);
    const Scalar<T> keeps = scalar(context, "beta", beta);
    if (n == 0) return;
    LibraryWork work;
    if (!by.is_zero()) {
      of_a.add_use(work.uses, "A", a, sizeof(T), Access::read);
      work.uses.push_back(vector("x", x, n, x_step, Access::read));
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
      const T* const from = turn.at(a);
      const Strided with(turn.at(x), n, x_step);
      for (std::int64_t row = 0; row < n; ++row) {
        Sum<T> sum{};
        // A column of the triangle is a row of what mirrors it.
        const std::int64_t first = std::min(of_a.first_column(row), of_a.first_row(row));
        const std::int64_t end = std::max(of_a.end_column(row), of_a.end_row(row));
        for (std::int64_t column = first; column < end; ++column) {
          sum += times(static_cast<Sum<T>>(symmetric_element(from, of_a, is_hermitian, row, column)),
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
template <typename T, typename MakeLayout>
cublasStatus_t triangle_times_vector(const char* name, cublasHandle_t handle, bool solves, cublasOperation_t operation,
                                     cublasDiagType_t diagonal, const MakeLayout& layout, const T* a, T* x,
                                     std::int64_t step) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    require_operation(operation);
    require(diagonal == CUBLAS_DIAG_UNIT || diagonal == CUBLAS_DIAG_NON_UNIT, "no such diagonal");
    const Layout of_a = layout();
    const std::int64_t n = of_a.rows();
    require(step != 0, "an increment is zero");
    if (n == 0) return;
    const bool is_unit = diagonal == CUBLAS_DIAG_UNIT;
    LibraryWork work;
    of_a.add_use(work.uses, "A", a, sizeof(T), Access::read, !is_unit);
    work.uses.push_back(vector("x", x, n, step, Access::both));
    add_pairs<T>(work.amount, context, 0.5 * static_cast<double>(n) * static_cast<double>(n));
    work.amount.bytes = bytes_of(work.uses);
    work.amount.steps = solves ? static_cast<double>(1 + n / 32) : 1;
    work.compute = [=](LibraryTurn& turn) {
      const T* const from = turn.at(a);
      const Strided to(turn.at(x), n, step);
      const bool is_turned = operation != CUBLAS_OP_N;
      const auto element = [&](std::int64_t row, std::int64_t column) {
        const T one = from[is_turned ? of_a(column, row) : of_a(row, column)];
        return static_cast<Sum<T>>(operation == CUBLAS_OP_C ? conjugated(one) : one);
      };
      // The triangle of the matrix as it is used, turned or not.
      const bool uses_lower = of_a.is_lower() != is_turned;
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t row = uses_lower == solves ? i : n - 1 - i;
        auto sum = static_cast<Sum<T>>(to[row]);
        if (!solves && !is_unit) sum = times(element(row, row), sum);
        const std::int64_t first = uses_lower ? (is_turned ? of_a.first_row(row) : of_a.first_column(row)) : row + 1;
        const std::int64_t end = uses_lower ? row : (is_turned ? of_a.end_row(row) : of_a.end_column(row));
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
template <typename T, typename Factor, typename MakeLayout>
cublasStatus_t syr(const char* name, cublasHandle_t handle, bool is_hermitian, const MakeLayout& layout,
                   const Factor* alpha, const T* x, std::int64_t x_step, const T* y, std::int64_t y_step, bool has_y,
                   T* a) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    const Layout of_a = layout();
    const std::int64_t n = of_a.rows();
    require(x_step != 0 && y_step != 0, "an increment is zero");
    const Scalar<Factor> by = scalar(context, "alpha", alpha);
    if (n == 0 || by.is_zero()) return;
    LibraryWork work{.uses = {vector("x", x, n, x_step, Access::read)}};
    of_a.add_use(work.uses, "A", a, sizeof(T), Access::both);
    if (has_y) work.uses.push_back(vector("y", y, n, y_step, Access::read));
    by.add_use(work.uses);
    add_pairs<T>(work.amount, context, (has_y ? 1 : 0.5) * static_cast<double>(n) * static_cast<double>(n));
    work.amount.bytes = bytes_of(work.uses);
    work.compute = [=](LibraryTurn& turn) {
      const T factor = by.value(turn);
      const Strided first(turn.at(x), n, x_step);
      const Strided second(turn.at(y), n, y_step);
      T* const to = turn.at(a);
      const auto other = [is_hermitian](T value) { return is_hermitian ? conjugated(value) : value; };
      for (std::int64_t column = 0; column < n; ++column) {
        for (std::int64_t row = of_a.first_row(column); row < of_a.end_row(column); ++row) {
          T sum = times(factor, times(first[row], other(second[column])));
          if (has_y) sum += times(other(factor), times(second[row], other(first[column])));
          T& element = to[of_a(row, column)];
          element += sum;
          if (is_hermitian && row == column) element = T{std::real(element)};
        }
      }
    };
    enqueue(call, context, std::move(work));
  });
}

/// Puts a triangle into another layout.
template <typename T, typename From, typename To>
cublasStatus_t copy_triangle(const char* name, cublasHandle_t handle, const From& from, const T* a, const To& to,
                             T* b) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    const Layout of_a = from();
    const Layout of_b = to();
    if (of_a.rows() == 0) return;
    LibraryWork work;
    of_a.add_use(work.uses, "the triangle", a, sizeof(T), Access::read);
    of_b.add_use(work.uses, "the result", b, sizeof(T), Access::write);
    work.amount.bytes = bytes_of(work.uses);
    work.compute = [=](LibraryTurn& turn) {
      const T* const source = turn.at(a);
      T* const target = turn.at(b);
      for (std::int64_t column = 0; column < of_a.columns(); ++column) {
        for (std::int64_t row = of_a.first_row(column); row < of_a.end_row(column); ++row) {
          target[of_b(row, column)] = source[of_a(row, column)];
        }
      }
    };
    enqueue(call, context, std::move(work));
  });
}

}  // namespace

extern "C" {

#define WHOLE [&] { return Layout::columns(m, n, lda); }
#define BAND [&] { return Layout::band(m, n, kl, ku, lda); }
#define WHOLE_TRIANGLE [&] { return Layout::triangle(uplo, n, lda); }
#define BANDED_TRIANGLE [&] { return Layout::triangle_in_band(uplo, n, k, lda); }
#define PACKED_TRIANGLE [&] { return Layout::packed_triangle(uplo, n); }

#define GEMV(L, C, Int, tail)                                                                                          \
  cublasStatus_t cublas##L##gemv_v2##tail(cublasHandle_t handle, cublasOperation_t trans, Int m, Int n,                \
                                          const C* alpha, const C* A, Int lda, const C* x, Int incx, const C* beta,    \
                                          C* y, Int incy) {                                                            \
    return gemv("cublas" #L "gemv" #tail, handle, trans, WHOLE, as_numbers(alpha), as_numbers(A), as_numbers(x), incx, \
                as_numbers(beta), as_numbers(y), incy);                                                                \
  }                                                                                                                    \
  cublasStatus_t cublas##L##gemvStridedBatched##tail(cublasHandle_t handle, cublasOperation_t trans, Int m, Int n,     \
                                                     const C* alpha, const C* A, Int lda, long long strideA,           \
                                                     const C* x, Int incx, long long stridex, const C* beta, C* y,     \
                                                     Int incy, long long stridey, Int count) {                         \
    return gemv("cublas" #L "gemvStridedBatched" #tail, handle, trans, WHOLE, as_numbers(alpha), as_numbers(A),        \
                as_numbers(x), incx, as_numbers(beta), as_numbers(y), incy, {count, strideA, stridex, stridey});       \
  }                                                                                                                    \
  cublasStatus_t cublas##L##gbmv_v2##tail(cublasHandle_t handle, cublasOperation_t trans, Int m, Int n, Int kl,        \
                                          Int ku, const C* alpha, const C* A, Int lda, const C* x, Int incx,           \
                                          const C* beta, C* y, Int incy) {                                             \
    return gemv("cublas" #L "gbmv" #tail, handle, trans, BAND, as_numbers(alpha), as_numbers(A), as_numbers(x), incx,  \
                as_numbers(beta), as_numbers(y), incy);                                                                \
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

#define SYMV(L, C, is_hermitian, Int, tail)                                                                         \
  cublasStatus_t cublas##L##mv_v2##tail(cublasHandle_t handle, cublasFillMode_t uplo, Int n, const C* alpha,        \
                                        const C* A, Int lda, const C* x, Int incx, const C* beta, C* y, Int incy) { \
    return symv("cublas" #L "mv" #tail, handle, is_hermitian, WHOLE_TRIANGLE, as_numbers(alpha), as_numbers(A),     \
                as_numbers(x), incx, as_numbers(beta), as_numbers(y), incy);                                        \
  }
#define SBMV(L, C, is_hermitian, Int, tail)                                                                         \
  cublasStatus_t cublas##L##mv_v2##tail(cublasHandle_t handle, cublasFillMode_t uplo, Int n, Int k, const C* alpha, \
                                        const C* A, Int lda, const C* x, Int incx, const C* beta, C* y, Int incy) { \
    return symv("cublas" #L "mv" #tail, handle, is_hermitian, BANDED_TRIANGLE, as_numbers(alpha), as_numbers(A),    \
                as_numbers(x), incx, as_numbers(beta), as_numbers(y), incy);                                        \
  }
#define SPMV(L, C, is_hermitian, Int, tail)                                                                       \
  cublasStatus_t cublas##L##mv_v2##tail(cublasHandle_t handle, cublasFillMode_t uplo, Int n, const C* alpha,      \
                                        const C* AP, const C* x, Int incx, const C* beta, C* y, Int incy) {       \
    return symv("cublas" #L "mv" #tail, handle, is_hermitian, PACKED_TRIANGLE, as_numbers(alpha), as_numbers(AP), \
                as_numbers(x), incx, as_numbers(beta), as_numbers(y), incy);                                      \
  }
CUBLAS_BOTH_WIDTHS(SYMV, Ssy, float, false)
CUBLAS_BOTH_WIDTHS(SYMV, Dsy, double, false)
CUBLAS_BOTH_WIDTHS(SYMV, Csy, cuComplex, false)
CUBLAS_BOTH_WIDTHS(SYMV, Zsy, cuDoubleComplex, false)
CUBLAS_BOTH_WIDTHS(SYMV, Che, cuComplex, true)
CUBLAS_BOTH_WIDTHS(SYMV, Zhe, cuDoubleComplex, true)
CUBLAS_BOTH_WIDTHS(SBMV, Ssb, float, false)
CUBLAS_BOTH_WIDTHS(SBMV, Dsb, double, false)
CUBLAS_BOTH_WIDTHS(SBMV, Chb, cuComplex, true)
CUBLAS_BOTH_WIDTHS(SBMV, Zhb, cuDoubleComplex, true)
CUBLAS_BOTH_WIDTHS(SPMV, Ssp, float, false)
CUBLAS_BOTH_WIDTHS(SPMV, Dsp, double, false)
CUBLAS_BOTH_WIDTHS(SPMV, Chp, cuComplex, true)
CUBLAS_BOTH_WIDTHS(SPMV, Zhp, cuDoubleComplex, true)

#define TRIANGLE(end, solves, L, C, Int, tail)                                                                        \
  cublasStatus_t cublas##L##tr##end##_v2##tail(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, \
                                               cublasDiagType_t diag, Int n, const C* A, Int lda, C* x, Int incx) {   \
    return triangle_times_vector("cublas" #L "tr" #end #tail, handle, solves, trans, diag, WHOLE_TRIANGLE,            \
                                 as_numbers(A), as_numbers(x), incx);                                                 \
  }                                                                                                                   \
  cublasStatus_t cublas##L##tb##end##_v2##tail(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, \
                                               cublasDiagType_t diag, Int n, Int k, const C* A, Int lda, C* x,        \
                                               Int incx) {                                                            \
    return triangle_times_vector("cublas" #L "tb" #end #tail, handle, solves, trans, diag, BANDED_TRIANGLE,           \
                                 as_numbers(A), as_numbers(x), incx);                                                 \
  }                                                                                                                   \
  cublasStatus_t cublas##L##tp##end##_v2##tail(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, \
                                               cublasDiagType_t diag, Int n, const C* AP, C* x, Int incx) {           \
    return triangle_times_vector("cublas" #L "tp" #end #tail, handle, solves, trans, diag, PACKED_TRIANGLE,           \
                                 as_numbers(AP), as_numbers(x), incx);                                                \
  }
#define TRIANGLES(L, C, Int, tail) TRIANGLE(mv, false, L, C, Int, tail) TRIANGLE(sv, true, L, C, Int, tail)
CUBLAS_ALL(TRIANGLES)

#define SYR(L, C, Factor, is_hermitian, Int, tail)                                                              \
  cublasStatus_t cublas##L##_v2##tail(cublasHandle_t handle, cublasFillMode_t uplo, Int n, const Factor* alpha, \
                                      const C* x, Int incx, C* A, Int lda) {                                    \
    return syr("cublas" #L#tail, handle, is_hermitian, WHOLE_TRIANGLE, as_numbers(alpha), as_numbers(x), incx,  \
               as_numbers(x), incx, false, as_numbers(A));                                                      \
  }
#define SPR(L, C, Factor, is_hermitian, Int, tail)                                                              \
  cublasStatus_t cublas##L##_v2##tail(cublasHandle_t handle, cublasFillMode_t uplo, Int n, const Factor* alpha, \
                                      const C* x, Int incx, C* AP) {                                            \
    return syr("cublas" #L#tail, handle, is_hermitian, PACKED_TRIANGLE, as_numbers(alpha), as_numbers(x), incx, \
               as_numbers(x), incx, false, as_numbers(AP));                                                     \
  }
CUBLAS_BOTH_WIDTHS(SYR, Ssyr, float, float, false)
CUBLAS_BOTH_WIDTHS(SYR, Dsyr, double, double, false)
CUBLAS_BOTH_WIDTHS(SYR, Csyr, cuComplex, cuComplex, false)
CUBLAS_BOTH_WIDTHS(SYR, Zsyr, cuDoubleComplex, cuDoubleComplex, false)
CUBLAS_BOTH_WIDTHS(SYR, Cher, cuComplex, float, true)
CUBLAS_BOTH_WIDTHS(SYR, Zher, cuDoubleComplex, double, true)
CUBLAS_BOTH_WIDTHS(SPR, Sspr, float, float, false)
CUBLAS_BOTH_WIDTHS(SPR, Dspr, double, double, false)
CUBLAS_BOTH_WIDTHS(SPR, Chpr, cuComplex, float, true)
CUBLAS_BOTH_WIDTHS(SPR, Zhpr, cuDoubleComplex, double, true)

#define SYR2(L, C, is_hermitian, Int, tail)                                                                            \
  cublasStatus_t cublas##L##_v2##tail(cublasHandle_t handle, cublasFillMode_t uplo, Int n, const C* alpha, const C* x, \
                                      Int incx, const C* y, Int incy, C* A, Int lda) {                                 \
    return syr("cublas" #L#tail, handle, is_hermitian, WHOLE_TRIANGLE, as_numbers(alpha), as_numbers(x), incx,         \
               as_numbers(y), incy, true, as_numbers(A));                                                              \
  }
#define SPR2(L, C, is_hermitian, Int, tail)                                                                            \
  cublasStatus_t cublas##L##_v2##tail(cublasHandle_t handle, cublasFillMode_t uplo, Int n, const C* alpha, const C* x, \
                                      Int incx, const C* y, Int incy, C* AP) {                                         \
    return syr("cublas" #L#tail, handle, is_hermitian, PACKED_TRIANGLE, as_numbers(alpha), as_numbers(x), incx,        \
               as_numbers(y), incy, true, as_numbers(AP));                                                             \
  }
CUBLAS_BOTH_WIDTHS(SYR2, Ssyr2, float, false)
CUBLAS_BOTH_WIDTHS(SYR2, Dsyr2, double, false)
CUBLAS_BOTH_WIDTHS(SYR2, Csyr2, cuComplex, false)
CUBLAS_BOTH_WIDTHS(SYR2, Zsyr2, cuDoubleComplex, false)
CUBLAS_BOTH_WIDTHS(SYR2, Cher2, cuComplex, true)
CUBLAS_BOTH_WIDTHS(SYR2, Zher2, cuDoubleComplex, true)
CUBLAS_BOTH_WIDTHS(SPR2, Sspr2, float, false)
CUBLAS_BOTH_WIDTHS(SPR2, Dspr2, double, false)
CUBLAS_BOTH_WIDTHS(SPR2, Chpr2, cuComplex, true)
CUBLAS_BOTH_WIDTHS(SPR2, Zhpr2, cuDoubleComplex, true)

#define PACKING(L, C)                                                                                                  \
  cublasStatus_t cublas##L##tpttr(cublasHandle_t handle, cublasFillMode_t uplo, int n, const C* AP, C* A, int lda) {   \
    return copy_triangle("cublas" #L "tpttr", handle, PACKED_TRIANGLE, as_numbers(AP), WHOLE_TRIANGLE, as_numbers(A)); \
  }                                                                                                                    \
  cublasStatus_t cublas##L##trttp(cublasHandle_t handle, cublasFillMode_t uplo, int n, const C* A, int lda, C* AP) {   \
    return copy_triangle("cublas" #L "trttp", handle, WHOLE_TRIANGLE, as_numbers(A), PACKED_TRIANGLE, as_numbers(AP)); \
  }
CUBLAS_ALL_OF_INT(PACKING)

}  // extern "C"

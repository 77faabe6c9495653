// Symmetric, Hermitian and triangular matrices, sums of matrices: BLAS's level 3 beside plain products, and what cuBLAS
// adds to it.
#include <algorithm>
#include <tuple>

#include "simulator/stand_in/libraries/cublas/functions.hpp"
#include "simulator/stand_in/libraries/openblas/openblas.hpp"
#include "simulator/stand_in/libraries/operands/product.hpp"

using namespace convladder::stand_in;

namespace {

int number_of(cublasFillMode_t part) { return part == CUBLAS_FILL_MODE_LOWER ? kLower : kUpper; }
int number_of(cublasSideMode_t side) { return side == CUBLAS_SIDE_LEFT ? kLeft : kRight; }
int number_of(cublasDiagType_t diagonal) { return diagonal == CUBLAS_DIAG_UNIT ? kUnit : kNonUnit; }
template <typename T>
int number_of(cublasOperation_t operation) {
  return operation == CUBLAS_OP_N                    ? kPlain
         : operation == CUBLAS_OP_C && is_complex<T> ? kConjugateTransposed
                                                     : kTransposed;
}

void require_side(cublasSideMode_t side) {
  require(side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT, "no such side");
}

/// Checks a result that is read because of a factor that only the device knows.
template <typename T>
bool may_read(LibraryTurn& turn, const Scalar<T>& beta, MemoryUse result) {
  if (!beta.is_of_device() || beta.value(turn) == T{}) return true;
  result.reads = true;
  result.writes = false;
  return turn.may_use(result);
}

template <typename T>
Access access_of(const Scalar<T>& beta) {
  return beta.may_be_zero() ? Access::write : Access::both;
}

/// C = alpha A B + beta C, or B A, with a symmetric or Hermitian A.
template <bool is_hermitian, typename T>
cublasStatus_t symm(const char* name, cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t part,
                    std::int64_t m, std::int64_t n, const T* alpha, const T* a, std::int64_t lda, const T* b,
                    std::int64_t ldb, const T* beta, T* c, std::int64_t ldc) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    require_side(side);
    require_triangle(part);
    require(m >= 0 && n >= 0, "a size is negative");
    const std::int64_t size = side == CUBLAS_SIDE_LEFT ? m : n;
    require(lda >= std::max<std::int64_t>(1, size), "lda is less than the rows of A");
    require(ldb >= std::max<std::int64_t>(1, m), "ldb is less than the rows of B");
    require(ldc >= std::max<std::int64_t>(1, m), "ldc is less than the rows of C");
    const Scalar<T> by = scalar(context, "alpha", alpha);
    const Scalar<T> keeps = scalar(context, "beta", beta);
    if (m == 0 || n == 0) return;
    LibraryWork work;
    if (!by.is_zero()) {
      work.uses = {triangle_use("A", a, size, lda, sizeof(T), part == CUBLAS_FILL_MODE_LOWER, Access::read),
                   matrix_use("B", b, m, n, ldb, sizeof(T), Access::read)};
    }
    const MemoryUse result = matrix_use("C", c, m, n, ldc, sizeof(T), access_of(keeps));
    work.uses.push_back(result);
    by.add_use(work.uses);
    keeps.add_use(work.uses);
    add_pairs<T>(work.amount, context, static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(size),
                 true);
    work.amount.bytes = bytes_of(work.uses);
    const auto [rows, columns, of_a, of_b, of_c] = std::tuple(small(m), small(n), small(lda), small(ldb), small(ldc));
    work.compute = [=](LibraryTurn& turn) {
      if (!may_read(turn, keeps, result)) return;
      if constexpr (is_hermitian) {
        hemm(number_of(side), number_of(part), rows, columns, by.value(turn), turn.at(a), of_a, turn.at(b), of_b,
             keeps.value(turn), turn.at(c), of_c);
      } else {
        convladder::stand_in::symm(number_of(side), number_of(part), rows, columns, by.value(turn), turn.at(a), of_a,
                                   turn.at(b), of_b, keeps.value(turn), turn.at(c), of_c);
      }
    };
    enqueue(call, context, std::move(work));
  });
}

/// C = alpha op(A) op(B)^T + beta C in one triangle, with B = A for syrk; plus the same turned for syr2k.
enum class Update { rank_k, rank_2k, rank_kx };

template <Update update, bool is_hermitian, typename T, typename Alpha, typename Beta>
cublasStatus_t syrk(const char* name, cublasHandle_t handle, cublasFillMode_t part, cublasOperation_t operation,
                    std::int64_t n, std::int64_t k, const Alpha* alpha, const T* a, std::int64_t lda, const T* b,
                    std::int64_t ldb, const Beta* beta, T* c, std::int64_t ldc) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    require_triangle(part);
    require_operation(operation);
    require(n >= 0 && k >= 0, "a size is negative");
    const bool turns = operation != CUBLAS_OP_N;
    if (is_complex<T>) {
      const cublasOperation_t turned = is_hermitian ? CUBLAS_OP_C : CUBLAS_OP_T;
      require(!turns || operation == turned, "the operation is none of this function's");
    }
    const std::int64_t rows = turns ? k : n;
    const std::int64_t columns = turns ? n : k;
    require(lda >= std::max<std::int64_t>(1, rows), "lda is less than the rows of A");
    require(update == Update::rank_k || ldb >= std::max<std::int64_t>(1, rows), "ldb is less than the rows of B");
    require(ldc >= std::max<std::int64_t>(1, n), "ldc is less than the rows of C");
    const Scalar<Alpha> by = scalar(context, "alpha", alpha);
    const Scalar<Beta> keeps = scalar(context, "beta", beta);
    if (n == 0) return;
    LibraryWork work;
    if (!by.is_zero() && k > 0) {
      work.uses.push_back(matrix_use("A", a, rows, columns, lda, sizeof(T), Access::read));
      if (update != Update::rank_k)
        work.uses.push_back(matrix_use("B", b, rows, columns, ldb, sizeof(T), Access::read));
    }
    const bool is_lower = part == CUBLAS_FILL_MODE_LOWER;
    const MemoryUse result = triangle_use("C", c, n, ldc, sizeof(T), is_lower, access_of(keeps));
    work.uses.push_back(result);
    by.add_use(work.uses);
    keeps.add_use(work.uses);
    const double pairs = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(k);
    add_pairs<T>(work.amount, context, update == Update::rank_2k ? pairs : 0.5 * pairs, true);
    work.amount.bytes = bytes_of(work.uses);
    const auto [size, depth, of_a, of_b, of_c] = std::tuple(small(n), small(k), small(lda), small(ldb), small(ldc));
    work.compute = [=](LibraryTurn& turn) {
      if (!may_read(turn, keeps, result)) return;
      const int how = number_of<T>(operation);
      if constexpr (update == Update::rank_kx) {
        // The whole product, of which one triangle is kept.
        std::vector<T> whole(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
        const int other = turns ? kPlain : is_hermitian ? kConjugateTransposed : kTransposed;
        gemm(how, other, size, size, depth, T{by.value(turn)}, turn.at(a), of_a, turn.at(b), of_b, T{}, whole.data(),
             size);
        T* const to = turn.at(c);
        const T kept{keeps.value(turn)};
        for (std::int64_t column = 0; column < n; ++column) {
          const std::int64_t begin = is_lower ? column : 0;
          const std::int64_t end = is_lower ? n : column + 1;
          for (std::int64_t row = begin; row < end; ++row) {
            const T sum = whole[static_cast<std::size_t>(row + column * n)];
            T& element = to[row + column * ldc];
            element = kept == T{} ? sum : sum + times(kept, element);
            if (is_hermitian && row == column) element = T{std::real(element)};
          }
        }
      } else if constexpr (update == Update::rank_2k && is_hermitian) {
        her2k(number_of(part), how, size, depth, by.value(turn), turn.at(a), of_a, turn.at(b), of_b, keeps.value(turn),
              turn.at(c), of_c);
      } else if constexpr (update == Update::rank_2k) {
        syr2k(number_of(part), how, size, depth, by.value(turn), turn.at(a), of_a, turn.at(b), of_b, keeps.value(turn),
              turn.at(c), of_c);
      } else if constexpr (is_hermitian) {
        herk(number_of(part), how, size, depth, by.value(turn), turn.at(a), of_a, keeps.value(turn), turn.at(c), of_c);
      } else {
        convladder::stand_in::syrk(number_of(part), how, size, depth, by.value(turn), turn.at(a), of_a,
                                   keeps.value(turn), turn.at(c), of_c);
      }
    };
    enqueue(call, context, std::move(work));
  });
}

struct Triangle {
  cublasSideMode_t side;
  cublasFillMode_t part;
  cublasOperation_t operation;
  cublasDiagType_t diagonal;
  std::int64_t m, n, lda, ldb;

  std::int64_t size() const { return side == CUBLAS_SIDE_LEFT ? m : n; }
  void check() const {
    require_side(side);
    require_triangle(part);
    require_operation(operation);
    require(diagonal == CUBLAS_DIAG_UNIT || diagonal == CUBLAS_DIAG_NON_UNIT, "no such diagonal");
    require(m >= 0 && n >= 0, "a size is negative");
    require(lda >= std::max<std::int64_t>(1, size()), "lda is less than the rows of A");
    require(ldb >= std::max<std::int64_t>(1, m), "ldb is less than the rows of B");
    static_cast<void>(small(std::max({m, n, lda, ldb})));
  }
  template <typename T>
  MemoryUse use_of_a(const T* a) const {
    return triangle_use("A", a, size(), lda, sizeof(T), part == CUBLAS_FILL_MODE_LOWER, Access::read,
                        diagonal != CUBLAS_DIAG_UNIT);
  }
  double pairs() const { return 0.5 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(size()); }
};

template <typename T>
void solve(const Triangle& t, T alpha, const T* a, T* b) {
  trsm(number_of(t.side), number_of(t.part), number_of<T>(t.operation), number_of(t.diagonal), static_cast<int>(t.m),
       static_cast<int>(t.n), alpha, a, static_cast<int>(t.lda), b, static_cast<int>(t.ldb));
}

template <typename T>
cublasStatus_t trsm(const char* name, cublasHandle_t handle, const Triangle& t, const T* alpha, const T* a, T* b) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    t.check();
    const Scalar<T> by = scalar(context, "alpha", alpha);
    if (t.m == 0 || t.n == 0) return;
    LibraryWork work;
    if (!by.is_zero()) work.uses.push_back(t.use_of_a(a));
    work.uses.push_back(matrix_use("B", b, t.m, t.n, t.ldb, sizeof(T), by.is_zero() ? Access::write : Access::both));
    by.add_use(work.uses);
    add_pairs<T>(work.amount, context, t.pairs(), true);
    work.amount.bytes = bytes_of(work.uses);
    work.amount.steps = static_cast<double>(1 + t.size() / 64);
    work.compute = [=](LibraryTurn& turn) { solve(t, by.value(turn), turn.at(a), turn.at(b)); };
    enqueue(call, context, std::move(work));
  });
}

template <typename T>
cublasStatus_t trsm_batched(const char* name, cublasHandle_t handle, const Triangle& t, const T* alpha,
                            const T* const* a, T* const* b, std::int64_t batch) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    t.check();
    require(batch >= 0, "a size is negative");
    const Scalar<T> by = scalar(context, "alpha", alpha);
    if (t.m == 0 || t.n == 0 || batch == 0) return;
    LibraryWork work{.uses = {vector_use("the pointers to A", a, batch, 1, sizeof(void*), Access::read),
                              vector_use("the pointers to B", b, batch, 1, sizeof(void*), Access::read)}};
    by.add_use(work.uses);
    add_pairs<T>(work.amount, context, static_cast<double>(batch) * t.pairs(), true);
    work.amount.bytes = static_cast<double>(batch) * static_cast<double>(sizeof(T)) *
                        (0.5 * static_cast<double>(t.size()) * static_cast<double>(t.size()) +
                         2 * static_cast<double>(t.m) * static_cast<double>(t.n));
    work.compute = [=](LibraryTurn& turn) {
      for (std::int64_t i = 0; i < batch; ++i) {
        const T* const of_a = turn.at(a)[i];
        T* const of_b = turn.at(b)[i];
        const bool is_there = turn.may_use(t.use_of_a(of_a));
        if (!turn.may_use(matrix_use("B", of_b, t.m, t.n, t.ldb, sizeof(T), Access::both)) || !is_there) continue;
        solve(t, by.value(turn), turn.at(of_a), turn.at(of_b));
      }
    };
    enqueue(call, context, std::move(work));
  });
}

/// C = alpha op(A) B or B op(A); C may be B.
template <typename T>
cublasStatus_t trmm(const char* name, cublasHandle_t handle, const Triangle& t, const T* alpha, const T* a, const T* b,
                    T* c, std::int64_t ldc) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    t.check();
    require(ldc >= std::max<std::int64_t>(1, t.m), "ldc is less than the rows of C");
    const Scalar<T> by = scalar(context, "alpha", alpha);
    if (t.m == 0 || t.n == 0) return;
    LibraryWork work;
    if (!by.is_zero()) {
      work.uses = {t.use_of_a(a), matrix_use("B", b, t.m, t.n, t.ldb, sizeof(T), Access::read)};
    }
    work.uses.push_back(matrix_use("C", c, t.m, t.n, ldc, sizeof(T), Access::write));
    by.add_use(work.uses);
    add_pairs<T>(work.amount, context, t.pairs(), true);
    work.amount.bytes = bytes_of(work.uses);
    const int of_c = small(ldc);
    work.compute = [=](LibraryTurn& turn) {
      const T* const from = turn.at(b);
      T* const to = turn.at(c);
      const T factor = by.value(turn);
      for (std::int64_t column = 0; column < t.n; ++column) {
        for (std::int64_t row = 0; row < t.m; ++row) {
          to[row + column * ldc] = factor == T{} ? T{} : from[row + column * t.ldb];
        }
      }
      if (factor == T{}) return;
      convladder::stand_in::trmm(number_of(t.side), number_of(t.part), number_of<T>(t.operation), number_of(t.diagonal),
                                 static_cast<int>(t.m), static_cast<int>(t.n), factor, turn.at(a),
                                 static_cast<int>(t.lda), to, of_c);
    };
    enqueue(call, context, std::move(work));
  });
}

/// C = alpha op(A) + beta op(B); C may be A or B where these are not turned.
template <typename T>
cublasStatus_t geam(const char* name, cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b,
                    std::int64_t m, std::int64_t n, const T* alpha, const T* a, std::int64_t lda, const T* beta,
                    const T* b, std::int64_t ldb, T* c, std::int64_t ldc) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    require_operation(of_a);
    require_operation(of_b);
    require(m >= 0 && n >= 0, "a size is negative");
    const bool turns_a = of_a != CUBLAS_OP_N;
    const bool turns_b = of_b != CUBLAS_OP_N;
    const Scalar<T> by = scalar(context, "alpha", alpha);
    const Scalar<T> with = scalar(context, "beta", beta);
    require(by.is_zero() || lda >= std::max<std::int64_t>(1, turns_a ? n : m), "lda is less than the rows of A");
    require(with.is_zero() || ldb >= std::max<std::int64_t>(1, turns_b ? n : m), "ldb is less than the rows of B");
    require(ldc >= std::max<std::int64_t>(1, m), "ldc is less than the rows of C");
    require(!(c == a && turns_a && !by.is_zero()) && !(c == b && turns_b && !with.is_zero()),
            "C is a matrix that is to be turned");
    if (m == 0 || n == 0) return;
    LibraryWork work;
    if (!by.is_zero()) {
      work.uses.push_back(matrix_use("A", a, turns_a ? n : m, turns_a ? m : n, lda, sizeof(T), Access::read));
    }
    if (!with.is_zero()) {
      work.uses.push_back(matrix_use("B", b, turns_b ? n : m, turns_b ? m : n, ldb, sizeof(T), Access::read));
    }
    work.uses.push_back(matrix_use("C", c, m, n, ldc, sizeof(T), Access::write));
    by.add_use(work.uses);
    with.add_use(work.uses);
    add_pairs<T>(work.amount, context, 2 * static_cast<double>(m) * static_cast<double>(n));
    work.amount.bytes = bytes_of(work.uses);
    work.compute = [=](LibraryTurn& turn) {
      const T first = by.value(turn);
      const T second = with.value(turn);
      const auto element = [](const T* at, cublasOperation_t operation, std::int64_t leading, std::int64_t row,
                              std::int64_t column) {
        const T one = operation == CUBLAS_OP_N ? at[row + column * leading] : at[column + row * leading];
        return operation == CUBLAS_OP_C ? conjugated(one) : one;
      };
      const T* const from_a = first == T{} ? nullptr : turn.at(a);
      const T* const from_b = second == T{} ? nullptr : turn.at(b);
      T* const to = turn.at(c);
      for (std::int64_t column = 0; column < n; ++column) {
        for (std::int64_t row = 0; row < m; ++row) {
          T sum{};
          if (from_a != nullptr) sum += times(first, element(from_a, of_a, lda, row, column));
          if (from_b != nullptr) sum += times(second, element(from_b, of_b, ldb, row, column));
          to[row + column * ldc] = sum;
        }
      }
    };
    enqueue(call, context, std::move(work));
  });
}

/// C = A diag(x) or diag(x) A.
template <typename T>
cublasStatus_t dgmm(const char* name, cublasHandle_t handle, cublasSideMode_t side, std::int64_t m, std::int64_t n,
                    const T* a, std::int64_t lda, const T* x, std::int64_t step, T* c, std::int64_t ldc) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    require_side(side);
    require(m >= 0 && n >= 0, "a size is negative");
    require(lda >= std::max<std::int64_t>(1, m), "lda is less than the rows of A");
    require(ldc >= std::max<std::int64_t>(1, m), "ldc is less than the rows of C");
    if (m == 0 || n == 0) return;
    const bool is_left = side == CUBLAS_SIDE_LEFT;
    const std::int64_t count = is_left ? m : n;
    LibraryWork work{.uses = {matrix_use("A", a, m, n, lda, sizeof(T), Access::read),
                              vector_use("x", x, count, step, sizeof(T), Access::read),
                              matrix_use("C", c, m, n, ldc, sizeof(T), Access::write)}};
    add_pairs<T>(work.amount, context, static_cast<double>(m) * static_cast<double>(n));
    work.amount.bytes = bytes_of(work.uses);
    work.compute = [=](LibraryTurn& turn) {
      const T* const from = turn.at(a);
      const Strided by(turn.at(x), count, step);
      T* const to = turn.at(c);
      for (std::int64_t column = 0; column < n; ++column) {
        for (std::int64_t row = 0; row < m; ++row) {
          to[row + column * ldc] = times(from[row + column * lda], by[is_left ? row : column]);
        }
      }
    };
    enqueue(call, context, std::move(work));
  });
}

cublasStatus_t refuse_types(const char* name, cublasHandle_t handle) {
  return answer(name, handle, [](LibraryCall&, cublasContext&) {
    throw Refused(CUBLAS_STATUS_NOT_SUPPORTED, "these element types are not supported");
  });
}

}  // namespace

extern "C" {

#define SYMM(L, C, is_hermitian, Int, tail)                                                                           \
  cublasStatus_t cublas##L##_v2##tail(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, Int m,     \
                                      Int n, const C* alpha, const C* A, Int lda, const C* B, Int ldb, const C* beta, \
                                      C* c, Int ldc) {                                                                \
    return symm<is_hermitian>("cublas" #L#tail, handle, side, uplo, m, n, as_numbers(alpha), as_numbers(A), lda,      \
                              as_numbers(B), ldb, as_numbers(beta), as_numbers(c), ldc);                              \
  }
CUBLAS_BOTH_WIDTHS(SYMM, Ssymm, float, false)
CUBLAS_BOTH_WIDTHS(SYMM, Dsymm, double, false)
CUBLAS_BOTH_WIDTHS(SYMM, Csymm, cuComplex, false)
CUBLAS_BOTH_WIDTHS(SYMM, Zsymm, cuDoubleComplex, false)
CUBLAS_BOTH_WIDTHS(SYMM, Chemm, cuComplex, true)
CUBLAS_BOTH_WIDTHS(SYMM, Zhemm, cuDoubleComplex, true)

#define SYRK(L, C, Alpha, is_hermitian, Int, tail)                                                                     \
  cublasStatus_t cublas##L##_v2##tail(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, Int n,    \
                                      Int k, const Alpha* alpha, const C* A, Int lda, const Alpha* beta, C* c,         \
                                      Int ldc) {                                                                       \
    return syrk<Update::rank_k, is_hermitian>("cublas" #L#tail, handle, uplo, trans, n, k, as_numbers(alpha),          \
                                              as_numbers(A), lda, as_numbers(A), lda, as_numbers(beta), as_numbers(c), \
                                              ldc);                                                                    \
  }
CUBLAS_BOTH_WIDTHS(SYRK, Ssyrk, float, float, false)
CUBLAS_BOTH_WIDTHS(SYRK, Dsyrk, double, double, false)
CUBLAS_BOTH_WIDTHS(SYRK, Csyrk, cuComplex, cuComplex, false)
CUBLAS_BOTH_WIDTHS(SYRK, Zsyrk, cuDoubleComplex, cuDoubleComplex, false)
CUBLAS_BOTH_WIDTHS(SYRK, Cherk, cuComplex, float, true)
CUBLAS_BOTH_WIDTHS(SYRK, Zherk, cuDoubleComplex, double, true)

// Elements of 8 bits are missing.
#define SYRK_EX(L, Alpha, is_hermitian, Int, tail)                                                                  \
  cublasStatus_t cublas##L##Ex##tail(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, Int n,  \
                                     Int k, const Alpha* alpha, const void* A, cudaDataType a_type, Int lda,        \
                                     const Alpha* beta, void* c, cudaDataType c_type, Int ldc) {                    \
    if (a_type != CUDA_C_32F || c_type != CUDA_C_32F) return refuse_types("cublas" #L "Ex" #tail, handle);          \
    const auto* const from = static_cast<const std::complex<float>*>(A);                                            \
    return syrk<Update::rank_k, is_hermitian>("cublas" #L "Ex" #tail, handle, uplo, trans, n, k, as_numbers(alpha), \
                                              from, lda, from, lda, as_numbers(beta),                               \
                                              static_cast<std::complex<float>*>(c), ldc);                           \
  }
CUBLAS_BOTH_WIDTHS(SYRK_EX, Csyrk, cuComplex, false)
CUBLAS_BOTH_WIDTHS(SYRK_EX, Csyrk3m, cuComplex, false)
CUBLAS_BOTH_WIDTHS(SYRK_EX, Cherk, float, true)
CUBLAS_BOTH_WIDTHS(SYRK_EX, Cherk3m, float, true)

#define SYR2K_AS(update, name, function, C, Beta, is_hermitian, Int)                                                   \
  cublasStatus_t function(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, Int n, Int k,         \
                          const C* alpha, const C* A, Int lda, const C* B, Int ldb, const Beta* beta, C* c, Int ldc) { \
    return syrk<update, is_hermitian>(name, handle, uplo, trans, n, k, as_numbers(alpha), as_numbers(A), lda,          \
                                      as_numbers(B), ldb, as_numbers(beta), as_numbers(c), ldc);                       \
  }
#define SYR2K(L, C, Beta, is_hermitian, Int, tail)                                                      \
  SYR2K_AS(Update::rank_2k, "cublas" #L "2k" #tail, cublas##L##2k_v2##tail, C, Beta, is_hermitian, Int) \
  SYR2K_AS(Update::rank_kx, "cublas" #L "kx" #tail, cublas##L##kx##tail, C, Beta, is_hermitian, Int)
CUBLAS_BOTH_WIDTHS(SYR2K, Ssyr, float, float, false)
CUBLAS_BOTH_WIDTHS(SYR2K, Dsyr, double, double, false)
CUBLAS_BOTH_WIDTHS(SYR2K, Csyr, cuComplex, cuComplex, false)
CUBLAS_BOTH_WIDTHS(SYR2K, Zsyr, cuDoubleComplex, cuDoubleComplex, false)
CUBLAS_BOTH_WIDTHS(SYR2K, Cher, cuComplex, float, true)
CUBLAS_BOTH_WIDTHS(SYR2K, Zher, cuDoubleComplex, double, true)

#define TRSM_AND_TRMM(L, C, Int, tail)                                                                               \
  cublasStatus_t cublas##L##trsm_v2##tail(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,       \
                                          cublasOperation_t trans, cublasDiagType_t diag, Int m, Int n,              \
                                          const C* alpha, const C* A, Int lda, C* B, Int ldb) {                      \
    return trsm("cublas" #L "trsm" #tail, handle, {side, uplo, trans, diag, m, n, lda, ldb}, as_numbers(alpha),      \
                as_numbers(A), as_numbers(B));                                                                       \
  }                                                                                                                  \
  cublasStatus_t cublas##L##trsmBatched##tail(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,   \
                                              cublasOperation_t trans, cublasDiagType_t diag, Int m, Int n,          \
                                              const C* alpha, const C* const A[], Int lda, C* const B[], Int ldb,    \
                                              Int count) {                                                           \
    return trsm_batched("cublas" #L "trsmBatched" #tail, handle, {side, uplo, trans, diag, m, n, lda, ldb},          \
                        as_numbers(alpha), reinterpret_cast<const Number<C>* const*>(A),                             \
                        reinterpret_cast<Number<C>* const*>(B), count);                                              \
  }                                                                                                                  \
  cublasStatus_t cublas##L##trmm_v2##tail(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,       \
                                          cublasOperation_t trans, cublasDiagType_t diag, Int m, Int n,              \
                                          const C* alpha, const C* A, Int lda, const C* B, Int ldb, C* c, Int ldc) { \
    return trmm("cublas" #L "trmm" #tail, handle, {side, uplo, trans, diag, m, n, lda, ldb}, as_numbers(alpha),      \
                as_numbers(A), as_numbers(B), as_numbers(c), ldc);                                                   \
  }
CUBLAS_ALL(TRSM_AND_TRMM)

#define GEAM_AND_DGMM(L, C, Int, tail)                                                                                \
  cublasStatus_t cublas##L##geam##tail(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,     \
                                       Int m, Int n, const C* alpha, const C* A, Int lda, const C* beta, const C* B,  \
                                       Int ldb, C* c, Int ldc) {                                                      \
    return geam("cublas" #L "geam" #tail, handle, transa, transb, m, n, as_numbers(alpha), as_numbers(A), lda,        \
                as_numbers(beta), as_numbers(B), ldb, as_numbers(c), ldc);                                            \
  }                                                                                                                   \
  cublasStatus_t cublas##L##dgmm##tail(cublasHandle_t handle, cublasSideMode_t mode, Int m, Int n, const C* A,        \
                                       Int lda, const C* x, Int incx, C* c, Int ldc) {                                \
    return dgmm("cublas" #L "dgmm" #tail, handle, mode, m, n, as_numbers(A), lda, as_numbers(x), incx, as_numbers(c), \
                ldc);                                                                                                 \
  }
CUBLAS_ALL(GEAM_AND_DGMM)

}  // extern "C"

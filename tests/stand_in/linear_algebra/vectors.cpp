// cuBLAS's level 1 and 2.
#include <cublas_v2.h>
#include <cuda_fp16.h>

#include "walk.hpp"

namespace {

cublasHandle_t handle;

constexpr int kCount = 77;

/// A vector with a distance between its elements, on the host and on the device.
template <typename T>
struct Vector : OnDevice<T> {
  Vector(int n, int by) : OnDevice<T>(static_cast<std::size_t>(1 + (n - 1) * std::abs(by))), count(n), step(by) {}
  Wide of(const std::vector<T>& numbers, int i) const {
    const int first = step < 0 ? (1 - count) * step : 0;
    return Wide(numbers[static_cast<std::size_t>(first + i * step)]);
  }
  Wide operator[](int i) const { return of(this->host, i); }
  Matrix whole() const {
    Matrix matrix(count, 1);
    for (int i = 0; i < count; ++i) matrix(i, 0) = (*this)[i];
    return matrix;
  }
  double error(const Matrix& wanted) const {
    const std::vector<T> found = this->get();
    double error = 0;
    for (int i = 0; i < count; ++i) {
      const double off = std::abs(of(found, i) - wanted(i, 0));
      error = std::isnan(off) ? std::numeric_limits<double>::infinity() : std::max(error, off);
    }
    return error;
  }
  int count;
  int step;
};

template <typename T, typename Int, typename F>
void axpy(const char* name, F function) {
  double error = 0;
  for (const auto& [x_step, y_step] : {std::pair{1, 1}, {2, -3}, {-1, 2}}) {
    const Vector<T> x(kCount, x_step);
    const Vector<T> y(kCount, y_step);
    const T alpha = some_number<T>();
    EXPECT_OK(function(handle, static_cast<Int>(kCount), api(&alpha), api(x.at), x_step, api(y.at), y_step));
    error = std::max(error, y.error(sum(Wide(alpha), x.whole(), 1, y.whole())));
  }
  say(name, error, tolerance<T>);
}

template <typename T, typename Factor, typename Int, typename F>
void scal(const char* name, F function) {
  const Vector<T> x(kCount, 3);
  const Factor alpha = some_number<Factor>();
  EXPECT_OK(function(handle, static_cast<Int>(kCount), api(&alpha), api(x.at), 3));
  say(name, x.error(sum(Wide(alpha), x.whole(), 0, x.whole())), tolerance<T>);
}

template <typename T, typename Int, typename F>
void copy(const char* name, F function) {
  const Vector<T> x(kCount, 2);
  const Vector<T> y(kCount, -1);
  EXPECT_OK(function(handle, static_cast<Int>(kCount), api(x.at), 2, api(y.at), -1));
  say(name, y.error(x.whole()), 0);
}

template <typename T, typename Int, typename F>
void swap(const char* name, F function) {
  const Vector<T> x(kCount, 2);
  const Vector<T> y(kCount, -1);
  EXPECT_OK(function(handle, static_cast<Int>(kCount), api(x.at), 2, api(y.at), -1));
  say(name, std::max(y.error(x.whole()), x.error(y.whole())), 0);
}

/// A result on the host, and on the device.
template <typename R, typename Call>
void number(const char* name, Wide wanted, double allowed, const Call& call) {
  R found{};
  EXPECT_OK(call(&found));
  const OnDevice<R> place(std::vector<R>(1));
  EXPECT_OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  EXPECT_OK(call(place.at));
  EXPECT_OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
  EXPECT(place.get()[0] == found);
  say_number(name, Wide(found), wanted, allowed);
}

template <typename T, typename Int, typename F>
void dot(const char* name, F function, bool conjugates) {
  const Vector<T> x(kCount, 2);
  const Vector<T> y(kCount, -3);
  Wide wanted;
  for (int i = 0; i < kCount; ++i) wanted += conjugate_if(conjugates, x[i]) * y[i];
  number<T>(name, wanted, tolerance<T>, [&](T* place) {
    return function(handle, static_cast<Int>(kCount), api(x.at), 2, api(y.at), -3, api(place));
  });
}

template <typename T, typename Int, typename F, typename Of>
void reduced(const char* name, F function, const Of& of) {
  const Vector<T> x(kCount, 2);
  number<Real<T>>(name, of(x), tolerance<T>,
                  [&](Real<T>* place) { return function(handle, static_cast<Int>(kCount), api(x.at), 2, place); });
  Real<T> nothing = 5;
  EXPECT_OK(function(handle, 0, api(x.at), 1, &nothing));
  EXPECT(nothing == 0);
}

template <typename T>
Wide size_sum(const Vector<T>& x) {
  Wide all;
  for (int i = 0; i < x.count; ++i) all += std::abs(x[i].real()) + std::abs(x[i].imag());
  return all;
}
template <typename T>
Wide length(const Vector<T>& x) {
  double all = 0;
  for (int i = 0; i < x.count; ++i) all += std::norm(x[i]);
  return std::sqrt(all);
}

template <typename T, typename Int, typename F>
void extreme(const char* name, F function, bool is_largest) {
  const Vector<T> x(kCount, 2);
  int best = 0;
  const auto size = [&](int i) { return std::abs(x[i].real()) + std::abs(x[i].imag()); };
  for (int i = 1; i < kCount; ++i) {
    if (is_largest ? size(i) > size(best) : size(i) < size(best)) best = i;
  }
  Int found = 0;
  EXPECT_OK(function(handle, static_cast<Int>(kCount), api(x.at), 2, &found));
  say_number(name, static_cast<double>(found), best + 1, 0);
}

template <typename T, typename S, typename Int, typename F>
void rot(const char* name, F function) {
  const Vector<T> x(kCount, 2);
  const Vector<T> y(kCount, 1);
  const Real<T> c = some_number<Real<T>>();
  const S s = some_number<S>();
  EXPECT_OK(function(handle, static_cast<Int>(kCount), api(x.at), 2, api(y.at), 1, &c, api(&s)));
  const double x_error = x.error(sum(Wide(c), x.whole(), Wide(s), y.whole()));
  say(name, std::max(x_error, y.error(sum(Wide(c), y.whole(), -std::conj(Wide(s)), x.whole()))), tolerance<T>);
}

template <typename T, typename F>
void rotg(const char* name, F function) {
  const T a = some_number<T>();
  const T b = some_number<T>();
  T r = a;
  T z = b;
  Real<T> c = 0;
  T s{};
  EXPECT_OK(function(handle, api(&r), api(&z), &c, api(&s)));
  const double turned = std::abs(-std::conj(Wide(s)) * Wide(a) + Wide(c) * Wide(b));
  const double kept = std::abs(Wide(c) * Wide(a) + Wide(s) * Wide(b) - Wide(r));
  say(name, std::max(turned, kept), tolerance<T>);
}

template <typename T, typename Int, typename F>
void rotm(const char* name, F function) {
  double error = 0;
  for (const T flag : {T{-2}, T{-1}, T{0}, T{1}}) {
    const Vector<T> x(kCount, 2);
    const Vector<T> y(kCount, 1);
    const T p[5] = {flag, some_number<T>(), some_number<T>(), some_number<T>(), some_number<T>()};
    const double h11 = flag == -1 || flag == 1 ? p[1] : 1;
    const double h21 = flag == -1 || flag == 0 ? p[2] : flag == 1 ? -1 : 0;
    const double h12 = flag == -1 || flag == 0 ? p[3] : flag == 1 ? 1 : 0;
    const double h22 = flag == -1 || flag == 1 ? p[4] : 1;
    EXPECT_OK(function(handle, static_cast<Int>(kCount), x.at, 2, y.at, 1, p));
    error = std::max(error, x.error(sum(h11, x.whole(), h12, y.whole())));
    error = std::max(error, y.error(sum(h21, x.whole(), h22, y.whole())));
  }
  say(name, error, tolerance<T>);
}

// Vectors whose type is named when the program runs.
template <typename T>
constexpr cudaDataType type_of = std::is_same_v<T, float>                         ? CUDA_R_32F
                                 : std::is_same_v<T, double>                      ? CUDA_R_64F
                                 : is_complex<T>&& std::is_same_v<Real<T>, float> ? CUDA_C_32F
                                                                                  : CUDA_C_64F;

template <typename T, typename Int, typename Axpy, typename Scal, typename Dot, typename Size, typename Rot>
void typed(const std::string& tail, Axpy axpy_of, Scal scal_of, Dot dot_of, Dot dotc_of, Size nrm2_of, Size asum_of,
           Rot rot_of) {
  constexpr cudaDataType kType = type_of<T>;
  constexpr cudaDataType kReal = type_of<Real<T>>;
  const auto n = static_cast<Int>(kCount);
  const T alpha = some_number<T>();
  const Vector<T> x(kCount, 2);
  {
    const Vector<T> y(kCount, -3);
    EXPECT_OK(axpy_of(handle, n, &alpha, kType, x.at, kType, 2, y.at, kType, -3, kType));
    say("cublasAxpyEx" + tail, y.error(sum(Wide(alpha), x.whole(), 1, y.whole())), tolerance<T>);
  }
  {
    const Vector<T> y(kCount, 3);
    EXPECT_OK(scal_of(handle, n, &alpha, kType, y.at, kType, 3, kType));
    say("cublasScalEx" + tail, y.error(sum(Wide(alpha), y.whole(), 0, y.whole())), tolerance<T>);
  }
  for (const bool conjugates : {false, true}) {
    const Vector<T> y(kCount, -1);
    Wide wanted;
    for (int i = 0; i < kCount; ++i) wanted += conjugate_if(conjugates, x[i]) * y[i];
    number<T>(((conjugates ? "cublasDotcEx" : "cublasDotEx") + tail).c_str(), wanted, tolerance<T>, [&](T* place) {
      return (conjugates ? dotc_of : dot_of)(handle, n, x.at, kType, 2, y.at, kType, -1, place, kType, kType);
    });
  }
  number<Real<T>>(("cublasNrm2Ex" + tail).c_str(), length(x), tolerance<T>,
                  [&](Real<T>* place) { return nrm2_of(handle, n, x.at, kType, 2, place, kReal, kReal); });
  number<Real<T>>(("cublasAsumEx" + tail).c_str(), size_sum(x), tolerance<T>,
                  [&](Real<T>* place) { return asum_of(handle, n, x.at, kType, 2, place, kReal, kType); });
  const Vector<T> a(kCount, -2);
  const Vector<T> b(kCount, 1);
  const Real<T> c = some_number<Real<T>>();
  const T s = some_number<T>();
  EXPECT_OK(rot_of(handle, n, a.at, kType, -2, b.at, kType, 1, &c, &s, kType, kType));
  const double first = a.error(sum(Wide(c), a.whole(), Wide(s), b.whole()));
  const double second = b.error(sum(Wide(c), b.whole(), -std::conj(Wide(s)), a.whole()));
  say("cublasRotEx" + tail, std::max(first, second), tolerance<T>);
}

/// Half precision is computed in float and rounded once.
void typed_of_halves() {
  std::vector<__half> of_x(kCount);
  std::vector<__half> of_y(kCount);
  for (__half& one : of_x) one = __half(static_cast<float>(random_number()));
  for (__half& one : of_y) one = __half(static_cast<float>(random_number()));
  const OnDevice<__half> x(of_x);
  const OnDevice<__half> y(of_y);
  const float alpha = 3;
  EXPECT_OK(cublasAxpyEx(handle, kCount, &alpha, CUDA_R_32F, x.at, CUDA_R_16F, 1, y.at, CUDA_R_16F, 1, CUDA_R_32F));
  const std::vector<__half> found = y.get();
  for (std::size_t i = 0; i < found.size(); ++i) {
    const float wanted = alpha * static_cast<float>(of_x[i]) + static_cast<float>(of_y[i]);
    EXPECT(static_cast<float>(found[i]) == static_cast<float>(__half(wanted)));
  }
}

// Matrices and vectors.
constexpr int kRows = 13;
constexpr int kColumns = 9;
constexpr int kLeading = 16;

template <typename T, typename Int, typename F>
void gemv(const char* name, F function) {
  double error = 0;
  for (const int operation : {0, 1, 2}) {
    for (const bool keeps : {true, false}) {
      const OnDevice<T> a(static_cast<std::size_t>(kLeading * kColumns));
      const Vector<T> x(operation == 0 ? kColumns : kRows, 2);
      Vector<T> y(operation == 0 ? kRows : kColumns, -1);
      if (!keeps) {
        for (T& one : y.host) one = T(std::numeric_limits<Real<T>>::quiet_NaN());
        y.put();
      }
      const T alpha = some_number<T>();
      const T beta = keeps ? some_number<T>() : T{};
      EXPECT_OK(function(handle, static_cast<cublasOperation_t>(operation), static_cast<Int>(kRows), kColumns,
                         api(&alpha), api(a.at), kLeading, api(x.at), 2, api(&beta), api(y.at), -1));
      const Matrix product = operated(matrix_of(a.host, kRows, kColumns, kLeading), operation) * x.whole();
      error = std::max(error, y.error(sum(Wide(alpha), product, Wide(beta), y.whole())));
    }
  }
  say(name, error, tolerance<T>);
}

template <typename T, typename Int, typename F>
void gemv_strided(const char* name, F function) {
  constexpr int kBatch = 3;
  const OnDevice<T> a(static_cast<std::size_t>(kBatch * kLeading * kColumns));
  const OnDevice<T> x(static_cast<std::size_t>(kBatch * 20));
  const OnDevice<T> y(static_cast<std::size_t>(kBatch * 30));
  const T alpha = some_number<T>();
  const T beta = some_number<T>();
  EXPECT_OK(function(handle, CUBLAS_OP_N, static_cast<Int>(kRows), kColumns, api(&alpha), api(a.at), kLeading,
                     kLeading * kColumns, api(x.at), 1, 20, api(&beta), api(y.at), 1, 30, kBatch));
  const std::vector<T> found = y.get();
  double error = 0;
  for (int i = 0; i < kBatch; ++i) {
    const Matrix product = matrix_of(a.host, kRows, kColumns, kLeading, i * kLeading * kColumns) *
                           matrix_of(x.host, kColumns, 1, kColumns, i * 20);
    const Matrix wanted = sum(Wide(alpha), product, Wide(beta), matrix_of(y.host, kRows, 1, kRows, i * 30));
    error = std::max(error, error_of(found, y.host, wanted, kRows, i * 30));
  }
  say(name, error, tolerance<T>);
}

template <typename T, typename Int, typename F>
void ger(const char* name, F function, bool conjugates) {
  const OnDevice<T> a(static_cast<std::size_t>(kLeading * kColumns));
  const Vector<T> x(kRows, 2);
  const Vector<T> y(kColumns, -1);
  const T alpha = some_number<T>();
  EXPECT_OK(function(handle, static_cast<Int>(kRows), kColumns, api(&alpha), api(x.at), 2, api(y.at), -1, api(a.at),
                     kLeading));
  const Matrix product = x.whole() * operated(y.whole(), conjugates ? 2 : 1);
  const Matrix wanted = sum(Wide(alpha), product, 1, matrix_of(a.host, kRows, kColumns, kLeading));
  say(name, error_of(a.get(), a.host, wanted, kLeading), tolerance<T>);
}

template <typename T, typename Int, typename F>
void symv(const char* name, F function, bool is_hermitian) {
  double error = 0;
  for (const bool is_lower : {true, false}) {
    const OnDevice<T> a(static_cast<std::size_t>(kLeading * kRows));
    const Vector<T> x(kRows, 2);
    const Vector<T> y(kRows, -1);
    const T alpha = some_number<T>();
    const T beta = some_number<T>();
    EXPECT_OK(function(handle, is_lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER, static_cast<Int>(kRows),
                       api(&alpha), api(a.at), kLeading, api(x.at), 2, api(&beta), api(y.at), -1));
    const Matrix whole = symmetric(matrix_of(a.host, kRows, kRows, kLeading), is_lower, is_hermitian);
    error = std::max(error, y.error(sum(Wide(alpha), whole * x.whole(), Wide(beta), y.whole())));
  }
  say(name, error, tolerance<T>);
}

// Triangles in a band or packed. Numbers of the whole matrix are put into the layout; what is not part of it stays as
// it was, which is NaN.
enum class Kept { band, packed };
constexpr int kDiagonals = 3;

int place(Kept kept, bool is_lower, int row, int column) {
  if (kept == Kept::band) return (is_lower ? row - column : kDiagonals + row - column) + column * kLeading;
  return is_lower ? row + column * (2 * kRows - column - 1) / 2 : row + column * (column + 1) / 2;
}
bool is_kept(Kept kept, bool is_lower, int row, int column) {
  if (row != column && is_lower != (row > column)) return false;
  return kept == Kept::packed || std::abs(row - column) <= kDiagonals;
}

/// The layout's numbers, from a matrix.
template <typename T>
std::vector<T> laid_out(Kept kept, bool is_lower, const Matrix& matrix) {
  std::vector<T> numbers(kept == Kept::band ? kLeading * kRows : kRows * (kRows + 1) / 2,
                         T(std::numeric_limits<Real<T>>::quiet_NaN()));
  for (int column = 0; column < kRows; ++column) {
    for (int row = 0; row < kRows; ++row) {
      if (is_kept(kept, is_lower, row, column)) {
        numbers[static_cast<std::size_t>(place(kept, is_lower, row, column))] = narrowed<T>(matrix(row, column));
      }
    }
  }
  return numbers;
}
template <typename T>
Matrix taken_out(Kept kept, bool is_lower, const std::vector<T>& numbers) {
  Matrix matrix(kRows, kRows);
  for (int column = 0; column < kRows; ++column) {
    for (int row = 0; row < kRows; ++row) {
      if (is_kept(kept, is_lower, row, column)) {
        matrix(row, column) = Wide(numbers[static_cast<std::size_t>(place(kept, is_lower, row, column))]);
      }
    }
  }
  return matrix;
}
template <typename T>
Matrix some_matrix() {
  Matrix matrix(kRows, kRows);
  for (Wide& one : matrix.numbers) one = Wide(some_number<T>());
  return matrix;
}
cublasFillMode_t part_of(bool is_lower) { return is_lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER; }

template <typename T, typename Int, typename F>
void gbmv(const char* name, F function) {
  double error = 0;
  for (const auto& [below, above] : {std::pair{2, 3}, {0, 0}, {kRows + 1, 1}}) {
    for (const int operation : {0, 1, 2}) {
      std::vector<T> numbers(static_cast<std::size_t>(kLeading * kColumns),
                             T(std::numeric_limits<Real<T>>::quiet_NaN()));
      Matrix whole(kRows, kColumns);
      for (int column = 0; column < kColumns; ++column) {
        for (int row = std::max(0, column - above); row < std::min(kRows, column + below + 1); ++row) {
          const T one = some_number<T>();
          numbers[static_cast<std::size_t>(above + row - column + column * kLeading)] = one;
          whole(row, column) = Wide(one);
        }
      }
      const OnDevice<T> a(numbers);
      const Vector<T> x(operation == 0 ? kColumns : kRows, 2);
      const Vector<T> y(operation == 0 ? kRows : kColumns, -1);
      const T alpha = some_number<T>();
      const T beta = some_number<T>();
      EXPECT_OK(function(handle, static_cast<cublasOperation_t>(operation), static_cast<Int>(kRows), kColumns, below,
                         above, api(&alpha), api(a.at), kLeading, api(x.at), 2, api(&beta), api(y.at), -1));
      const Matrix product = operated(whole, operation) * x.whole();
      error = std::max(error, y.error(sum(Wide(alpha), product, Wide(beta), y.whole())));
    }
  }
  say(name, error, tolerance<T>);
}

/// `call(uplo, alpha, A, x, beta, y)` with what lies between them.
template <typename T, typename Call>
void symmetric_kept(const char* name, Kept kept, bool is_hermitian, const Call& call) {
  double error = 0;
  for (const bool is_lower : {true, false}) {
    const OnDevice<T> a(laid_out<T>(kept, is_lower, some_matrix<T>()));
    const Vector<T> x(kRows, 2);
    const Vector<T> y(kRows, -1);
    const T alpha = some_number<T>();
    const T beta = some_number<T>();
    EXPECT_OK(call(part_of(is_lower), api(&alpha), api(a.at), api(x.at), api(&beta), api(y.at)));
    const Matrix whole = symmetric(taken_out(kept, is_lower, a.host), is_lower, is_hermitian);
    error = std::max(error, y.error(sum(Wide(alpha), whole * x.whole(), Wide(beta), y.whole())));
  }
  say(name, error, tolerance<T>);
}
template <typename T, typename Int, typename F>
void sbmv(const char* name, F function, bool is_hermitian) {
  symmetric_kept<T>(name, Kept::band, is_hermitian, [&](auto uplo, auto alpha, auto a, auto x, auto beta, auto y) {
    return function(handle, uplo, static_cast<Int>(kRows), kDiagonals, alpha, a, kLeading, x, 2, beta, y, -1);
  });
}
template <typename T, typename Int, typename F>
void spmv(const char* name, F function, bool is_hermitian) {
  symmetric_kept<T>(name, Kept::packed, is_hermitian, [&](auto uplo, auto alpha, auto a, auto x, auto beta, auto y) {
    return function(handle, uplo, static_cast<Int>(kRows), alpha, a, x, 2, beta, y, -1);
  });
}

/// `call(uplo, operation, diagonal, A, x)` with what lies between them.
template <typename T, typename Call>
void triangular_kept(const char* name, Kept kept, bool solves, const Call& call) {
  double error = 0;
  for (const bool is_lower : {true, false}) {
    for (const bool is_unit : {true, false}) {
      for (const int operation : {0, 1, 2}) {
        Matrix matrix = some_matrix<T>();
        for (int i = 0; i < kRows; ++i) matrix(i, i) += 4;
        if (is_unit) {
          for (Wide& one : matrix.numbers) one /= 8;
        }
        const OnDevice<T> a(laid_out<T>(kept, is_lower, matrix));
        const Vector<T> x(kRows, -2);
        EXPECT_OK(call(part_of(is_lower), static_cast<cublasOperation_t>(operation),
                       is_unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT, api(a.at), api(x.at)));
        const Matrix part = operated(triangle(taken_out(kept, is_lower, a.host), is_lower, is_unit), operation);
        Vector<T> result(kRows, -2);
        result.host = x.get();
        const Matrix product = part * (solves ? result : x).whole();
        for (int i = 0; i < kRows; ++i) error = std::max(error, std::abs(product(i, 0) - (solves ? x : result)[i]) / 4);
      }
    }
  }
  say(name, error, tolerance<T>);
}
template <typename T, typename Int, typename F>
void banded(const char* name, F function, bool solves) {
  triangular_kept<T>(name, Kept::band, solves, [&](auto uplo, auto operation, auto diagonal, auto a, auto x) {
    return function(handle, uplo, operation, diagonal, static_cast<Int>(kRows), kDiagonals, a, kLeading, x, -2);
  });
}
template <typename T, typename Int, typename F>
void packed(const char* name, F function, bool solves) {
  triangular_kept<T>(name, Kept::packed, solves, [&](auto uplo, auto operation, auto diagonal, auto a, auto x) {
    return function(handle, uplo, operation, diagonal, static_cast<Int>(kRows), a, x, -2);
  });
}

/// Rank-one and rank-two updates of a packed triangle.
template <typename T, typename Factor, typename Call>
void updated(const char* name, bool is_hermitian, bool has_y, const Call& call) {
  const int operation = is_hermitian ? 2 : 1;
  double error = 0;
  for (const bool is_lower : {true, false}) {
    const OnDevice<T> a(laid_out<T>(Kept::packed, is_lower, some_matrix<T>()));
    const Vector<T> x(kRows, -2);
    const Vector<T> y(kRows, 1);
    const Factor alpha = some_number<Factor>();
    EXPECT_OK(call(part_of(is_lower), api(&alpha), api(x.at), api(y.at), api(a.at)));
    const Matrix before = symmetric(taken_out(Kept::packed, is_lower, a.host), is_lower, is_hermitian);
    const Matrix with = (has_y ? y : x).whole();
    Matrix wanted = sum(Wide(alpha), x.whole() * operated(with, operation), 1, before);
    if (has_y) {
      wanted = sum(conjugate_if(is_hermitian, Wide(alpha)), with * operated(x.whole(), operation), 1, wanted);
    }
    const Matrix off = sum(1, taken_out(Kept::packed, is_lower, a.get()), -1, triangle(wanted, is_lower, false));
    for (const Wide one : off.numbers) error = std::max(error, std::abs(one));
  }
  say(name, error, tolerance<T>);
}
template <typename T, typename Factor, typename Int, typename F>
void spr(const char* name, F function, bool is_hermitian) {
  updated<T, Factor>(name, is_hermitian, false, [&](auto uplo, auto alpha, auto x, auto, auto a) {
    return function(handle, uplo, static_cast<Int>(kRows), alpha, x, -2, a);
  });
}
template <typename T, typename Int, typename F>
void spr2(const char* name, F function, bool is_hermitian) {
  updated<T, T>(name, is_hermitian, true, [&](auto uplo, auto alpha, auto x, auto y, auto a) {
    return function(handle, uplo, static_cast<Int>(kRows), alpha, x, -2, y, 1, a);
  });
}

/// Packing and unpacking; what is not of the triangle stays as it was.
template <typename T, typename Pack, typename Unpack>
void packing(const char* pack_name, Pack pack, const char* unpack_name, Unpack unpack) {
  double pack_error = 0;
  double unpack_error = 0;
  for (const bool is_lower : {true, false}) {
    const OnDevice<T> a(static_cast<std::size_t>(kLeading * kRows));
    const OnDevice<T> ap(laid_out<T>(Kept::packed, is_lower, some_matrix<T>()));
    EXPECT_OK(pack(handle, part_of(is_lower), kRows, api(a.at), kLeading, api(ap.at)));
    const Matrix wanted = triangle(matrix_of(a.host, kRows, kRows, kLeading), is_lower, false);
    const Matrix off = sum(1, taken_out(Kept::packed, is_lower, ap.get()), -1, wanted);
    for (const Wide one : off.numbers) pack_error = std::max(pack_error, std::abs(one));
    const OnDevice<T> b(static_cast<std::size_t>(kLeading * kRows));
    EXPECT_OK(unpack(handle, part_of(is_lower), kRows, api(ap.at), api(b.at), kLeading));
    Matrix unpacked = matrix_of(b.host, kRows, kRows, kLeading);
    for (int column = 0; column < kRows; ++column) {
      for (int row = 0; row < kRows; ++row) {
        if (is_kept(Kept::packed, is_lower, row, column)) unpacked(row, column) = wanted(row, column);
      }
    }
    unpack_error = std::max(unpack_error, error_of(b.get(), b.host, unpacked, kLeading));
  }
  say(pack_name, pack_error, 0);
  say(unpack_name, unpack_error, 0);
}

/// A matrix whose triangles are well conditioned.
template <typename T>
std::vector<T> dominant(int size, int leading) {
  OnDevice<T> numbers(static_cast<std::size_t>(leading * size));
  for (int i = 0; i < size; ++i) numbers.host[static_cast<std::size_t>(i * leading + i)] += T{4};
  return numbers.host;
}

template <typename T, typename Int, typename F>
void triangular(const char* name, F function, bool solves) {
  double error = 0;
  for (const bool is_lower : {true, false}) {
    for (const bool is_unit : {true, false}) {
      for (const int operation : {0, 1, 2}) {
        std::vector<T> numbers = dominant<T>(kRows, kLeading);
        if (is_unit) {
          for (T& one : numbers) one /= T{8};
        }
        const OnDevice<T> a(numbers);
        const Vector<T> x(kRows, -2);
        EXPECT_OK(function(handle, is_lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER,
                           static_cast<cublasOperation_t>(operation), is_unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT,
                           static_cast<Int>(kRows), api(a.at), kLeading, api(x.at), -2));
        const Matrix part = operated(triangle(matrix_of(a.host, kRows, kRows, kLeading), is_lower, is_unit), operation);
        if (solves) {
          Vector<T> solved(kRows, -2);
          solved.host = x.get();
          const Matrix product = part * solved.whole();
          for (int i = 0; i < kRows; ++i) error = std::max(error, std::abs(product(i, 0) - x[i]) / 4);
        } else {
          error = std::max(error, x.error(part * x.whole()) / 4);
        }
      }
    }
  }
  say(name, error, tolerance<T>);
}

template <typename T, typename Factor, typename Int, typename F>
void syr(const char* name, F function, bool is_hermitian) {
  double error = 0;
  for (const bool is_lower : {true, false}) {
    const OnDevice<T> a(static_cast<std::size_t>(kLeading * kRows));
    const Vector<T> x(kRows, -2);
    const Factor alpha = some_number<Factor>();
    EXPECT_OK(function(handle, is_lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER, static_cast<Int>(kRows),
                       api(&alpha), api(x.at), -2, api(a.at), kLeading));
    const Matrix before = symmetric(matrix_of(a.host, kRows, kRows, kLeading), is_lower, is_hermitian);
    const Matrix wanted = sum(Wide(alpha), x.whole() * operated(x.whole(), is_hermitian ? 2 : 1), 1, before);
    const Matrix found = matrix_of(a.get(), kRows, kRows, kLeading);
    const Matrix off = sum(1, triangle(found, is_lower, false), -1, triangle(wanted, is_lower, false));
    for (const Wide one : off.numbers) error = std::max(error, std::abs(one));
  }
  say(name, error, tolerance<T>);
}

template <typename T, typename Int, typename F>
void syr2(const char* name, F function, bool is_hermitian) {
  const int operation = is_hermitian ? 2 : 1;
  double error = 0;
  for (const bool is_lower : {true, false}) {
    const OnDevice<T> a(static_cast<std::size_t>(kLeading * kRows));
    const Vector<T> x(kRows, -2);
    const Vector<T> y(kRows, 1);
    const T alpha = some_number<T>();
    EXPECT_OK(function(handle, is_lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER, static_cast<Int>(kRows),
                       api(&alpha), api(x.at), -2, api(y.at), 1, api(a.at), kLeading));
    const Matrix before = symmetric(matrix_of(a.host, kRows, kRows, kLeading), is_lower, is_hermitian);
    const Matrix first = sum(Wide(alpha), x.whole() * operated(y.whole(), operation), 1, before);
    const Matrix wanted =
        sum(conjugate_if(is_hermitian, Wide(alpha)), y.whole() * operated(x.whole(), operation), 1, first);
    const Matrix found = matrix_of(a.get(), kRows, kRows, kLeading);
    const Matrix off = sum(1, triangle(found, is_lower, false), -1, triangle(wanted, is_lower, false));
    for (const Wide one : off.numbers) error = std::max(error, std::abs(one));
  }
  say(name, error, tolerance<T>);
}

using C = std::complex<float>;
using Z = std::complex<double>;

}  // namespace

// A function in both widths. The macros of the headers would put versions into the names.
#define BOTH(test, name, ...)               \
  test<__VA_ARGS__, int>(#name, name##_v2); \
  test<__VA_ARGS__, std::int64_t>(#name "_64", name##_v2_64);
#define BOTH_WITH(test, name, more, ...)          \
  test<__VA_ARGS__, int>(#name, name##_v2, more); \
  test<__VA_ARGS__, std::int64_t>(#name "_64", name##_v2_64, more);

void walk_vectors() {
  EXPECT_OK(cublasCreate(&handle));
  BOTH(axpy, cublasSaxpy, float)
  BOTH(axpy, cublasDaxpy, double)
  BOTH(axpy, cublasCaxpy, C)
  BOTH(axpy, cublasZaxpy, Z)
  BOTH(copy, cublasScopy, float)
  BOTH(copy, cublasDcopy, double)
  BOTH(copy, cublasCcopy, C)
  BOTH(copy, cublasZcopy, Z)
  BOTH(swap, cublasSswap, float)
  BOTH(swap, cublasDswap, double)
  BOTH(swap, cublasCswap, C)
  BOTH(swap, cublasZswap, Z)
  BOTH(scal, cublasSscal, float, float)
  BOTH(scal, cublasDscal, double, double)
  BOTH(scal, cublasCscal, C, C)
  BOTH(scal, cublasZscal, Z, Z)
  BOTH(scal, cublasCsscal, C, float)
  BOTH(scal, cublasZdscal, Z, double)
  BOTH_WITH(dot, cublasSdot, false, float)
  BOTH_WITH(dot, cublasDdot, false, double)
  BOTH_WITH(dot, cublasCdotu, false, C)
  BOTH_WITH(dot, cublasCdotc, true, C)
  BOTH_WITH(dot, cublasZdotu, false, Z)
  BOTH_WITH(dot, cublasZdotc, true, Z)
  BOTH_WITH(reduced, cublasSasum, size_sum<float>, float)
  BOTH_WITH(reduced, cublasDasum, size_sum<double>, double)
  BOTH_WITH(reduced, cublasScasum, size_sum<C>, C)
  BOTH_WITH(reduced, cublasDzasum, size_sum<Z>, Z)
  BOTH_WITH(reduced, cublasSnrm2, length<float>, float)
  BOTH_WITH(reduced, cublasDnrm2, length<double>, double)
  BOTH_WITH(reduced, cublasScnrm2, length<C>, C)
  BOTH_WITH(reduced, cublasDznrm2, length<Z>, Z)
  BOTH_WITH(extreme, cublasIsamax, true, float)
  BOTH_WITH(extreme, cublasIsamin, false, float)
  BOTH_WITH(extreme, cublasIdamax, true, double)
  BOTH_WITH(extreme, cublasIdamin, false, double)
  BOTH_WITH(extreme, cublasIcamax, true, C)
  BOTH_WITH(extreme, cublasIcamin, false, C)
  BOTH_WITH(extreme, cublasIzamax, true, Z)
  BOTH_WITH(extreme, cublasIzamin, false, Z)
  BOTH(rot, cublasSrot, float, float)
  BOTH(rot, cublasDrot, double, double)
  BOTH(rot, cublasCrot, C, C)
  BOTH(rot, cublasZrot, Z, Z)
  BOTH(rot, cublasCsrot, C, float)
  BOTH(rot, cublasZdrot, Z, double)
  rotg<float>("cublasSrotg", cublasSrotg_v2);
  rotg<double>("cublasDrotg", cublasDrotg_v2);
  rotg<C>("cublasCrotg", cublasCrotg_v2);
  rotg<Z>("cublasZrotg", cublasZrotg_v2);
  const auto all_typed = [](auto of) {
    using T = decltype(of);
    typed<T, int>("", cublasAxpyEx, cublasScalEx, cublasDotEx, cublasDotcEx, cublasNrm2Ex, cublasAsumEx, cublasRotEx);
    typed<T, std::int64_t>("_64", cublasAxpyEx_64, cublasScalEx_64, cublasDotEx_64, cublasDotcEx_64, cublasNrm2Ex_64,
                           cublasAsumEx_64, cublasRotEx_64);
  };
  all_typed(float{});
  all_typed(double{});
  all_typed(C{});
  all_typed(Z{});
  typed_of_halves();
  BOTH(rotm, cublasSrotm, float)
  BOTH(rotm, cublasDrotm, double)
  EXPECT_OK(cublasDestroy(handle));
}

void walk_matrices_and_vectors() {
  EXPECT_OK(cublasCreate(&handle));
  BOTH(gemv, cublasSgemv, float)
  gemv_strided<float, int>("cublasSgemvStridedBatched", cublasSgemvStridedBatched);
  gemv_strided<float, std::int64_t>("cublasSgemvStridedBatched_64", cublasSgemvStridedBatched_64);
  BOTH_WITH(triangular, cublasStrsv, true, float)
  BOTH_WITH(triangular, cublasStrmv, false, float)
  BOTH(gemv, cublasDgemv, double)
  gemv_strided<double, int>("cublasDgemvStridedBatched", cublasDgemvStridedBatched);
  gemv_strided<double, std::int64_t>("cublasDgemvStridedBatched_64", cublasDgemvStridedBatched_64);
  BOTH_WITH(triangular, cublasDtrsv, true, double)
  BOTH_WITH(triangular, cublasDtrmv, false, double)
  BOTH(gemv, cublasCgemv, C)
  gemv_strided<C, int>("cublasCgemvStridedBatched", cublasCgemvStridedBatched);
  gemv_strided<C, std::int64_t>("cublasCgemvStridedBatched_64", cublasCgemvStridedBatched_64);
  BOTH_WITH(triangular, cublasCtrsv, true, C)
  BOTH_WITH(triangular, cublasCtrmv, false, C)
  BOTH(gemv, cublasZgemv, Z)
  gemv_strided<Z, int>("cublasZgemvStridedBatched", cublasZgemvStridedBatched);
  gemv_strided<Z, std::int64_t>("cublasZgemvStridedBatched_64", cublasZgemvStridedBatched_64);
  BOTH_WITH(triangular, cublasZtrsv, true, Z)
  BOTH_WITH(triangular, cublasZtrmv, false, Z)
  BOTH_WITH(ger, cublasSger, false, float)
  BOTH_WITH(ger, cublasDger, false, double)
  BOTH_WITH(ger, cublasCgeru, false, C)
  BOTH_WITH(ger, cublasCgerc, true, C)
  BOTH_WITH(ger, cublasZgeru, false, Z)
  BOTH_WITH(ger, cublasZgerc, true, Z)
  BOTH_WITH(symv, cublasSsymv, false, float)
  BOTH_WITH(symv, cublasDsymv, false, double)
  BOTH_WITH(symv, cublasCsymv, false, C)
  BOTH_WITH(symv, cublasZsymv, false, Z)
  BOTH_WITH(symv, cublasChemv, true, C)
  BOTH_WITH(symv, cublasZhemv, true, Z)
  BOTH_WITH(syr, cublasSsyr, false, float, float)
  BOTH_WITH(syr2, cublasSsyr2, false, float)
  BOTH_WITH(syr, cublasDsyr, false, double, double)
  BOTH_WITH(syr2, cublasDsyr2, false, double)
  BOTH_WITH(syr, cublasCsyr, false, C, C)
  BOTH_WITH(syr2, cublasCsyr2, false, C)
  BOTH_WITH(syr, cublasZsyr, false, Z, Z)
  BOTH_WITH(syr2, cublasZsyr2, false, Z)
  BOTH_WITH(syr, cublasCher, true, C, float)
  BOTH_WITH(syr2, cublasCher2, true, C)
  BOTH_WITH(syr, cublasZher, true, Z, double)
  BOTH_WITH(syr2, cublasZher2, true, Z)
  BOTH(gbmv, cublasSgbmv, float)
  BOTH_WITH(sbmv, cublasSsbmv, false, float)
  BOTH_WITH(spmv, cublasSspmv, false, float)
  BOTH_WITH(banded, cublasStbsv, true, float)
  BOTH_WITH(banded, cublasStbmv, false, float)
  BOTH_WITH(packed, cublasStpsv, true, float)
  BOTH_WITH(packed, cublasStpmv, false, float)
  BOTH_WITH(spr, cublasSspr, false, float, float)
  BOTH_WITH(spr2, cublasSspr2, false, float)
  packing<float>("cublasStrttp", cublasStrttp, "cublasStpttr", cublasStpttr);
  BOTH(gbmv, cublasDgbmv, double)
  BOTH_WITH(sbmv, cublasDsbmv, false, double)
  BOTH_WITH(spmv, cublasDspmv, false, double)
  BOTH_WITH(banded, cublasDtbsv, true, double)
  BOTH_WITH(banded, cublasDtbmv, false, double)
  BOTH_WITH(packed, cublasDtpsv, true, double)
  BOTH_WITH(packed, cublasDtpmv, false, double)
  BOTH_WITH(spr, cublasDspr, false, double, double)
  BOTH_WITH(spr2, cublasDspr2, false, double)
  packing<double>("cublasDtrttp", cublasDtrttp, "cublasDtpttr", cublasDtpttr);
  BOTH(gbmv, cublasCgbmv, C)
  BOTH_WITH(sbmv, cublasChbmv, true, C)
  BOTH_WITH(spmv, cublasChpmv, true, C)
  BOTH_WITH(banded, cublasCtbsv, true, C)
  BOTH_WITH(banded, cublasCtbmv, false, C)
  BOTH_WITH(packed, cublasCtpsv, true, C)
  BOTH_WITH(packed, cublasCtpmv, false, C)
  BOTH_WITH(spr, cublasChpr, true, C, float)
  BOTH_WITH(spr2, cublasChpr2, true, C)
  packing<C>("cublasCtrttp", cublasCtrttp, "cublasCtpttr", cublasCtpttr);
  BOTH(gbmv, cublasZgbmv, Z)
  BOTH_WITH(sbmv, cublasZhbmv, true, Z)
  BOTH_WITH(spmv, cublasZhpmv, true, Z)
  BOTH_WITH(banded, cublasZtbsv, true, Z)
  BOTH_WITH(banded, cublasZtbmv, false, Z)
  BOTH_WITH(packed, cublasZtpsv, true, Z)
  BOTH_WITH(packed, cublasZtpmv, false, Z)
  BOTH_WITH(spr, cublasZhpr, true, Z, double)
  BOTH_WITH(spr2, cublasZhpr2, true, Z)
  packing<Z>("cublasZtrttp", cublasZtrttp, "cublasZtpttr", cublasZtpttr);
  EXPECT_OK(cublasDestroy(handle));
}

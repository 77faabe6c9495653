// Functions of cuBLAS, cuBLASLt and cuSOLVER, each against the same computed in float64: a line for each, "name ok" or
// what is wrong.
#pragma once

#include <cuComplex.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "../expect.h"

using Wide = std::complex<double>;

/// Numbers that are the same in every run, between -1 and 1, exact in every type from half precision on.
inline double random_number() {
  static std::uint64_t state = 1;
  state = state * 6364136223846793005U + 1442695040888963407U;
  return static_cast<double>(static_cast<int>(state >> 40 & 255) - 128) / 128;
}

template <typename T>
struct RealOf {
  using Type = T;
};
template <typename T>
struct RealOf<std::complex<T>> {
  using Type = T;
};
template <typename T>
using Real = typename RealOf<T>::Type;
template <typename T>
constexpr bool is_complex = !std::is_same_v<T, Real<T>>;
template <typename T>
constexpr double tolerance = std::is_same_v<Real<T>, float> ? 2e-5 : 1e-13;

template <typename T>
T some_number() {
  if constexpr (is_complex<T>) {
    const double real = random_number();
    return T(static_cast<Real<T>>(real), static_cast<Real<T>>(random_number()));
  } else {
    return static_cast<T>(random_number());
  }
}

template <typename T>
T narrowed(Wide number) {
  if constexpr (is_complex<T>) {
    return T(static_cast<Real<T>>(number.real()), static_cast<Real<T>>(number.imag()));
  } else {
    return static_cast<T>(number.real());
  }
}

/// The API's pointer to numbers.
template <typename T>
struct ApiOf {
  using Type = T;
};
template <>
struct ApiOf<std::complex<float>> {
  using Type = cuComplex;
};
template <>
struct ApiOf<std::complex<double>> {
  using Type = cuDoubleComplex;
};
template <typename T>
auto api(T* at) {
  using Plain = std::remove_const_t<T>;
  if constexpr (std::is_const_v<T>) {
    return reinterpret_cast<const typename ApiOf<Plain>::Type*>(at);
  } else {
    return reinterpret_cast<typename ApiOf<Plain>::Type*>(at);
  }
}

inline Wide conjugate_if(bool is_wanted, Wide number) { return is_wanted ? std::conj(number) : number; }

/// Memory of the device with the numbers that the host has put there.
template <typename T>
class OnDevice {
 public:
  explicit OnDevice(std::vector<T> numbers) : host(std::move(numbers)) {
    EXPECT_OK(cudaMalloc(reinterpret_cast<void**>(&at), std::max<std::size_t>(1, host.size()) * sizeof(T)));
    put();
  }
  explicit OnDevice(std::size_t count) : OnDevice(some(count)) {}
  ~OnDevice() { EXPECT_OK(cudaFree(at)); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  void put() { EXPECT_OK(cudaMemcpy(at, host.data(), host.size() * sizeof(T), cudaMemcpyDefault)); }
  std::vector<T> get() const {
    std::vector<T> found(host.size());
    EXPECT_OK(cudaMemcpy(found.data(), at, found.size() * sizeof(T), cudaMemcpyDefault));
    return found;
  }

  std::vector<T> host;
  T* at = nullptr;

 private:
  static std::vector<T> some(std::size_t count) {
    std::vector<T> numbers(count);
    for (T& number : numbers) number = some_number<T>();
    return numbers;
  }
};

/// A matrix on the host in float64, by columns.
struct Matrix {
  Matrix(std::int64_t row_count, std::int64_t column_count)
      : rows(row_count), columns(column_count), numbers(static_cast<std::size_t>(row_count * column_count)) {}
  Wide& operator()(std::int64_t row, std::int64_t column) {
    return numbers[static_cast<std::size_t>(row + column * rows)];
  }
  Wide operator()(std::int64_t row, std::int64_t column) const {
    return numbers[static_cast<std::size_t>(row + column * rows)];
  }

  std::int64_t rows;
  std::int64_t columns;
  std::vector<Wide> numbers;
};

template <typename T>
Matrix matrix_of(const std::vector<T>& numbers, std::int64_t rows, std::int64_t columns, std::int64_t leading,
                 std::int64_t offset = 0) {
  Matrix matrix(rows, columns);
  for (std::int64_t column = 0; column < columns; ++column) {
    for (std::int64_t row = 0; row < rows; ++row) {
      matrix(row, column) = Wide(numbers[static_cast<std::size_t>(offset + row + column * leading)]);
    }
  }
  return matrix;
}

/// 0: as it is, 1: turned, 2: turned and conjugated.
inline Matrix operated(const Matrix& matrix, int operation) {
  if (operation == 0) return matrix;
  Matrix turned(matrix.columns, matrix.rows);
  for (std::int64_t column = 0; column < matrix.columns; ++column) {
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
      turned(column, row) = conjugate_if(operation == 2, matrix(row, column));
    }
  }
  return turned;
}

inline Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix product(a.rows, b.columns);
  for (std::int64_t column = 0; column < b.columns; ++column) {
    for (std::int64_t i = 0; i < a.columns; ++i) {
      for (std::int64_t row = 0; row < a.rows; ++row) product(row, column) += a(row, i) * b(i, column);
    }
  }
  return product;
}

inline Matrix sum(Wide alpha, const Matrix& a, Wide beta, const Matrix& b) {
  Matrix result(a.rows, a.columns);
  for (std::size_t i = 0; i < a.numbers.size(); ++i) {
    result.numbers[i] = alpha * a.numbers[i] + (beta == Wide{} ? Wide{} : beta * b.numbers[i]);
  }
  return result;
}

/// One triangle of a matrix, the rest zero; with ones on its diagonal if that is not looked at.
inline Matrix triangle(const Matrix& matrix, bool is_lower, bool is_unit) {
  Matrix part(matrix.rows, matrix.columns);
  for (std::int64_t column = 0; column < matrix.columns; ++column) {
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
      if (row == column) part(row, column) = is_unit ? Wide(1) : matrix(row, column);
      if (row != column && is_lower == (row > column)) part(row, column) = matrix(row, column);
    }
  }
  return part;
}

/// The whole of a symmetric or Hermitian matrix from one triangle.
inline Matrix symmetric(const Matrix& matrix, bool is_lower, bool is_hermitian) {
  Matrix whole(matrix.rows, matrix.columns);
  for (std::int64_t column = 0; column < matrix.columns; ++column) {
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
      const bool is_there = row == column || is_lower == (row > column);
      whole(row, column) = is_there ? matrix(row, column) : conjugate_if(is_hermitian, matrix(column, row));
      if (row == column && is_hermitian) whole(row, column) = matrix(row, column).real();
    }
  }
  return whole;
}

/// Says whether the numbers are right; what stands between the columns must be as it was.
inline void say(const std::string& name, double error, double allowed) {
  const bool is_right = error <= allowed;  // false for NaN
  if (is_right) {
    std::printf("%s ok\n", name.c_str());
  } else {
    ++*failures();
    std::printf("%s is wrong: error %g, allowed %g\n", name.c_str(), error, allowed);
  }
}

template <typename T>
double error_of(const std::vector<T>& found, const std::vector<T>& before, const Matrix& wanted, std::int64_t leading,
                std::int64_t offset = 0) {
  double largest = 1;
  for (const Wide number : wanted.numbers) largest = std::max(largest, std::abs(number));
  double error = 0;
  for (std::int64_t column = 0; column < wanted.columns; ++column) {
    for (std::int64_t row = 0; row < wanted.rows; ++row) {
      const Wide number(found[static_cast<std::size_t>(offset + row + column * leading)]);
      const double off = std::abs(number - wanted(row, column)) / largest;
      error = std::isnan(off) ? std::numeric_limits<double>::infinity() : std::max(error, off);
    }
    for (std::int64_t row = wanted.rows; row < leading && column + 1 < wanted.columns; ++row) {
      const auto i = static_cast<std::size_t>(offset + row + column * leading);
      if (found[i] != before[i]) error = std::numeric_limits<double>::infinity();
    }
  }
  return error;
}

inline void say_number(const std::string& name, Wide found, Wide wanted, double allowed) {
  say(name, std::abs(found - wanted) / std::max(1.0, std::abs(wanted)), allowed);
}

void walk_vectors();
void walk_matrices_and_vectors();
void walk_matrices();
void walk_products();
void walk_refusals();
void walk_lt();
void walk_solver();

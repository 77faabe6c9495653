// Products of matrices by columns, of all element types that the libraries know, on the host.
#pragma once

#include <library_types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/stand_in/libraries/operands/numbers.hpp"

namespace convladder::stand_in {

/// op(A) op(B), m x k and k x n.
struct ProductShape {
  bool turns_a = false;
  bool turns_b = false;
  bool conjugates_a = false;  ///< only where it is turned
  bool conjugates_b = false;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t lda = 0;
  std::int64_t ldb = 0;
  std::int64_t ldc = 0;

  std::int64_t rows_of_a() const { return turns_a ? k : m; }
  std::int64_t columns_of_a() const { return turns_a ? m : k; }
  std::int64_t rows_of_b() const { return turns_b ? n : k; }
  std::int64_t columns_of_b() const { return turns_b ? k : n; }
};

/// C = alpha op(A) op(B) + beta C. C is not read where beta is zero, and A and B are not where alpha is. No size may be
/// beyond 32 bits. The result does not depend on the number of host threads.
template <typename T>
void multiply(const ProductShape& shape, T alpha, const T* a, const T* b, T beta, T* c, int host_threads);

/// Whether matrices of this element type are known here.
bool is_known(cudaDataType type);
std::size_t bytes_of(cudaDataType type);
bool is_complex_type(cudaDataType type);

/// A matrix by columns, of any type.
struct TypedMatrix {
  cudaDataType type = CUDA_R_32F;
  void* at = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t leading = 0;
  bool is_by_rows = false;  ///< `leading` is the distance of rows
};

/// Its elements as numbers, by columns and without gaps. T is float, double, or complex.
template <typename T>
std::vector<T> numbers_of(const TypedMatrix& matrix);

/// Rounds numbers, by columns and without gaps, into the matrix. Integers are cut to their type's range.
template <typename T>
void put_numbers(const TypedMatrix& matrix, const std::vector<T>& numbers);

}  // namespace convladder::stand_in

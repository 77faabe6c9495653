// How the matrices of BLAS's level 2 lie in memory: by whole columns, by a band of each column, or packed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "simulator/stand_in/libraries/cublas/functions.hpp"

namespace convladder::stand_in {

/// The elements of a matrix that are there: rows `first_row` to `end_row` of each column.
class Layout {
 public:
  static Layout columns(std::int64_t rows, std::int64_t columns, std::int64_t leading) {
    require(rows >= 0 && columns >= 0, "a size is negative");
    require(leading >= std::max<std::int64_t>(1, rows), "lda is less than the rows of A");
    return {Kind::columns, rows, columns, rows, columns, leading};
  }
  /// With so many diagonals below and above the main one.
  static Layout band(std::int64_t rows, std::int64_t columns, std::int64_t below, std::int64_t above,
                     std::int64_t leading) {
    require(rows >= 0 && columns >= 0 && below >= 0 && above >= 0, "a size is negative");
    require(leading > below + above, "lda is less than the diagonals of A");
    return {Kind::band, rows, columns, below, above, leading};
  }
  static Layout triangle(cublasFillMode_t part, std::int64_t size, std::int64_t leading) {
    require_triangle(part);
    Layout whole = columns(size, size, leading);
    (part == CUBLAS_FILL_MODE_LOWER ? whole.above_ : whole.below_) = 0;
    return whole;
  }
  static Layout triangle_in_band(cublasFillMode_t part, std::int64_t size, std::int64_t diagonals,
                                 std::int64_t leading) {
    require_triangle(part);
    return part == CUBLAS_FILL_MODE_LOWER ? band(size, size, diagonals, 0, leading)
                                          : band(size, size, 0, diagonals, leading);
  }
  static Layout packed_triangle(cublasFillMode_t part, std::int64_t size) {
    require_triangle(part);
    require(size >= 0, "a size is negative");
    return part == CUBLAS_FILL_MODE_LOWER ? Layout{Kind::packed, size, size, size, 0, 0}
                                          : Layout{Kind::packed, size, size, 0, size, 0};
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  /// Which triangle it is.
  bool is_lower() const { return above_ == 0; }

  std::int64_t first_row(std::int64_t column) const { return std::max<std::int64_t>(0, column - above_); }
  std::int64_t end_row(std::int64_t column) const { return std::min(rows_, column + below_ + 1); }
  std::int64_t first_column(std::int64_t row) const { return std::max<std::int64_t>(0, row - below_); }
  std::int64_t end_column(std::int64_t row) const { return std::min(columns_, row + above_ + 1); }

  /// Where an element that is there lies.
  std::int64_t operator()(std::int64_t row, std::int64_t column) const {
    if (kind_ == Kind::columns) return row + column * leading_;
    if (kind_ == Kind::band) return above_ + row - column + column * leading_;
    return is_lower() ? row + column * (2 * rows_ - column - 1) / 2 : row + column * (column + 1) / 2;
  }

  void add_use(std::vector<MemoryUse>& uses, const char* name, const void* at, std::size_t element, Access access,
               bool with_diagonal = true) const {
    if (kind_ == Kind::columns) {
      uses.push_back(above_ == 0 || below_ == 0
                         ? triangle_use(name, at, rows_, leading_, element, is_lower(), access, with_diagonal)
                         : matrix_use(name, at, rows_, columns_, leading_, element, access));
      return;
    }
    if (kind_ == Kind::packed && with_diagonal) {
      uses.push_back(vector_use(name, at, rows_ * (rows_ + 1) / 2, 1, element, access));
      return;
    }
    for (std::int64_t column = 0; column < columns_; ++column) {
      const std::int64_t first = first_row(column) + (is_lower() && !with_diagonal ? 1 : 0);
      const std::int64_t end = end_row(column) - (!is_lower() && !with_diagonal ? 1 : 0);
      if (first >= end) continue;
      const void* const begin =
          static_cast<const char*>(at) + (*this)(first, column) * static_cast<std::int64_t>(element);
      uses.push_back(matrix_use(name, begin, end - first, 1, 0, element, access));
    }
  }

 private:
  enum class Kind { columns, band, packed };
  Layout(Kind kind, std::int64_t rows, std::int64_t columns, std::int64_t below, std::int64_t above,
         std::int64_t leading)
      : kind_(kind), rows_(rows), columns_(columns), below_(below), above_(above), leading_(leading) {}

  Kind kind_;
  std::int64_t rows_;
  std::int64_t columns_;
  std::int64_t below_;
  std::int64_t above_;
  std::int64_t leading_;
};

}  // namespace convladder::stand_in

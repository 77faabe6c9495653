// Which elements of a matrix the lanes of a warp hold (PTX ISA 9.0, 9.7.15.5: fragments of mma).
//
// With g = lane / 4 and t = lane % 4, a lane holds of every block of 8 rows the row g, and of every block of 8 columns
// the columns 2t and 2t + 1 (of 32-bit factors: of every 4 columns the column t). Blocks follow each other down the
// rows first. The right factor is held the same way with rows and columns exchanged, its blocks again down the rows
// first. The ISA says so for mma. It leaves the layout of wmma's fragments open; here it is the same, and where such a
// fragment has room for more than all elements, they begin again.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "devices/simulated/execution/block_context.hpp"

namespace convladder::simulated {

class InstructionDecoder;

enum class ElementType : std::uint8_t { f16, bf16, tf32, f32 };

inline int element_bits(ElementType type) { return type == ElementType::f16 || type == ElementType::bf16 ? 16 : 32; }

/// Left and right factor, and what is added to or results.
enum class MatrixRole : std::uint8_t { left, right, accumulator };

class Fragment {
 public:
  Fragment(MatrixRole role, ElementType type, int rows, int columns, int registers);

  ElementType type() const { return type_; }
  int rows() const { return rows_; }
  int columns() const { return columns_; }
  int registers() const { return registers_; }
  /// Held by each lane, those that repeat included.
  int elements() const { return registers_ * 32 / element_bits(type_); }
  /// Held by each lane once.
  int distinct_elements() const { return rows_ * columns_ / kLanes; }
  /// Whether elements 2i and 2i + 1 are neighbours in a row; if not, they are in a column or not at all.
  bool pairs_lie_in_rows() const { return pairs_ && role_ != MatrixRole::right; }
  bool pairs_lie_in_columns() const { return pairs_ && role_ == MatrixRole::right; }

  int row(int lane, int element) const { return index(lane, element) / columns_; }
  int column(int lane, int element) const { return index(lane, element) % columns_; }
  /// row * columns() + column
  int index(int lane, int element) const { return indices_[static_cast<std::size_t>(element * kLanes + lane)]; }

  /// The matrix that the registers hold, row by row. Exact.
  void gather(const WarpState& warp, const Slot* registers, float* matrix) const;
  /// Rounds to the element's type and writes the registers of the executing lanes.
  void scatter(const WarpState& warp, const Slot* registers, const float* matrix) const;

 private:
  MatrixRole role_;
  ElementType type_;
  int rows_;
  int columns_;
  int registers_;
  bool pairs_;
  std::vector<std::uint16_t> indices_;
};

/// Instructions with ".aligned" need the whole warp. Reports lanes that are missing.
void check_all_lanes(const WarpState& warp, const Operation& operation);

/// What one product of matrices is.
struct MatrixProduct {
  ElementType factors;
  ElementType sums;
  std::uint64_t operations;  ///< multiplications and additions of a warp: 2 m n k
};
/// The product that a full opcode stands for; none if it is no product.
std::optional<MatrixProduct> matrix_product(std::string_view opcode);

/// The two halves of decode_matrix.
bool decode_matrix_load(InstructionDecoder& decoder);
bool decode_matrix_multiply(InstructionDecoder& decoder);

}  // namespace convladder::simulated

// The elements of a matrix that the lanes of a warp hold (PTX ISA 9.0, 9.7.15.5: fragments of mma).
//
// With g = lane / 4 and t = lane % 4, a lane holds of every block of 8 rows the row g, and of every block of columns a
// run of as many neighbours as fill a register: of factors with 16 bits the columns 2t and 2t + 1 of 8, of factors with
// 32 or 64 bits the column t of 4. Accumulators lie in runs of two. Blocks follow each other down the rows first. The
// right factor is held the same way with rows and columns exchanged, its blocks again down the rows first. The ISA says
// so for mma. It leaves the layout of wmma's fragments open; here it is the same, and where such a fragment has room
// for more than all elements, they begin again. mma.m8n8k4 of f16 is different: there four groups of eight lanes, 4i to
// 4i + 3 and 16 more, have a product each; their matrices are kept below each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "simulator/state/block_context.hpp"

namespace convladder::simulated {

class InstructionDecoder;

enum class ElementType : std::uint8_t { f16, bf16, tf32, f32, f64, s32, s8, u8, s4, u4, b1, e4m3, e5m2 };

int element_bits(ElementType type);
/// The type's name as opcodes spell it.
const char* element_name(ElementType type);
inline bool is_integer(ElementType type) {
  return type == ElementType::s32 || (type >= ElementType::s8 && type <= ElementType::b1);
}

/// The number in the lowest bits of `bits`, whatever the bits above are. T: as in Fragment::gather.
template <typename T>
T element_value(ElementType type, std::uint64_t bits);
/// The bits of a sum, rounded to its type.
template <typename T>
std::uint64_t element_bits_of(ElementType type, T value);

/// The left and the right factor, and the matrix that is added or results.
enum class MatrixRole : std::uint8_t { left, right, accumulator };

class Fragment {
 public:
  Fragment(MatrixRole role, ElementType type, int rows, int columns, int registers);
  /// A fragment of mma.m8n8k4 of f16. An accumulator has no layout.
  static Fragment of_quad_pairs(MatrixRole role, ElementType type, bool by_columns);

  ElementType type() const { return type_; }
  int rows() const { return rows_; }
  int columns() const { return columns_; }
  int registers() const { return registers_; }
  /// The number of elements that each lane holds, repetitions included.
  int elements() const { return registers_ * register_bits() / element_bits(type_); }
  /// 64 for f64; for narrower elements each register of 32 bits holds several.
  int register_bits() const { return type_ == ElementType::f64 ? 64 : 32; }
  /// The number of elements that each lane holds, without repetitions.
  int distinct_elements() const { return rows_ * columns_ / kLanes; }
  /// The number of adjacent elements in a lane: those from a multiple of it on are neighbours in a row or else in a
  /// column.
  int run() const { return run_; }
  bool runs_lie_in_rows() const { return role_ != MatrixRole::right; }

  int row(int lane, int element) const { return index(lane, element) / columns_; }
  int column(int lane, int element) const { return index(lane, element) % columns_; }
  /// The index in the matrix: row * columns() + column.
  int index(int lane, int element) const { return indices_.data()[element * kLanes + lane]; }

  /// The matrix in the registers, row by row. Exact. T: std::int64_t for integers, double for f64, else float.
  template <typename T>
  void gather(const WarpState& warp, const Slot* registers, T* matrix) const;
  /// Rounds to the element's type and writes the registers of the executing lanes.
  template <typename T>
  void scatter(const WarpState& warp, const Slot* registers, const T* matrix) const;

 private:
  Fragment(MatrixRole role, ElementType type, int rows, int columns, int registers, int run)
      : role_(role), type_(type), rows_(rows), columns_(columns), registers_(registers), run_(run) {}

  MatrixRole role_;
  ElementType type_;
  int rows_;
  int columns_;
  int registers_;
  int run_;
  std::vector<std::uint16_t> indices_;
};

/// Reports missing lanes: instructions with ".aligned" need the whole warp.
void check_all_lanes(const WarpState& warp, const Operation& operation);

/// The types and the work of one product of matrices.
struct MatrixProduct {
  ElementType factors;
  ElementType sums;
  std::uint64_t operations;  ///< multiplications and additions of a warp: 2 m n k
};
/// The product that a full opcode stands for; none if the opcode is no product.
std::optional<MatrixProduct> matrix_product(std::string_view opcode);

/// As `matrix_product`, for products by groups of four warps; `operations` are those of one warp.
std::optional<MatrixProduct> group_product(std::string_view opcode);

/// The parts of decode_matrix: products, wmma.load and wmma.store, ldmatrix and similar instructions.
bool decode_matrix_multiply(InstructionDecoder& decoder);
bool decode_fragment_access(InstructionDecoder& decoder);
bool decode_matrix_rows(InstructionDecoder& decoder);
bool decode_warp_group(InstructionDecoder& decoder);

}  // namespace convladder::simulated

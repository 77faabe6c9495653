// Products of small matrices by a warp: mma.sync, mma.sp.sync and wmma.mma (PTX ISA 9.0, 9.7.15.4 to 9.7.15.6).
//
// Products are exact, each is added to a sum in single precision, in ascending order of k, and a half precision result
// is rounded once at the end. Tensor cores add several products at a time and cut off digits: the last bits of a result
// differ there, and between GPUs. Program::tensor_cores asks for that (tensor_sum.hpp). Products of f64 are added in
// double precision, also in ascending order, integers exactly.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/instructions/matrix/matrix_products.hpp"
#include "simulator/instructions/matrix/tensor_sum.hpp"

namespace convladder::simulated {
namespace {

/// The term that is added to a sum for one k.
template <typename T>
T added(T sum, T a, T b, bool exclusive_or) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fma(a, b, sum);
  } else {
    return sum + (exclusive_or ? a ^ b : a * b);
  }
}

/// Computes one row of sums as tensor cores do. `row_of_b` gives the row of `b` that belongs to the row's element k.
template <typename RowOfB>
void add_row(const TensorSum& how, float* sums, const float* row, int depth, const float* b, int columns,
             const RowOfB& row_of_b) {
  constexpr int kMostDepth = 64;
  std::array<float, kMostDepth> right;
  for (int column = 0; column < columns; ++column) {
    for (int k = 0; k < depth; ++k) right.data()[k] = b[row_of_b(k) * columns + column];
    sums[column] = tensor_sum(how, sums[column], row, right.data(), depth);
  }
}

/// `detail` is the index of the product; the registers of d, a, b and c follow each other in the operand lists. Sums of
/// integers are exact; `offset` says whether they are clamped at the end or cut to 32 bits. In a sparse product,
/// operand 0 is the metadata and `target` the selector.
template <typename T, int kMost, bool kSparse>
void multiply(WarpState& warp, const Operation& operation) {
  const Product& product = matrix_products()[static_cast<std::size_t>(operation.detail)];
  const TensorCores cores = warp.block->program->tensor_cores;
  if constexpr (std::is_same_v<T, float>) {
    if (product.in_lanes != nullptr && cores == TensorCores::rounding) return product.in_lanes(warp, operation);
  }
  check_all_lanes(warp, operation);
  const Slot* const d_registers = warp.block->program->operand_lists.data() + operation.list;
  const Slot* const a_registers = d_registers + product.d.registers();
  const Slot* const b_registers = a_registers + product.a.registers();
  std::array<T, kMost> a;
  std::array<T, kMost> b;
  std::array<T, kMost> sums;
  product.a.gather(warp, a_registers, a.data());
  product.b.gather(warp, b_registers, b.data());
  product.c.gather(warp, b_registers + product.b.registers(), sums.data());
  const int columns = product.b.columns();
  const int depth = product.a.columns();
  const int b_rows = product.b.rows() / product.products;
  std::array<int, kSparse ? kMost : 1> positions;
  if constexpr (kSparse) {
    sparse_positions(warp, product, operation.operands[0], operation.target, positions.data());
  }
  const int rows = product.a.rows() / product.products;
  for (int row = 0; row < product.a.rows(); ++row) {
    T* const sum = sums.data() + row * columns;
    const T* const right = b.data() + row / rows * b_rows * columns;
    if constexpr (std::is_same_v<T, float>) {
      if (cores != TensorCores::rounding) {
        add_row({cores, product.a.type(), product.b.type(), product.d.type()}, sum, a.data() + row * depth, depth,
                right, columns, [&](int k) { return kSparse ? positions.data()[row * depth + k] : k; });
        continue;
      }
    }
    for (int k = 0; k < depth; ++k) {
      const T factor = a.data()[row * depth + k];
      const int row_of_b = kSparse ? positions.data()[row * depth + k] : k;
      const T* const of_b = right + row_of_b * columns;
      for (int column = 0; column < columns; ++column) {
        sum[column] = added(sum[column], factor, of_b[column], product.exclusive_or);
      }
    }
  }
  if constexpr (std::is_integral_v<T>) {
    constexpr T kMostSum = std::numeric_limits<std::int32_t>::max();
    for (int i = 0; operation.offset != 0 && i < product.d.rows() * columns; ++i) {
      sums[static_cast<std::size_t>(i)] = std::clamp(sums[static_cast<std::size_t>(i)], -kMostSum - 1, kMostSum);
    }
  }
  product.d.scatter(warp, d_registers, sums.data());
}

Handler multiplier(const Product& product) {
  const ElementType sum = product.d.type();
  if (sum == ElementType::f64) return &multiply<double, 16 * 16, false>;
  if (sum == ElementType::s32) {
    return product.sparse ? &multiply<std::int64_t, kMostMatrixElements, true>
                          : &multiply<std::int64_t, kMostMatrixElements, false>;
  }
  return product.sparse ? &multiply<float, 16 * 64, true> : &multiply<float, 32 * 16, false>;
}

}  // namespace

std::optional<MatrixProduct> matrix_product(std::string_view opcode) {
  const std::optional<AskedProduct> asked = product_asked_for(opcode);
  if (!asked) return group_product(opcode);
  const auto operations = 2 * asked->product->a.rows() * asked->product->a.columns() * asked->product->b.columns();
  return MatrixProduct{asked->product->a.type(), asked->product->c.type(), static_cast<std::uint64_t>(operations)};
}

bool decode_matrix_multiply(InstructionDecoder& decoder) {
  const ptx::Instruction& instruction = decoder.instruction();
  const std::optional<AskedProduct> asked = product_asked_for(instruction.opcode);
  if (!asked) return false;
  const Product& product = *asked->product;
  decoder.expect_operands(product.sparse ? 6 : 4);
  std::vector<Slot> slots;
  const Fragment* const fragments[] = {&product.d, &product.a, &product.b, &product.c};
  for (std::size_t i = 0; i < 4; ++i) {
    const ptx::Operand& operand = instruction.operands[i];
    const std::vector<ptx::Operand> single{operand};
    const auto& elements = operand.kind == ptx::OperandKind::vector ? operand.elements : single;
    if (elements.size() != static_cast<std::size_t>(fragments[i]->registers())) {
      decoder.fail(
          fmt::format("expected {} registers for a fragment, found {}", fragments[i]->registers(), elements.size()));
    }
    const int bits = fragments[i]->register_bits();
    for (const ptx::Operand& element : elements) {
      slots.push_back(i == 0 ? decoder.write(element, bits) : decoder.read(element, bits));
    }
  }
  Operation operation;
  operation.handler = multiplier(product);
  operation.detail = static_cast<int>(&product - matrix_products().data());
  operation.offset = asked->saturates ? 1 : 0;
  operation.list = decoder.keep_operands(slots);
  if (product.sparse) {
    const ptx::Operand& selector = instruction.operands[5];
    if (selector.kind != ptx::OperandKind::immediate || selector.bits > 3) decoder.fail("a selector is 0 to 3");
    operation.operands[0] = decoder.read(instruction.operands[4], 32);
    operation.target = static_cast<int>(selector.bits);
  }
  decoder.emit(operation);
  return true;
}

bool decode_matrix(InstructionDecoder& decoder) {
  return decode_matrix_multiply(decoder) || decode_fragment_access(decoder) || decode_matrix_rows(decoder) ||
         decode_warp_group(decoder);
}

}  // namespace convladder::simulated

// Products of small matrices by a warp: mma.sync and wmma.mma (PTX ISA 9.0, 9.7.15.5 and 9.7.15.4).
//
// Products are exact, each is added to a sum in single precision, in ascending order of k, and a half precision result
// is rounded once at the end. Tensor cores add several products at a time and cut off digits in a way NVIDIA does not
// document: the last bits of a result differ there, and between GPUs.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "devices/simulated/execution/instruction_decoder.hpp"
#include "devices/simulated/execution/matrix_fragment.hpp"

namespace convladder::simulated {
namespace {

constexpr int kMostElements = 32 * 16;  // of any of the matrices

/// d = a b + c, by the full opcode.
struct Product {
  std::string opcode;
  Fragment a;
  Fragment b;
  Fragment c;
  Fragment d;
};

const char* name_of(ElementType type) {
  constexpr const char* names[] = {"f16", "bf16", "tf32", "f32"};
  return names[static_cast<int>(type)];
}

/// Registers that hold every element once.
int registers_for(int elements, ElementType type) { return elements / kLanes * element_bits(type) / 32; }

void add_mma(std::vector<Product>& list, int k, ElementType factor, ElementType sum) {
  const int m = 16;
  const int n = 8;
  const auto accumulator = [&] { return Fragment(MatrixRole::accumulator, sum, m, n, registers_for(m * n, sum)); };
  list.push_back({fmt::format("mma.sync.aligned.m{}n{}k{}.row.col.{}.{}.{}.{}", m, n, k, name_of(sum), name_of(factor),
                              name_of(factor), name_of(sum)),
                  Fragment(MatrixRole::left, factor, m, k, registers_for(m * k, factor)),
                  Fragment(MatrixRole::right, factor, k, n, registers_for(k * n, factor)), accumulator(),
                  accumulator()});
}

void add_wmma(std::vector<Product>& list, int m, int n, int k, ElementType factor, ElementType sum,
              ElementType result) {
  // Fragments of f16 have 8 registers whatever their matrix, others as many as they need.
  const auto registers = [&](int elements) { return factor == ElementType::f16 ? 8 : registers_for(elements, factor); };
  for (const char* layouts : {"row.row", "row.col", "col.row", "col.col"}) {
    std::string opcode = fmt::format("wmma.mma.sync.aligned.{}.m{}n{}k{}.{}", layouts, m, n, k, name_of(result));
    if (factor != ElementType::f16) opcode += fmt::format(".{}.{}", name_of(factor), name_of(factor));
    opcode += fmt::format(".{}", name_of(sum));
    list.push_back({opcode, Fragment(MatrixRole::left, factor, m, k, registers(m * k)),
                    Fragment(MatrixRole::right, factor, k, n, registers(k * n)),
                    Fragment(MatrixRole::accumulator, sum, m, n, registers_for(m * n, sum)),
                    Fragment(MatrixRole::accumulator, result, m, n, registers_for(m * n, result))});
  }
}

const std::vector<Product>& products() {
  using enum ElementType;
  static const std::vector<Product> all = [] {
    std::vector<Product> list;
    for (const int k : {4, 8}) add_mma(list, k, tf32, f32);
    for (const int k : {8, 16}) {
      add_mma(list, k, f16, f32);
      add_mma(list, k, f16, f16);
      add_mma(list, k, bf16, f32);
    }
    for (const auto& [m, n] : {std::pair{16, 16}, {32, 8}, {8, 32}}) {
      for (const ElementType sum : {f16, f32}) {
        for (const ElementType result : {f16, f32}) add_wmma(list, m, n, 16, f16, sum, result);
      }
      add_wmma(list, m, n, 16, bf16, f32, f32);
    }
    add_wmma(list, 16, 16, 8, tf32, f32, f32);
    return list;
  }();
  return all;
}

/// `detail` is the index of the product; the registers of d, a, b and c follow each other in the operand lists.
void multiply(WarpState& warp, const Operation& operation) {
  check_all_lanes(warp, operation);
  const Product& product = products()[static_cast<std::size_t>(operation.detail)];
  const Slot* const d_registers = warp.block->program->operand_lists.data() + operation.list;
  const Slot* const a_registers = d_registers + product.d.registers();
  const Slot* const b_registers = a_registers + product.a.registers();
  std::array<float, kMostElements> a;
  std::array<float, kMostElements> b;
  std::array<float, kMostElements> sums;
  product.a.gather(warp, a_registers, a.data());
  product.b.gather(warp, b_registers, b.data());
  product.c.gather(warp, b_registers + product.b.registers(), sums.data());
  const int columns = product.b.columns();
  const int depth = product.a.columns();
  for (int row = 0; row < product.a.rows(); ++row) {
    float* const sum = sums.data() + row * columns;
    for (int k = 0; k < depth; ++k) {
      const float factor = a[static_cast<std::size_t>(row * depth + k)];
      const float* const of_b = b.data() + k * columns;
      for (int column = 0; column < columns; ++column) sum[column] = std::fma(factor, of_b[column], sum[column]);
    }
  }
  product.d.scatter(warp, d_registers, sums.data());
}

}  // namespace

std::optional<MatrixProduct> matrix_product(std::string_view opcode) {
  const auto found = std::ranges::find(products(), opcode, &Product::opcode);
  if (found == products().end()) return std::nullopt;
  const auto operations = 2 * found->a.rows() * found->a.columns() * found->b.columns();
  return MatrixProduct{found->a.type(), found->c.type(), static_cast<std::uint64_t>(operations)};
}

bool decode_matrix_multiply(InstructionDecoder& decoder) {
  const ptx::Instruction& instruction = decoder.instruction();
  const auto found = std::ranges::find(products(), instruction.opcode, &Product::opcode);
  if (found == products().end()) return false;
  decoder.expect_operands(4);
  std::vector<Slot> slots;
  const Fragment* const fragments[] = {&found->d, &found->a, &found->b, &found->c};
  for (std::size_t i = 0; i < 4; ++i) {
    const ptx::Operand& operand = instruction.operands[i];
    const std::vector<ptx::Operand> single{operand};
    const auto& elements = operand.kind == ptx::OperandKind::vector ? operand.elements : single;
    if (elements.size() != static_cast<std::size_t>(fragments[i]->registers())) {
      decoder.fail(
          fmt::format("expected {} registers for a fragment, found {}", fragments[i]->registers(), elements.size()));
    }
    for (const ptx::Operand& element : elements) {
      slots.push_back(i == 0 ? decoder.write(element, 32) : decoder.read(element, 32));
    }
  }
  Operation operation;
  operation.handler = multiply;
  operation.detail = static_cast<int>(found - products().begin());
  operation.list = decoder.keep_operands(slots);
  decoder.emit(operation);
  return true;
}

bool decode_matrix(InstructionDecoder& decoder) {
  const std::string& opcode = decoder.instruction().opcode;
  if (!opcode.starts_with("mma.") && !opcode.starts_with("wmma.") && !opcode.starts_with("ldmatrix.")) return false;
  return decode_matrix_multiply(decoder) || decode_matrix_load(decoder);
}

}  // namespace convladder::simulated

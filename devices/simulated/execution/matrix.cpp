// Products of small matrices by a warp: mma.sync and wmma.mma (PTX ISA 9.0, 9.7.15.5 and 9.7.15.4).
//
// Products are exact, each is added to a sum in single precision, in ascending order of k, and a half precision result
// is rounded once at the end. Tensor cores add several products at a time and cut off digits in a way NVIDIA does not
// document: the last bits of a result differ there, and between GPUs. Products of f64 are added in double precision,
// also in ascending order, integers exactly.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <unordered_map>

#include "devices/simulated/execution/instruction_decoder.hpp"
#include "devices/simulated/execution/matrix_fragment.hpp"

namespace convladder::simulated {
namespace {

constexpr int kMostElements = 16 * 256;  // of any of the matrices

/// d = a b + c, by the opcode without .satfinite and rounding.
struct Product {
  std::string opcode;
  Fragment a;
  Fragment b;
  Fragment c;
  Fragment d;
  int products = 1;           ///< whose matrices lie below each other
  bool exclusive_or = false;  ///< of b1: bits that differ are counted, not those that are set in both
};

/// Registers that hold every element once.
int registers_for(int elements, ElementType type) {
  return elements / kLanes * element_bits(type) / (type == ElementType::f64 ? 64 : 32);
}

struct Shape {
  int m;
  int n;
  int k;
  std::string name() const { return fmt::format("m{}n{}k{}", m, n, k); }
};

Product product_of(const std::string& opcode, const Shape& s, ElementType left, ElementType right, ElementType sum,
                   ElementType result) {
  // Fragments of wmma with f16 have 8 registers whatever their matrix, others as many as they need.
  const auto registers = [&](int elements, ElementType type) {
    return opcode.starts_with("wmma") && type == ElementType::f16 ? 8 : registers_for(elements, type);
  };
  return {opcode, Fragment(MatrixRole::left, left, s.m, s.k, registers(s.m * s.k, left)),
          Fragment(MatrixRole::right, right, s.k, s.n, registers(s.k * s.n, right)),
          Fragment(MatrixRole::accumulator, sum, s.m, s.n, registers_for(s.m * s.n, sum)),
          Fragment(MatrixRole::accumulator, result, s.m, s.n, registers_for(s.m * s.n, result))};
}

void add_mma(std::vector<Product>& list, const Shape& shape, ElementType left, ElementType right, ElementType sum,
             const char* bit_operation = "") {
  const char* const sums = element_name(sum);
  list.push_back(product_of(fmt::format("mma.sync.aligned.{}.row.col.{}.{}.{}.{}{}", shape.name(), sums,
                                        element_name(left), element_name(right), sums, bit_operation),
                            shape, left, right, sum, sum));
}

void add_wmma(std::vector<Product>& list, const Shape& shape, ElementType factor, ElementType sum, ElementType result) {
  for (const char* layouts : {"row.row", "row.col", "col.row", "col.col"}) {
    std::string opcode = fmt::format("wmma.mma.sync.aligned.{}.{}.{}", layouts, shape.name(), element_name(result));
    if (factor != ElementType::f16) opcode += fmt::format(".{0}.{0}", element_name(factor));
    opcode += fmt::format(".{}", element_name(sum));
    list.push_back(product_of(opcode, shape, factor, factor, sum, result));
  }
}

void add_floating_products(std::vector<Product>& list) {
  using enum ElementType;
  for (const int k : {4, 8}) add_mma(list, {16, 8, k}, tf32, tf32, f32);
  for (const int k : {8, 16}) {
    add_mma(list, {16, 8, k}, f16, f16, f32);
    add_mma(list, {16, 8, k}, f16, f16, f16);
    add_mma(list, {16, 8, k}, bf16, bf16, f32);
  }
  for (const ElementType sum : {f32, f16}) {
    for (const ElementType left : {e4m3, e5m2}) {
      for (const ElementType right : {e4m3, e5m2}) {
        for (const int k : {16, 32}) add_mma(list, {16, 8, k}, left, right, sum);
      }
    }
  }
  add_mma(list, {8, 8, 4}, f64, f64, f64);
  for (const int k : {4, 8, 16}) add_mma(list, {16, 8, k}, f64, f64, f64);

  for (const Shape& shape : {Shape{16, 16, 16}, {32, 8, 16}, {8, 32, 16}}) {
    for (const ElementType sum : {f16, f32}) {
      for (const ElementType result : {f16, f32}) add_wmma(list, shape, f16, sum, result);
    }
    add_wmma(list, shape, bf16, f32, f32);
  }
  add_wmma(list, {16, 16, 8}, tf32, f32, f32);
  add_wmma(list, {8, 8, 4}, f64, f64, f64);
}

void add_integer_products(std::vector<Product>& list) {
  using enum ElementType;
  for (const Shape& shape : {Shape{8, 8, 16}, {16, 8, 16}, {16, 8, 32}}) {
    for (const ElementType left : {s8, u8}) {
      for (const ElementType right : {s8, u8}) add_mma(list, shape, left, right, s32);
    }
  }
  for (const Shape& shape : {Shape{8, 8, 32}, {16, 8, 32}, {16, 8, 64}}) {
    for (const ElementType left : {s4, u4}) {
      for (const ElementType right : {s4, u4}) add_mma(list, shape, left, right, s32);
    }
  }
  for (const bool exclusive_or : {true, false}) {
    const char* const operation = exclusive_or ? ".xor.popc" : ".and.popc";
    for (const Shape& shape : {Shape{8, 8, 128}, {16, 8, 128}, {16, 8, 256}}) {
      add_mma(list, shape, b1, b1, s32, operation);
      list.back().exclusive_or = exclusive_or;
    }
    list.push_back(product_of(fmt::format("wmma.mma{}.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", operation),
                              {8, 8, 128}, b1, b1, s32, s32));
    list.back().exclusive_or = exclusive_or;
  }
  for (const ElementType factor : {s8, u8}) {
    for (const Shape& shape : {Shape{16, 16, 16}, {32, 8, 16}, {8, 32, 16}}) add_wmma(list, shape, factor, s32, s32);
  }
  for (const ElementType factor : {s4, u4}) {
    list.push_back(
        product_of(fmt::format("wmma.mma.sync.aligned.row.col.m8n8k32.s32.{0}.{0}.s32", element_name(factor)),
                   {8, 8, 32}, factor, factor, s32, s32));
  }
}

void add_products_of_quad_pairs(std::vector<Product>& list) {
  using enum ElementType;
  for (const bool left_columns : {false, true}) {
    for (const bool right_columns : {false, true}) {
      for (const auto& [result, sum] : {std::pair{f32, f32}, {f16, f16}, {f32, f16}}) {
        list.push_back({fmt::format("mma.sync.aligned.m8n8k4.{}.{}.{}.f16.f16.{}", left_columns ? "col" : "row",
                                    right_columns ? "col" : "row", element_name(result), element_name(sum)),
                        Fragment::of_quad_pairs(MatrixRole::left, f16, left_columns),
                        Fragment::of_quad_pairs(MatrixRole::right, f16, right_columns),
                        Fragment::of_quad_pairs(MatrixRole::accumulator, sum, false),
                        Fragment::of_quad_pairs(MatrixRole::accumulator, result, false), 4});
      }
    }
  }
}

const std::vector<Product>& products() {
  static const std::vector<Product> all = [] {
    std::vector<Product> list;
    add_floating_products(list);
    add_integer_products(list);
    add_products_of_quad_pairs(list);
    return list;
  }();
  return all;
}

/// What an opcode asks for: a product, and whether sums beyond 32 bits are clamped.
struct Asked {
  const Product* product;
  bool saturates;
};

std::optional<Asked> product_asked_for(std::string_view opcode) {
  if (!opcode.starts_with("mma.") && !opcode.starts_with("wmma.mma.")) return std::nullopt;
  static const std::unordered_map<std::string, const Product*> by_opcode = [] {
    std::unordered_map<std::string, const Product*> map;
    for (const Product& product : products()) map.emplace(product.opcode, &product);
    return map;
  }();
  bool saturates = false;
  bool rounds = false;
  std::string plain;
  for (const std::string_view part : split_opcode(opcode)) {
    saturates = saturates || part == "satfinite";
    rounds = rounds || part == "rn";
    if (part != "satfinite" && part != "rn") plain += fmt::format("{}{}", plain.empty() ? "" : ".", part);
  }
  const auto found = by_opcode.find(plain);
  if (found == by_opcode.end()) return std::nullopt;
  const ElementType sum = found->second->d.type();
  if ((saturates && sum != ElementType::s32) || (rounds && sum != ElementType::f64)) return std::nullopt;
  return Asked{found->second, saturates};
}

/// What is added to a sum for one k.
template <typename T>
T added(T sum, T a, T b, bool exclusive_or) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fma(a, b, sum);
  } else {
    return sum + (exclusive_or ? a ^ b : a * b);
  }
}

/// `detail` is the index of the product; the registers of d, a, b and c follow each other in the operand lists. Sums of
/// integers are exact; `offset` says whether they are clamped at the end or cut to 32 bits.
template <typename T, int kMost>
void multiply(WarpState& warp, const Operation& operation) {
  check_all_lanes(warp, operation);
  const Product& product = products()[static_cast<std::size_t>(operation.detail)];
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
  const int rows = product.a.rows() / product.products;
  for (int row = 0; row < product.a.rows(); ++row) {
    T* const sum = sums.data() + row * columns;
    const T* const right = b.data() + row / rows * depth * columns;
    for (int k = 0; k < depth; ++k) {
      const T factor = a[static_cast<std::size_t>(row * depth + k)];
      const T* const of_b = right + k * columns;
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

Handler multiplier(ElementType sum) {
  if (sum == ElementType::f64) return &multiply<double, 16 * 16>;
  return sum == ElementType::s32 ? &multiply<std::int64_t, kMostElements> : &multiply<float, 32 * 16>;
}

}  // namespace

std::optional<MatrixProduct> matrix_product(std::string_view opcode) {
  const std::optional<Asked> asked = product_asked_for(opcode);
  if (!asked) return std::nullopt;
  const auto operations = 2 * asked->product->a.rows() * asked->product->a.columns() * asked->product->b.columns();
  return MatrixProduct{asked->product->a.type(), asked->product->c.type(), static_cast<std::uint64_t>(operations)};
}

bool decode_matrix_multiply(InstructionDecoder& decoder) {
  const ptx::Instruction& instruction = decoder.instruction();
  const std::optional<Asked> asked = product_asked_for(instruction.opcode);
  if (!asked) return false;
  decoder.expect_operands(4);
  std::vector<Slot> slots;
  const Product& product = *asked->product;
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
  operation.handler = multiplier(product.d.type());
  operation.detail = static_cast<int>(&product - products().data());
  operation.offset = asked->saturates ? 1 : 0;
  operation.list = decoder.keep_operands(slots);
  decoder.emit(operation);
  return true;
}

bool decode_matrix(InstructionDecoder& decoder) {
  return decode_matrix_multiply(decoder) || decode_fragment_access(decoder) || decode_matrix_rows(decoder);
}

}  // namespace convladder::simulated

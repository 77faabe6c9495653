#include "simulator/instructions/matrix/matrix_products.hpp"

#include <fmt/format.h>

#include <unordered_map>
#include <utility>

#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/instructions/matrix/product_in_lanes.hpp"

namespace convladder::simulated {
namespace {

/// The number of registers that hold every element once.
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

/// Adds mma.sp, in which a has half the columns that the shape says.
void add_sparse(std::vector<Product>& list, int k, ElementType left, ElementType right, ElementType sum) {
  const char* const sums = element_name(sum);
  list.push_back(product_of(fmt::format("mma.sp.sync.aligned.m16n8k{}.row.col.{}.{}.{}.{}", k, sums, element_name(left),
                                        element_name(right), sums),
                            {16, 8, k}, left, right, sum, sum));
  const int registers = registers_for(16 * k / 2, left);
  list.back().a = Fragment(MatrixRole::left, left, 16, k / 2, registers);
  list.back().sparse = true;
}

void add_sparse_products(std::vector<Product>& list) {
  using enum ElementType;
  for (const int k : {8, 16}) add_sparse(list, k, tf32, tf32, f32);
  for (const int k : {16, 32}) {
    add_sparse(list, k, f16, f16, f32);
    add_sparse(list, k, f16, f16, f16);
    add_sparse(list, k, bf16, bf16, f32);
  }
  for (const ElementType left : {e4m3, e5m2}) {
    for (const ElementType right : {e4m3, e5m2}) add_sparse(list, 64, left, right, f32);
  }
  for (const ElementType left : {s8, u8}) {
    for (const ElementType right : {s8, u8}) {
      for (const int k : {32, 64}) add_sparse(list, k, left, right, s32);
    }
  }
  for (const ElementType left : {s4, u4}) {
    for (const ElementType right : {s4, u4}) {
      for (const int k : {64, 128}) add_sparse(list, k, left, right, s32);
    }
  }
}

}  // namespace

const std::vector<Product>& matrix_products() {
  static const std::vector<Product> all = [] {
    std::vector<Product> list;
    add_floating_products(list);
    add_integer_products(list);
    add_products_of_quad_pairs(list);
    add_sparse_products(list);
    for (Product& product : list) product.in_lanes = product_in_lanes(product);
    return list;
  }();
  return all;
}

std::optional<AskedProduct> product_asked_for(std::string_view opcode) {
  if (!opcode.starts_with("mma.") && !opcode.starts_with("wmma.mma.")) return std::nullopt;
  static const std::unordered_map<std::string, const Product*> by_opcode = [] {
    std::unordered_map<std::string, const Product*> map;
    for (const Product& product : matrix_products()) map.emplace(product.opcode, &product);
    return map;
  }();
  bool saturates = false;
  bool rounds = false;
  std::string plain;
  for (const std::string_view part : ptx::split_opcode(opcode)) {
    saturates = saturates || part == "satfinite";
    rounds = rounds || part == "rn";
    if (part == "satfinite" || part == "rn") continue;
    // Metadata in another order are undefined without the modifier as well.
    plain += fmt::format("{}{}", plain.empty() ? "" : ".", part == "sp::ordered_metadata" ? "sp" : part);
  }
  const auto found = by_opcode.find(plain);
  if (found == by_opcode.end()) return std::nullopt;
  const ElementType sum = found->second->d.type();
  if ((saturates && sum != ElementType::s32) || (rounds && sum != ElementType::f64)) return std::nullopt;
  return AskedProduct{found->second, saturates};
}

}  // namespace convladder::simulated

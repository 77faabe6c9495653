// Additions and subtractions that pass a carry on: add.cc, addc, sub.cc, subc, mad.cc, madc (PTX ISA 9.0, 9.7.2).
//
// The condition code register holds one bit per lane. Every warp has it as a predicate that no text can name. As on
// GPUs, it is the carry of an adder: a subtraction adds the complement, so that its carry means "no borrow". The ISA
// does not say this, but sequences of sub.cc and addc show it.

#include "simulator/instructions/arithmetic/integer_types.hpp"
#include "simulator/instructions/arithmetic/lane_functions.hpp"

namespace convladder::simulated {
namespace {

/// The sum of a, b and a carry, with the carry out of it.
template <typename T>
struct Sum {
  explicit Sum(T a, T b, bool carry_in)
      : value(static_cast<T>(a + b + static_cast<T>(carry_in))), carry(carry_in ? value <= a : value < a) {}
  T value;
  bool carry;
};
/// a - b as a sum of a, the complement of b, and a carry that is set unless something was borrowed before.
template <typename T>
struct Difference : Sum<T> {
  explicit Difference(T a, T b, bool carry_in) : Sum<T>(a, static_cast<T>(~b), carry_in) {}
};

enum class Product { none, low, high };

template <typename T, Product kProduct>
Unsigned<T> product(Unsigned<T> a, Unsigned<T> b) {
  if constexpr (kProduct == Product::low) {
    return static_cast<Unsigned<T>>(a * b);
  } else {
    using W = typename Wider<T>::type;
    return static_cast<Unsigned<T>>((static_cast<W>(static_cast<T>(a)) * static_cast<W>(static_cast<T>(b))) >>
                                    (8 * sizeof(T)));
  }
}

/// Operands: destination, a, b, for a product also c, and the carry.
template <typename T, template <typename> class Result, Product kProduct, bool kReads, bool kWrites>
void execute_with_carry(WarpState& warp, const Operation& operation) {
  using U = Unsigned<T>;
  constexpr bool kFirst = std::is_same_v<Result<U>, Difference<U>>;  // the carry if none is read
  constexpr int kCarry = kProduct == Product::none ? 3 : 4;
  const U* const a = warp.read<U>(operation.operands[1]);
  const U* const b = warp.read<U>(operation.operands[2]);
  const U* const c = warp.read<U>(operation.operands[kProduct == Product::none ? 2 : 3]);
  auto* const flag = warp.write<LaneMask>(operation.operands[kCarry]);
  const LaneMask in = *flag;
  LaneMask out = 0;
  write_lanes(warp.write<U>(operation.operands[0]), warp.mask, [&](int lane) {
    const U left = kProduct == Product::none ? a[lane] : product<T, kProduct>(a[lane], b[lane]);
    const Result<U> result(left, c[lane], kReads ? ((in >> lane) & 1U) != 0 : kFirst);
    out |= LaneMask{result.carry} << lane;
    return result.value;
  });
  if constexpr (kWrites) *flag = (in & ~warp.mask) | (out & warp.mask);
}

template <typename T, template <typename> class Result, Product kProduct>
void add_chain(FormTable& table, const std::string& first, const std::string& next) {
  std::vector<OperandUse> operands{write_use<T>(), read_use<T>(), read_use<T>()};
  if (kProduct != Product::none) operands.push_back(read_use<T>());
  operands.push_back(OperandUse::carry);
  const std::string_view type = type_suffix<T>();
  table.add(fmt::format("{}.cc.{}", first, type), operands, &execute_with_carry<T, Result, kProduct, false, true>);
  table.add(fmt::format("{}.{}", next, type), operands, &execute_with_carry<T, Result, kProduct, true, false>);
  table.add(fmt::format("{}.cc.{}", next, type), operands, &execute_with_carry<T, Result, kProduct, true, true>);
}

template <typename T>
void add_chains(FormTable& table) {
  add_chain<T, Sum, Product::none>(table, "add", "addc");
  add_chain<T, Difference, Product::none>(table, "sub", "subc");
  add_chain<T, Sum, Product::low>(table, "mad.lo", "madc.lo");
  add_chain<T, Sum, Product::high>(table, "mad.hi", "madc.hi");
}

}  // namespace

void add_extended_precision_forms(FormTable& table) {
  add_chains<std::int32_t>(table);
  add_chains<std::uint32_t>(table);
  add_chains<std::int64_t>(table);
  add_chains<std::uint64_t>(table);
}

}  // namespace convladder::simulated

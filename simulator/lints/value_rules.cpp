// The rules by which each instruction makes a value of those that it reads.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include "simulator/lints/kernel_values.hpp"
#include "simulator/memory/warp_access.hpp"
#include "simulator/ptx/opcode_parts.hpp"

namespace convladder::simulated {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;
using Parts = ptx::OpcodeParts;
using ptx::has_part;

bool is_whole(const ptx::Type& type) {
  return type.type_class == ptx::TypeClass::bits || type.type_class == ptx::TypeClass::unsigned_ ||
         type.type_class == ptx::TypeClass::signed_;
}

/// As a register of so many bits holds the number, read with its sign.
std::int64_t cut(std::int64_t number, int bits) {
  if (bits >= 64) return number;
  const auto shift = static_cast<unsigned>(64 - bits);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(number) << shift) >> shift;
}

/// As an instruction of that type reads the number.
std::int64_t as_read(std::int64_t number, const ptx::Type& type) {
  if (type.type_class == ptx::TypeClass::signed_ || type.bits >= 64) return cut(number, type.bits);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(number) & ((std::uint64_t{1} << type.bits) - 1));
}

/// Numbers that are known, as a register of so many bits holds them. Of sums with unknown numbers it is taken that they
/// do not overflow.
ThreadValue cut(const ThreadValue& value, int bits) {
  if (!value.is_known()) return value;
  return {value.known().mapped([bits](std::int64_t number) { return cut(number, bits); })};
}
ThreadValue as_read(const ThreadValue& value, const ptx::Type& type) {
  if (!value.is_known()) return value;
  return {value.known().mapped([&type](std::int64_t number) { return as_read(number, type); })};
}

ThreadValue mapped(const ThreadValue& a, const ThreadValue& b, int bits, const auto& function) {
  return cut(ThreadValue(PerThread::combined(a.known(), b.known(), function)), bits);
}

bool all_within(const PerThread& numbers, std::int64_t low, std::int64_t end) {
  return std::ranges::all_of(numbers.numbers(), [&](std::int64_t one) { return one >= low && one < end; });
}

/// The largest power of two that divides the number; of 0 the largest that there is.
std::uint64_t power_of_two_in(std::uint64_t number) {
  return number == 0 ? std::uint64_t{1} << 62 : number & (~number + 1);
}

std::int64_t bits_of(const std::string_view operation, std::int64_t a, std::int64_t b) {
  if (operation == "and") return a & b;
  return operation == "or" ? a | b : a ^ b;
}

}  // namespace

ThreadValue KernelValues::special(const std::string& name) const {
  const Dim3 block = shape_.threads;
  const auto of_each = [&](const auto& function) {
    std::vector<std::int64_t> numbers(threads_);
    for (std::size_t thread = 0; thread < threads_; ++thread)
      numbers[thread] = static_cast<std::int64_t>(function(thread));
    return ThreadValue(PerThread(std::move(numbers)));
  };
  if (name == "%tid.x") return of_each([&](std::size_t t) { return t % block.x; });
  if (name == "%tid.y") return of_each([&](std::size_t t) { return t / block.x % block.y; });
  if (name == "%tid.z") return of_each([&](std::size_t t) { return t / (std::size_t{block.x} * block.y); });
  if (name == "%laneid") return of_each([](std::size_t t) { return t % kLanes; });
  if (name == "%warpid") return of_each([](std::size_t t) { return t / kLanes; });
  if (name == "%lanemask_eq") return of_each([](std::size_t t) { return cut(std::int64_t{1} << (t % kLanes), 32); });
  if (name == "%lanemask_lt") return of_each([](std::size_t t) { return (std::int64_t{1} << (t % kLanes)) - 1; });
  if (name == "%WARP_SZ" || name == "WARP_SZ") return {kLanes};
  if (name == "%ntid.x") return {static_cast<std::int64_t>(block.x)};
  if (name == "%ntid.y") return {static_cast<std::int64_t>(block.y)};
  if (name == "%ntid.z") return {static_cast<std::int64_t>(block.z)};
  if (name.starts_with("%lanemask") || name.starts_with("%clock") || name.starts_with("%globaltimer")) {
    return ThreadValue::varying();
  }
  return ThreadValue::of_unknown(unknown(name, {.name = name, .loops = {}}));
}

ThreadValue KernelValues::symbol_value(const std::string& name) const {
  const ptx::Symbol* const symbol = find_symbol(name);
  Unknown address;
  std::string space = "variable:";
  if (symbol != nullptr) {
    address.multiple = static_cast<std::uint64_t>(std::max(1, symbol->alignment));
    if (symbol->space == ptx::Space::shared) space = "shared:";
    if (symbol->space == ptx::Space::local) space = "local:";
  }
  address.name = space + name;
  return ThreadValue::of_unknown(unknown("symbol " + name, address));
}

ThreadValue KernelValues::read(const Operand& operand, int index) const {
  switch (operand.kind) {
    case OperandKind::register_: {
      ThreadValue value = register_value(operand.index, index);
      if (operand.negated && value.is_known()) {
        return {value.known().mapped([](std::int64_t number) { return static_cast<std::int64_t>(number == 0); })};
      }
      return value;
    }
    case OperandKind::immediate:
      return {static_cast<std::int64_t>(operand.bits)};
    case OperandKind::symbol:
      return symbol_value(operand.name).plus({operand.offset});
    case OperandKind::address: {
      ThreadValue base{operand.offset};
      if (operand.index >= 0) base = register_value(operand.index, index).plus(base);
      if (operand.index < 0 && !operand.name.empty()) base = symbol_value(operand.name).plus(base);
      return base;
    }
    case OperandKind::special:
      return special(operand.name);
    case OperandKind::function:
      return ThreadValue::of_unknown(unknown("function " + operand.name, {}));
    case OperandKind::vector: {
      if (operand.elements.empty()) return ThreadValue::varying();
      const ThreadValue low = read(operand.elements.front(), index);
      for (std::size_t i = 1; i < operand.elements.size(); ++i) {
        ThreadValue high = read(operand.elements[i], index);
        if (!high.is_assigned()) return high;
        if (!(high == ThreadValue(0))) return ThreadValue::varying();
      }
      return low.is_known() ? as_read(low, {ptx::TypeClass::unsigned_, 32}) : low;
    }
    case OperandKind::sink:
    case OperandKind::label:
    case OperandKind::pair:
      break;
  }
  return ThreadValue::varying();
}

ThreadValue KernelValues::collapsed(int index, const std::vector<ThreadValue>& from, std::uint64_t multiple) const {
  Unknown result{.name = {}, .multiple = multiple, .loops = {}};
  for (const ThreadValue& value : from) {
    if (!value.is_assigned()) return {};
    if (!value.is_alike_in_trips(unknowns_, Unknown::Scope::block)) {
      if (!value.is_alike_in_trips(unknowns_, Unknown::Scope::warp)) return ThreadValue::varying();
      result.scope = Unknown::Scope::warp;
    }
    for (const auto& term : value.terms()) {
      const std::vector<int>& loops = unknowns_[term.unknown].loops;
      result.loops.insert(result.loops.end(), loops.begin(), loops.end());
    }
  }
  const int number = unknown("instruction " + std::to_string(index), result);
  unknowns_.weaken(number, result);
  return ThreadValue::of_unknown(number);
}

std::vector<ThreadValue> KernelValues::results(int index) const {
  const Instruction& instruction = kernel().instructions[index];
  const Operand& first = instruction.operands.front();
  if (first.kind == OperandKind::register_) return {result(instruction, index)};
  std::vector<ThreadValue> values;
  if (first.kind == OperandKind::pair) {  // a second result, as of setp and shfl
    values.assign(first.elements.size(), ThreadValue::varying());
    values.front() = result(instruction, index);
    return values;
  }
  // Elements of a vector: other numbers each, which threads have alike or not.
  const ThreadValue whole = result(instruction, index);
  for (std::size_t element = 0; element < first.elements.size(); ++element) {
    if (!whole.is_sum() || whole.is_known()) {
      values.push_back(whole.is_assigned() ? ThreadValue::varying() : whole);
      if (whole.is_known() && element == 0) values.back() = cut(whole, 32);
      continue;
    }
    const bool in_block = whole.is_alike_in_trips(unknowns_, Unknown::Scope::block);
    if (!in_block && !whole.is_alike_in_trips(unknowns_, Unknown::Scope::warp)) {
      values.push_back(ThreadValue::varying());
      continue;
    }
    Unknown one{.name = {}, .loops = {}};
    one.scope = in_block ? Unknown::Scope::block : Unknown::Scope::warp;
    for (const auto& term : whole.terms()) {
      const std::vector<int>& loops = unknowns_[term.unknown].loops;
      one.loops.insert(one.loops.end(), loops.begin(), loops.end());
    }
    const int number = unknown("instruction " + std::to_string(index) + ' ' + std::to_string(element), one);
    unknowns_.weaken(number, one);
    values.push_back(ThreadValue::of_unknown(number));
  }
  return values;
}

ThreadValue KernelValues::result(const Instruction& instruction, int index) const {
  const Parts parts = ptx::split_opcode(instruction.opcode);
  const std::string_view name = parts[0];
  const auto of_warp = [&] {
    const Unknown one{.name = {}, .scope = Unknown::Scope::warp, .loops = {}};
    return ThreadValue::of_unknown(unknown("instruction " + std::to_string(index), one));
  };
  if (name == "ld" || name == "ldu") return loaded(instruction, index, parts);
  if (name == "setp" || name == "set") return compared(instruction, index, parts);
  if (name == "activemask" || name == "redux" || name == "vote") return of_warp();
  if (name == "bar" || name == "barrier") return collapsed(index, {});
  if (name == "mbarrier") {  // all that wait for a phase see its end
    return has_part(parts, "test_wait") || has_part(parts, "try_wait") ? collapsed(index, {}) : ThreadValue::varying();
  }
  if (name == "shfl") {
    ThreadValue value = read(instruction.operands.at(1), index);
    if (!value.is_assigned() || value.is_alike_in_trips(unknowns_, Unknown::Scope::warp)) return value;
    const ThreadValue lane = read(instruction.operands.at(2), index);
    const ThreadValue width = read(instruction.operands.at(3), index);
    const bool is_broadcast = has_part(parts, "idx") && lane.is_constant() && width.is_constant() &&
                              width.known()[0] == 31 && lane.known()[0] >= 0 && lane.known()[0] < kLanes;
    if (!is_broadcast) return ThreadValue::varying();
    if (!value.is_known()) return of_warp();
    std::vector<std::int64_t> numbers(threads_);
    for (std::size_t thread = 0; thread < threads_; ++thread) {
      const std::size_t from = thread - thread % kLanes + static_cast<std::size_t>(lane.known()[0]);
      numbers[thread] = value.known()[std::min(from, threads_ - 1)];
    }
    return {PerThread(std::move(numbers))};
  }
  constexpr std::string_view kOthers[] = {"atom", "mma",  "wmma", "wgmma",     "ldmatrix", "tcgen05", "match", "elect",
                                          "tex",  "tld4", "suld", "movmatrix", "alloca",   "call",    "txq",   "suq"};
  if (std::ranges::find(kOthers, name) != std::end(kOthers)) return ThreadValue::varying();
  return integer_result(instruction, index, parts);
}

ThreadValue KernelValues::loaded(const Instruction& instruction, int index, const Parts& parts) const {
  const Operand& place = instruction.operands.at(1);
  if (has_part(parts, "local")) return ThreadValue::varying();
  const bool is_parameter = std::ranges::any_of(parts, [](std::string_view part) { return part.starts_with("param"); });
  if (is_parameter) {
    ThreadValue address = read(place, index);
    if (!address.is_sum()) return address;
    // The parameter's address may have come through a register. Parameters of functions are in no list of the kernel's.
    const auto parameter = std::ranges::find_if(kernel().parameters, [&](const ptx::Symbol& one) {
      return std::ranges::any_of(address.terms(), [&](const ThreadValue::Term& term) {
        return unknowns_[term.unknown].name == "variable:" + one.name;
      });
    });
    if (parameter == kernel().parameters.end()) return ThreadValue::varying();
    const bool is_plain = address.terms().size() == 1 && address.known().is_same() &&
                          address.terms().front().factor == PerThread(1) &&
                          instruction.operands.front().kind == OperandKind::register_;
    if (!is_plain) return collapsed(index, {address});
    Unknown argument;
    argument.name = "parameter " + std::to_string(parameter - kernel().parameters.begin() + 1);
    const std::int64_t offset = address.known()[0];
    if (offset != 0) argument.name += " at byte " + std::to_string(offset);
    // As what cudaMalloc gives is aligned.
    if (is_pointer_[instruction.operands.front().index]) argument.multiple = 256;
    return ThreadValue::of_unknown(
        unknown("parameter " + parameter->name + ' ' + std::to_string(offset), std::move(argument)));
  }
  return collapsed(index, {read(place, index)});
}

ThreadValue KernelValues::compared(const Instruction& instruction, int index, const Parts& parts) const {
  const std::vector<ptx::Type> types = ptx::types_in(parts);
  std::vector<ThreadValue> operands;
  for (std::size_t i = 1; i < instruction.operands.size(); ++i)
    operands.push_back(read(instruction.operands[i], index));
  const bool is_of_whole_numbers =
      !types.empty() && is_whole(types.back()) && operands.size() == 2 && parts[0] == "setp";
  if (!is_of_whole_numbers) return collapsed(index, operands);
  const ThreadValue& a = operands[0];
  const ThreadValue& b = operands[1];
  if (!a.is_assigned() || !b.is_assigned()) return {};
  std::string_view how = parts[1];
  ptx::Type type = types.back();
  for (const auto& [old, now] :
       {std::pair("lo", "lt"), std::pair("ls", "le"), std::pair("hi", "gt"), std::pair("hs", "ge")}) {
    if (how == old) how = now;
  }
  if (a.is_known() && b.is_known()) {
    return mapped(as_read(a, type), as_read(b, type), 32, [how](std::int64_t x, std::int64_t y) {
      const bool is = how == "eq"   ? x == y
                      : how == "ne" ? x != y
                      : how == "lt" ? x < y
                      : how == "le" ? x <= y
                      : how == "gt" ? x > y
                                    : x >= y;
      return static_cast<std::int64_t>(is);
    });
  }
  const ThreadValue difference = a.minus(b);
  ThreadValue of_both = collapsed(index, {difference});
  if (!of_both.is_varying() || !difference.is_sum()) return of_both;
  // Known numbers and a multiple of something: all threads may still be on one side of the bound.
  const bool is_order = how == "lt" || how == "le" || how == "gt" || how == "ge";
  const std::uint64_t multiple = difference.multiple(unknowns_);
  const bool is_multiple = is_order && multiple > 0 && multiple < (std::uint64_t{1} << 31) &&
                           std::ranges::all_of(difference.terms(), [&](const ThreadValue::Term& term) {
                             return term.factor.is_same() && unknowns_[term.unknown].scope == Unknown::Scope::block;
                           });
  if (!is_multiple) return of_both;
  const auto [low, high] = std::ranges::minmax(difference.known().numbers());
  if (std::max(magnitude_of(low), magnitude_of(high)) > std::uint64_t{1} << 48) return of_both;
  const std::int64_t bound = how == "le" || how == "gt" ? 1 : 0;  // the numbers below it are on one side
  const auto step = static_cast<std::int64_t>(multiple);
  const auto rounded_down = [step](std::int64_t number) {
    return number >= 0 ? number / step : -((-number + step - 1) / step);
  };
  // Is there a k for which low + k * step < bound <= high + k * step?
  const std::int64_t last = rounded_down(bound - low - 1);
  const std::int64_t first = -rounded_down(high - bound);
  if (first <= last) return of_both;
  std::vector<ThreadValue::Term> terms = difference.terms();
  return collapsed(index, {ThreadValue(0, std::move(terms))});
}

ThreadValue KernelValues::integer_result(const Instruction& instruction, int index, const Parts& parts) const {
  const std::string_view name = parts[0];
  std::vector<ThreadValue> from;
  for (std::size_t i = 1; i < instruction.operands.size(); ++i) from.push_back(read(instruction.operands[i], index));
  for (const ThreadValue& value : from) {
    if (!value.is_assigned()) return {};
  }
  const std::vector<ptx::Type> types = ptx::types_in(parts);
  const auto other = [&](std::uint64_t multiple = 1) { return collapsed(index, from, multiple); };
  if (types.empty() || from.empty()) return other();
  const ptx::Type type = types.back();
  const auto target = instruction.operands.front().kind == OperandKind::register_
                          ? kernel().registers[instruction.operands.front().index].type.bits
                          : 64;
  const int bits = type.type_class == ptx::TypeClass::predicate ? 32 : std::max(target, 8);
  const bool is_known = std::ranges::all_of(from, &ThreadValue::is_known);

  if (name == "mov" || name == "cvta") return from.size() == 1 ? cut(from[0], bits) : other();
  if (name == "cvt") {
    if (types.size() < 2 || !is_whole(types[0]) || !is_whole(types[1])) return other();
    return cut(as_read(from[0], type), bits);
  }
  if (name == "selp" && from.size() == 3) {
    if (from[0] == from[1]) return from[0];
    if (from[2].is_known() && from[0].is_sum() && from[1].is_sum()) {
      const PerThread chosen = from[2].known().mapped([](std::int64_t one) { return std::int64_t{one != 0}; });
      const PerThread rest = chosen.mapped([](std::int64_t one) { return 1 - one; });
      return from[0].times(chosen).plus(from[1].times(rest));
    }
    return other();
  }
  if (type.type_class == ptx::TypeClass::predicate) {
    if (name == "not" && is_known) return mapped(from[0], {0}, 32, [](auto a, auto) { return std::int64_t{a == 0}; });
    const bool is_logic = from.size() == 2 && (name == "and" || name == "or" || name == "xor");
    if (is_logic && is_known) return mapped(from[0], from[1], 32, [&](auto a, auto b) { return bits_of(name, a, b); });
    return other();
  }
  if (!is_whole(type)) return other();

  if ((name == "add" || name == "sub") && from.size() == 2 && parts.size() == 2) {
    return cut(name == "add" ? from[0].plus(from[1]) : from[0].minus(from[1]), bits);
  }
  if (name == "neg") return cut(from[0].times(PerThread(-1)), bits);
  if ((name == "mul" || name == "mad") && from.size() == (name == "mad" ? 3 : 2) &&
      (has_part(parts, "lo") || has_part(parts, "wide"))) {
    ThreadValue product = as_read(from[0], type).times(as_read(from[1], type), unknowns_);
    if (!product.is_assigned()) product = collapsed(index, {from[0], from[1]});
    if (product.is_known() && has_part(parts, "lo")) product = cut(product, type.bits);
    if (name == "mad") product = product.plus(from[2]);
    return cut(product, bits);
  }
  if (name == "shl" && from.size() == 2 && from[1].is_known() && all_within(from[1].known(), 0, type.bits)) {
    return cut(from[0].times(from[1].known().mapped([](std::int64_t by) { return std::int64_t{1} << by; })), bits);
  }

  // Parts of numbers: what is known of `unknown multiple + known` stays so where the multiple is not touched.
  const bool is_of_two = from.size() == 2;
  const std::uint64_t multiple = from[0].is_sum() ? from[0].multiple(unknowns_) : 1;
  const ThreadValue unknown_part = from[0].is_sum() ? ThreadValue(0, from[0].terms()) : from[0];
  const ThreadValue known_part = from[0].is_sum() ? ThreadValue(from[0].known()) : from[0];
  const bool splits = from[0].is_sum() && is_of_two && from[1].is_known() &&
                      unknown_part.is_alike_in_trips(unknowns_, Unknown::Scope::warp);
  if (name == "shr" && splits && all_within(from[1].known(), 0, type.bits)) {
    const auto shifted = [&](const ThreadValue& value) {
      return mapped(value, from[1], bits, [](auto a, auto by) { return a >> by; });
    };
    if (is_known) return shifted(as_read(from[0], type));
    if (from[1].is_constant() && multiple % (std::uint64_t{1} << from[1].known()[0]) == 0) {
      return collapsed(index, {unknown_part}, multiple >> from[1].known()[0]).plus(shifted(known_part));
    }
    return other();
  }
  if ((name == "div" || name == "rem") && splits && from[1].is_constant() && from[1].known()[0] > 0) {
    const std::int64_t by = from[1].known()[0];
    const auto part = [&](const ThreadValue& number) {
      return mapped(number, {by}, bits, [&](auto a, auto b) { return name == "div" ? a / b : a % b; });
    };
    if (is_known) return part(as_read(from[0], type));
    const bool is_above_zero = all_within(known_part.known(), 0, std::numeric_limits<std::int64_t>::max());
    if (is_above_zero && multiple % static_cast<std::uint64_t>(by) == 0) {
      if (name == "rem") return part(known_part);
      return collapsed(index, {unknown_part}, multiple / static_cast<std::uint64_t>(by)).plus(part(known_part));
    }
    return other();
  }
  if ((name == "and" || name == "or" || name == "xor") && is_of_two) {
    if (is_known) return mapped(from[0], from[1], bits, [&](auto a, auto b) { return bits_of(name, a, b); });
    const bool is_first = from[1].is_known();
    const ThreadValue& sum = is_first ? from[0] : from[1];
    const ThreadValue& mask = is_first ? from[1] : from[0];
    if (sum.is_sum() && mask.is_known()) {
      const auto power = static_cast<std::int64_t>(power_of_two_in(sum.multiple(unknowns_)));
      const auto low = [&] {
        return mapped({sum.known()}, mask, bits, [&](auto a, auto b) { return bits_of(name, a, b); });
      };
      // The mask has only bits in which the unknown part has zeros.
      if (all_within(mask.known(), 0, power)) {
        return name == "and" ? low() : low().plus(ThreadValue(0, sum.terms()));
      }
      // The mask takes bits away in which the unknown part has zeros.
      if (name == "and" && all_within(mask.known(), -power, 0)) return low().plus(ThreadValue(0, sum.terms()));
    }
    if (name == "and" && mask.is_constant()) {
      return other(std::min(power_of_two_in(static_cast<std::uint64_t>(mask.known()[0])), std::uint64_t{1} << 31));
    }
    return other();
  }
  if (is_known && is_of_two && (name == "min" || name == "max")) {
    return mapped(as_read(from[0], type), as_read(from[1], type), bits,
                  [&](auto a, auto b) { return name == "min" ? std::min(a, b) : std::max(a, b); });
  }
  if (is_known && is_of_two && name == "mul" && has_part(parts, "hi") && type.bits == 32) {
    return mapped(as_read(from[0], type), as_read(from[1], type), bits, [&](auto a, auto b) {
      const std::int64_t product = product_of(a, b);
      return type.type_class == ptx::TypeClass::signed_
                 ? product >> 32
                 : static_cast<std::int64_t>(static_cast<std::uint64_t>(product) >> 32);
    });
  }
  if (is_known && name == "not") return mapped(from[0], {0}, bits, [](auto a, auto) { return ~a; });
  if (is_known && name == "abs")
    return mapped(from[0], {0}, bits, [](auto a, auto) { return static_cast<std::int64_t>(magnitude_of(a)); });
  if (is_known && name == "bfe" && from.size() == 3 && from[1].is_constant() && from[2].is_constant()) {
    const std::int64_t position = from[1].known()[0];
    const std::int64_t length = from[2].known()[0];
    if (position < 0 || length <= 0 || position + length > type.bits) return other();
    const ptx::Type field{type.type_class, static_cast<int>(length)};
    return mapped(from[0], {0}, bits, [&](auto a, auto) {
      return as_read(as_read(a, {ptx::TypeClass::unsigned_, type.bits}) >> position, field);
    });
  }
  return other();
}

}  // namespace convladder::simulated

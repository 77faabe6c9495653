#include "simulator/ptx/operand_parser.hpp"

#include <utility>

#include "simulator/ptx/constant_expression.hpp"

namespace convladder::ptx {
namespace {

Operand register_operand(int index) {
  Operand result;
  result.kind = OperandKind::register_;
  result.index = index;
  return result;
}

/// Splits "%r1.b0" into its register and its selector, which is "b" or "h" and up to four digits; empty where it has
/// none.
std::pair<std::string_view, std::string_view> split_selector(std::string_view word) {
  const std::size_t dot = word.rfind('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view selector = word.substr(dot + 1);
  const bool right = selector.size() >= 2 && selector.size() <= 5 && (selector[0] == 'b' || selector[0] == 'h') &&
                     selector.find_first_not_of("01234567", 1) == std::string_view::npos;
  if (!right) return {};
  return {word.substr(0, dot), selector};
}

}  // namespace

Operand OperandParser::take_with_pair() {
  Operand first = take();
  if (!tokens_.accept("|")) return first;
  Operand pair;
  pair.kind = OperandKind::pair;
  pair.elements = {std::move(first), take()};
  return pair;
}

Operand OperandParser::take() {
  if (tokens_.accept("[")) return address();
  if (tokens_.accept("{")) return vector();
  if (tokens_.current().is("!") && tokens_.peek(1).kind == TokenKind::word) {
    tokens_.take();
    Operand result = named(tokens_.take());
    if (result.kind != OperandKind::register_)
      tokens_.fail(tokens_.current(), "'!' must be followed by a predicate register");
    result.negated = true;
    return result;
  }
  if (tokens_.current().is("-") && tokens_.peek(1).kind == TokenKind::word) {
    const std::string_view word = tokens_.peek(1).text;
    if (names_.find(word) != nullptr || !split_selector(word).second.empty()) {
      tokens_.take();
      Operand result = named(tokens_.take());
      if (result.kind != OperandKind::register_) tokens_.fail(tokens_.current(), "'-' must be followed by a register");
      result.negated = true;
      return result;
    }
  }
  if (begins_expression(tokens_) || tokens_.current().kind != TokenKind::word) return immediate();
  return named(tokens_.take());
}

Operand OperandParser::immediate() {
  const ConstantValue value = take_constant(tokens_);
  Operand result;
  result.kind = OperandKind::immediate;
  result.number = value.kind;
  result.bits = value.bits;
  return result;
}

/// Takes a word as an operand: a register, a special register, a variable, a function, a label, or the sink.
Operand OperandParser::named(const Token& word) {
  Operand result;
  if (word.is("_")) {
    result.kind = OperandKind::sink;
    return result;
  }
  const Name* const name = names_.find(word.text);
  if (name == nullptr) {
    const auto [base, selector] = split_selector(word.text);
    const Name* const selected = selector.empty() ? nullptr : names_.find(base);
    if (selected != nullptr && selected->kind == Name::Kind::register_) {
      result = register_operand(selected->index);
      result.selector = selector;
      return result;
    }
    // Special registers are checked when the kernel is decoded; a misspelt register is reported there as well, with its
    // place.
    result.kind = word.text.starts_with('%') ? OperandKind::special : OperandKind::label;
    result.name = word.text;
    result.position = word.position;
    return result;
  }
  switch (name->kind) {
    case Name::Kind::register_:
      result = register_operand(name->index);
      result.offset = offset();
      return result;
    case Name::Kind::vector:
      result.kind = OperandKind::vector;
      for (int i = 0; i < name->elements; ++i) result.elements.push_back(register_operand(name->index + i));
      return result;
    case Name::Kind::variable:
      result.kind = OperandKind::symbol;
      result.name = name->unique;
      result.offset = array_index(name->element_bytes) + offset();
      return result;
    default:
      result.kind = OperandKind::function;
      result.name = name->unique;
      result.position = word.position;
      return result;
  }
}

/// Takes "+8", "-8", "+-8", "+ 4 * 2", or nothing.
std::int64_t OperandParser::offset() {
  if (!tokens_.current().is("+") && !tokens_.current().is("-")) return 0;
  const Token at = tokens_.current();
  const ConstantValue value = take_constant(tokens_);
  if (value.kind != NumberKind::integer) tokens_.fail(at, "an offset must be a whole number");
  return static_cast<std::int64_t>(value.bits);
}

/// Takes "[2]" after the name of an array, in bytes; 0 where there is none.
std::int64_t OperandParser::array_index(int element_bytes) {
  if (!tokens_.accept("[")) return 0;
  const std::uint64_t index = take_constant_integer(tokens_, "an index", std::uint64_t{1} << 40);
  tokens_.expect("]");
  return static_cast<std::int64_t>(index) * element_bytes;
}

Operand OperandParser::address() {
  Operand result;
  result.kind = OperandKind::address;
  if (begins_expression(tokens_)) {
    const Token at = tokens_.current();
    const ConstantValue value = take_constant(tokens_);
    if (value.kind != NumberKind::integer) tokens_.fail(at, "an address must be a whole number");
    result.offset = static_cast<std::int64_t>(value.bits);
  } else {
    const Token word = tokens_.take_word("an address");
    const Operand base = named(word);
    if (base.kind == OperandKind::register_) {
      result.index = base.index;
      result.offset = base.offset;
    } else if (base.kind == OperandKind::symbol) {
      result.name = base.name;
      result.offset = base.offset;
    } else {
      tokens_.fail(word, "'" + shown(word.text) + "' is neither a register nor a variable");
    }
  }
  while (tokens_.accept(",")) result.elements.push_back(take());  // coordinates and samplers
  tokens_.expect("]");
  tokens_.accept(".unified");  // a promise about the address
  return result;
}

Operand OperandParser::vector() {
  Operand result;
  result.kind = OperandKind::vector;
  do {
    if (tokens_.current().is("{") || tokens_.current().is("[")) {
      tokens_.fail(tokens_.current(), "this is not allowed inside {…}");
    }
    result.elements.push_back(take());
  } while (tokens_.accept(","));
  tokens_.expect("}");
  return result;
}

}  // namespace convladder::ptx

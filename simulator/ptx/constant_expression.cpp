#include "simulator/ptx/constant_expression.hpp"

#include <bit>
#include <limits>
#include <optional>
#include <string_view>

namespace convladder::ptx {
namespace {

constexpr int kDeepest = 64;  // nested parentheses and signs

struct Operator {
  std::string_view text;
  int precedence;  ///< as in C: more binds tighter
};
constexpr Operator kOperators[] = {
    {"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5}, {"==", 6}, {"!=", 6}, {"<=", 7}, {">=", 7},
    {"<", 7},  {">", 7},  {"<<", 8}, {">>", 8}, {"+", 9}, {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
};

ConstantValue integer(std::uint64_t bits, bool is_unsigned = false) { return {NumberKind::integer, bits, is_unsigned}; }
ConstantValue floating(double value) { return {NumberKind::double_, std::bit_cast<std::uint64_t>(value)}; }

double as_double(const ConstantValue& value) {
  switch (value.kind) {
    case NumberKind::single:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(value.bits)));
    case NumberKind::double_:
      return std::bit_cast<double>(value.bits);
    default:
      return value.is_unsigned ? static_cast<double>(value.bits)
                               : static_cast<double>(static_cast<std::int64_t>(value.bits));
  }
}

/// The value of an operation; none for a meaningless one such as a division by zero.
std::optional<ConstantValue> compute(std::string_view op, const ConstantValue& a, const ConstantValue& b) {
  if (a.kind != NumberKind::integer || b.kind != NumberKind::integer) {
    const double x = as_double(a);
    const double y = as_double(b);
    if (op == "+") return floating(x + y);
    if (op == "-") return floating(x - y);
    if (op == "*") return floating(x * y);
    if (op == "/") return floating(x / y);
    if (op == "<") return integer(x < y ? 1 : 0);
    if (op == ">") return integer(x > y ? 1 : 0);
    if (op == "<=") return integer(x <= y ? 1 : 0);
    if (op == ">=") return integer(x >= y ? 1 : 0);
    if (op == "==") return integer(x == y ? 1 : 0);
    if (op == "!=") return integer(x != y ? 1 : 0);
    return std::nullopt;
  }
  const bool is_unsigned = a.is_unsigned || b.is_unsigned;
  const auto sx = static_cast<std::int64_t>(a.bits);
  const auto sy = static_cast<std::int64_t>(b.bits);
  const auto truth = [](bool value) { return integer(value ? 1 : 0); };
  if (op == "+") return integer(a.bits + b.bits, is_unsigned);
  if (op == "-") return integer(a.bits - b.bits, is_unsigned);
  if (op == "*") return integer(a.bits * b.bits, is_unsigned);
  if (op == "/" || op == "%") {
    if (b.bits == 0) return std::nullopt;
    if (!is_unsigned && sx == std::numeric_limits<std::int64_t>::min() && sy == -1) {
      return integer(op == "/" ? a.bits : 0);
    }
    if (op == "/") return integer(is_unsigned ? a.bits / b.bits : static_cast<std::uint64_t>(sx / sy), is_unsigned);
    return integer(is_unsigned ? a.bits % b.bits : static_cast<std::uint64_t>(sx % sy), is_unsigned);
  }
  if (op == "<<") return integer(b.bits < 64 ? a.bits << b.bits : 0, a.is_unsigned);
  if (op == ">>") {
    if (a.is_unsigned) return integer(b.bits < 64 ? a.bits >> b.bits : 0, true);
    return integer(static_cast<std::uint64_t>(sx >> (b.bits < 64 ? b.bits : 63)));
  }
  if (op == "&") return integer(a.bits & b.bits, is_unsigned);
  if (op == "|") return integer(a.bits | b.bits, is_unsigned);
  if (op == "^") return integer(a.bits ^ b.bits, is_unsigned);
  if (op == "&&") return truth(a.bits != 0 && b.bits != 0);
  if (op == "||") return truth(a.bits != 0 || b.bits != 0);
  if (op == "==") return truth(a.bits == b.bits);
  if (op == "!=") return truth(a.bits != b.bits);
  if (op == "<") return truth(is_unsigned ? a.bits < b.bits : sx < sy);
  if (op == ">") return truth(is_unsigned ? a.bits > b.bits : sx > sy);
  if (op == "<=") return truth(is_unsigned ? a.bits <= b.bits : sx <= sy);
  return truth(is_unsigned ? a.bits >= b.bits : sx >= sy);
}

class Expression {
 public:
  explicit Expression(TokenReader& tokens) : tokens_(tokens) {}

  ConstantValue conditional() {
    const ConstantValue value = binary(1);
    if (!tokens_.accept("?")) return value;
    const ConstantValue yes = deeper();
    tokens_.expect(":");
    const ConstantValue no = deeper();
    return value.bits != 0 ? yes : no;
  }

 private:
  ConstantValue deeper() {
    if (++depth_ > kDeepest) tokens_.fail(tokens_.current(), "an expression nested deeper than supported");
    const ConstantValue value = conditional();
    --depth_;
    return value;
  }

  ConstantValue binary(int least) {
    ConstantValue left = unary();
    while (const Operator* const op = current_operator()) {
      if (op->precedence < least) break;
      const Token at = tokens_.take();
      const ConstantValue right = binary(op->precedence + 1);
      const auto value = compute(op->text, left, right);
      if (!value) tokens_.fail(at, "this operation has no value for these numbers");
      left = *value;
    }
    return left;
  }

  const Operator* current_operator() const {
    for (const Operator& op : kOperators) {
      if (tokens_.current().is(op.text)) return &op;
    }
    return nullptr;
  }

  ConstantValue unary() {
    if (++depth_ > kDeepest) tokens_.fail(tokens_.current(), "an expression nested deeper than supported");
    const ConstantValue value = unary_at_depth();
    --depth_;
    return value;
  }

  ConstantValue unary_at_depth() {
    const Token token = tokens_.take();
    if (token.is("(")) {
      if (tokens_.current().is(".s64") || tokens_.current().is(".u64")) return cast();
      const ConstantValue value = deeper();
      tokens_.expect(")");
      return value;
    }
    if (token.is("+")) return unary();
    if (token.is("-")) return negated(unary());
    if (token.is("~")) return integer(~whole(unary(), token).bits);
    if (token.is("!")) return integer(whole(unary(), token).bits == 0 ? 1 : 0);
    switch (token.kind) {
      case TokenKind::integer:
        return integer(token.number,
                       token.text.ends_with('U') ||
                           token.number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
      case TokenKind::single:
        return {NumberKind::single, token.number};
      case TokenKind::double_:
        return {NumberKind::double_, token.number};
      default:
        if (token.is("WARP_SZ")) return integer(32);
        tokens_.fail(token, token.kind == TokenKind::end ? "expected an operand, found the end of the file"
                                                         : "expected an operand, found '" + shown(token.text) + "'");
    }
  }

  ConstantValue cast() {
    const bool is_unsigned = tokens_.take().is(".u64");
    tokens_.expect(")");
    const Token at = tokens_.current();
    return integer(whole(unary(), at).bits, is_unsigned);
  }

  const ConstantValue& whole(const ConstantValue& value, const Token& at) const {
    if (value.kind != NumberKind::integer) tokens_.fail(at, "this operation is not defined for floats");
    return value;
  }

  static ConstantValue negated(ConstantValue value) {
    if (value.kind == NumberKind::single) {
      value.bits ^= std::uint64_t{1} << 31;
    } else if (value.kind == NumberKind::double_) {
      value.bits ^= std::uint64_t{1} << 63;
    } else {
      value.bits = ~value.bits + 1;
    }
    return value;
  }

  TokenReader& tokens_;
  int depth_ = 0;
};

}  // namespace

bool begins_expression(const TokenReader& tokens) {
  const Token& token = tokens.current();
  if (token.kind == TokenKind::integer || token.kind == TokenKind::single || token.kind == TokenKind::double_) {
    return true;
  }
  return token.is("(") || token.is("-") || token.is("+") || token.is("~") || token.is("!") || token.is("WARP_SZ");
}

ConstantValue take_constant(TokenReader& tokens) { return Expression(tokens).conditional(); }

std::uint64_t take_constant_integer(TokenReader& tokens, const char* what, std::uint64_t largest) {
  const Token at = tokens.current();
  if (!begins_expression(tokens)) tokens.fail_expected(what);
  const ConstantValue value = take_constant(tokens);
  if (value.kind != NumberKind::integer) tokens.fail(at, std::string(what) + " must be a whole number");
  if (value.bits > largest) tokens.fail(at, std::string(what) + " is larger than " + std::to_string(largest));
  return value.bits;
}

}  // namespace convladder::ptx

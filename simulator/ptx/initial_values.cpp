#include "simulator/ptx/initial_values.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "simulator/ptx/constant_expression.hpp"

namespace convladder::ptx {
namespace {

constexpr std::size_t kDeepestBraces = 64;
constexpr std::uint64_t kMostPadding = 1 << 28;  // bytes of omitted values before others, of a variable

class InitialValues {
 public:
  InitialValues(TokenReader& tokens, const Names& names, Type type, Symbol& symbol)
      : tokens_(tokens), names_(names), type_(type), symbol_(symbol) {}

  /// `strides` are the bytes that one pair of braces holds, from the outermost on; 0 where nothing is known.
  void take(const std::vector<std::uint64_t>& strides, std::size_t depth) {
    if (depth > kDeepestBraces)
      tokens_.fail(tokens_.current(), "initial values with braces nested deeper than supported");
    if (!tokens_.accept("{")) return value();
    const std::uint64_t begin = symbol_.initial_bytes.size();
    while (!tokens_.accept("}")) {
      if (tokens_.current().is("{")) {
        take(strides, depth + 1);
      } else {
        value();
      }
      if (!tokens_.current().is("}")) tokens_.expect(",");
    }
    if (depth > 0 && depth < strides.size()) fill(begin + strides[depth]);
  }

 private:
  /// Fills omitted values with zeros.
  void fill(std::uint64_t end) {
    if (end <= symbol_.initial_bytes.size()) return;
    padding_ += end - symbol_.initial_bytes.size();
    if (padding_ > kMostPadding) tokens_.fail(tokens_.last(), "the array is larger than supported");
    symbol_.initial_bytes.resize(end);
  }

  void append(std::uint64_t bits, int bytes) {
    for (int byte = 0; byte < bytes; ++byte) {
      symbol_.initial_bytes.push_back(static_cast<std::uint8_t>(bits >> (8 * byte)));
    }
  }

  void value() {
    const Token& token = tokens_.current();
    if (token.kind == TokenKind::text) return text();
    const bool masked = token.kind == TokenKind::integer && tokens_.peek(1).is("(");  // "0xFF00(name)"
    if (masked || (token.kind == TokenKind::word && !token.is("WARP_SZ"))) return address();
    if (type_.bits > 64) tokens_.fail(token, "initial values of more than 64 bits are not supported");
    number();
  }

  void number() {
    const Token at = tokens_.current();
    if (!begins_expression(tokens_)) tokens_.fail(at, "expected a number");
    ConstantValue value = take_constant(tokens_);
    const bool is_float = type_.type_class == TypeClass::floating;
    if (is_float && value.kind == NumberKind::integer) {
      const double whole = value.is_unsigned ? static_cast<double>(value.bits)
                                             : static_cast<double>(static_cast<std::int64_t>(value.bits));
      value = {NumberKind::double_, std::bit_cast<std::uint64_t>(whole)};
    }
    if (value.kind == NumberKind::double_ && type_.bits == 32) {
      value.bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(value.bits)));
    } else if (value.kind == NumberKind::single && type_.bits == 64) {
      const auto single = std::bit_cast<float>(static_cast<std::uint32_t>(value.bits));
      value.bits = std::bit_cast<std::uint64_t>(static_cast<double>(single));
    } else if (value.kind != NumberKind::integer && type_.bits < 32) {
      tokens_.fail(at, "initial values of this type must be given as whole numbers");
    }
    append(value.bits, type_.bytes());
  }

  void text() {
    const Token token = tokens_.take();
    if (type_.bits != 8) tokens_.fail(token, "a text can only be the initial value of bytes");
    for (const char c : token.text) append(static_cast<std::uint8_t>(c), 1);
    if (symbol_.bytes == 0 || symbol_.initial_bytes.size() < symbol_.bytes) append(0, 1);
  }

  /// Takes "name + 8", "generic(name)", "0xFF00(name)".
  void address() {
    InitialAddress address{.offset = symbol_.initial_bytes.size(), .bytes = type_.bytes()};
    const bool masked = tokens_.current().kind == TokenKind::integer;
    if (masked) take_mask(address);
    if (masked || (tokens_.current().is("generic") && tokens_.peek(1).is("("))) {
      if (!masked) tokens_.take();
      tokens_.expect("(");
      take_name(address);
      take_addend(address);
      tokens_.expect(")");
    } else {
      take_name(address);
    }
    take_addend(address);
    if (address.bytes < 4 && !masked) tokens_.fail(tokens_.last(), "an address does not fit this type");
    append(0, type_.bytes());
    symbol_.initial_addresses.push_back(std::move(address));
  }

  void take_mask(InitialAddress& address) {
    const Token token = tokens_.take();
    address.shift = token.number == 0 ? 0 : std::countr_zero(token.number);
    if (token.number == 0 || token.number >> address.shift != 0xff) {
      tokens_.fail(token, "the mask of an address must have one byte of ones");
    }
    address.bytes = 1;
  }

  void take_name(InitialAddress& address) {
    const Token token = tokens_.take_word("a number or a name");
    const Name* const name = names_.find(token.text);
    if (name == nullptr || (name->kind != Name::Kind::variable && name->kind != Name::Kind::function)) {
      tokens_.fail(token, "'" + shown(token.text) + "' is neither a variable nor a function");
    }
    address.name = name->unique;
  }

  void take_addend(InitialAddress& address) {
    if (!tokens_.current().is("+") && !tokens_.current().is("-")) return;
    const ConstantValue value = take_constant(tokens_);
    if (value.kind != NumberKind::integer) tokens_.fail(tokens_.last(), "an offset must be a whole number");
    address.addend += value.bits;
  }

  TokenReader& tokens_;
  const Names& names_;
  Type type_;
  Symbol& symbol_;
  std::uint64_t padding_ = 0;
};

}  // namespace

void take_initial_values(TokenReader& tokens, const Names& names, Type type, int vector_elements,
                         const std::vector<std::uint64_t>& sizes, Symbol& symbol) {
  std::vector<std::uint64_t> strides;  // of the braces at each depth; the outermost hold all
  std::uint64_t stride = static_cast<std::uint64_t>(type.bytes()) * static_cast<std::uint64_t>(vector_elements);
  if (vector_elements > 1) strides.insert(strides.begin(), stride);
  for (std::size_t i = sizes.size(); i-- > 0;) {
    stride *= sizes[i];
    strides.insert(strides.begin(), stride);
  }
  InitialValues(tokens, names, type, symbol).take(strides, 0);
  const bool open = !sizes.empty() && sizes[0] == 0;
  if (open) {
    symbol.bytes = symbol.initial_bytes.size();
  } else if (symbol.initial_bytes.size() > symbol.bytes) {
    tokens.fail(tokens.current(), "more initial values than the variable holds");
  }
}

}  // namespace convladder::ptx

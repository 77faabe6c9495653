#include "simulator/ptx/declarations.hpp"

#include <utility>

#include "simulator/ptx/constant_expression.hpp"
#include "simulator/ptx/initial_values.hpp"
#include "simulator/ptx/words.hpp"

namespace convladder::ptx {
namespace {

// Limits of the memory that a damaged file can ask for.
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 32;  // of a variable

/// Takes "[4][8]" as {4, 8}, with 0 for an omitted size.
std::vector<std::uint64_t> take_sizes(TokenReader& tokens) {
  std::vector<std::uint64_t> sizes;
  std::uint64_t count = 1;
  while (tokens.accept("[")) {
    if (tokens.accept("]")) {
      sizes.push_back(0);
      continue;
    }
    const Token at = tokens.current();
    const std::uint64_t size = take_constant_integer(tokens, "an array's size", kMostElements);
    if (size > 0 && count > kMostElements / size) tokens.fail(at, "the array is larger than supported");
    if (size > 0) count *= size;
    sizes.push_back(size);
    tokens.expect("]");
  }
  return sizes;
}

std::uint64_t product(const std::vector<std::uint64_t>& sizes) {
  std::uint64_t count = 1;
  for (const std::uint64_t size : sizes) count *= size;
  return count;
}

/// Takes an attribute; whether it is ".attribute(.managed)". Others have no meaning here: all memory is the device's.
bool take_attribute(TokenReader& tokens) {
  if (!tokens.current().is("(")) return false;
  const bool is_managed = tokens.peek(1).is(".managed");
  tokens.skip_brackets("(", ")");
  return is_managed;
}

/// Takes "{ filter_mode = linear, width = 4 }".
void take_fields(TokenReader& tokens, Symbol& symbol) {
  tokens.expect("{");
  while (!tokens.accept("}")) {
    const Token name = tokens.take_word("a field");
    tokens.expect("=");
    symbol.fields.emplace_back(name.text, tokens.take().text);
    if (!tokens.current().is("}")) tokens.expect(",");
  }
}

}  // namespace

std::uint64_t take_element_count(TokenReader& tokens) { return product(take_sizes(tokens)); }

void take_variables(TokenReader& tokens, const Names& names, Space space, bool is_extern,
                    const DeclareVariable& declare) {
  int alignment = 0;
  int vector_elements = 1;
  bool is_managed = false;
  Token word = tokens.current();
  for (; !type_of_suffix(word.text) && !is_opaque_type(word.text); word = tokens.current()) {
    if (tokens.accept(".align")) {
      alignment = tokens.take_alignment();
    } else if (tokens.accept(".v2") || tokens.accept(".v4")) {
      vector_elements = word.is(".v2") ? 2 : 4;
    } else if (tokens.accept(".attribute")) {
      is_managed |= take_attribute(tokens);
    } else {
      tokens.fail_expected("a type");
    }
  }
  const bool opaque = is_opaque_type(word.text);
  const Type type = take_type(tokens);
  const int element_bytes = type.bytes() * vector_elements;
  do {
    Symbol symbol;
    const Token name = tokens.take_name("a variable's name");
    symbol.name = name.text;
    symbol.position = name.position;
    symbol.space = space;
    symbol.is_extern = is_extern;
    symbol.is_managed = is_managed;
    symbol.alignment = alignment > 0 ? alignment : element_bytes;
    if (opaque) symbol.opaque_type = word.text.substr(1);
    const std::vector<std::uint64_t> sizes = take_sizes(tokens);
    symbol.bytes = product(sizes) * static_cast<std::uint64_t>(element_bytes);
    if (tokens.accept("=")) {
      if (opaque) {
        take_fields(tokens, symbol);
      } else {
        take_initial_values(tokens, names, type, vector_elements, sizes, symbol);
      }
    }
    declare(std::move(symbol), element_bytes);
  } while (tokens.accept(","));
  tokens.expect(";");
}

Parameter take_parameter(TokenReader& tokens) {
  Parameter parameter;
  tokens.accept(".hidden");
  const bool in_register = tokens.accept(".reg");
  if (!in_register) tokens.expect(".param");
  int alignment = 0;
  std::optional<Type> type;
  std::string opaque;
  bool is_pointer = false;
  // The type and its attributes come in any order: ".align 4 .b8", ".u64 .ptr .global .align 4".
  while (tokens.current().kind == TokenKind::word && tokens.current().text.starts_with('.')) {
    const Token word = tokens.current();
    if (tokens.accept(".align")) {
      const int given = tokens.take_alignment();
      if (!is_pointer) alignment = given;  // otherwise it is the alignment of what the pointer points to
    } else if (tokens.accept(".ptr")) {
      is_pointer = true;
    } else if (is_pointer && space_of_word(word.text)) {
      tokens.take();
    } else if (tokens.accept(".attribute")) {
      take_attribute(tokens);
    } else {
      if (is_opaque_type(word.text)) opaque = word.text.substr(1);
      type = take_type(tokens);
    }
  }
  if (!type) tokens.fail_expected("a type");
  if (in_register) parameter.register_type = type;
  const Token name = tokens.take_name("a parameter's name");
  parameter.symbol.name = name.text;
  parameter.symbol.position = name.position;
  parameter.symbol.space = Space::param;
  parameter.symbol.opaque_type = opaque;
  parameter.symbol.alignment = alignment > 0 ? alignment : type->bytes();
  parameter.symbol.is_array = tokens.current().is("[");
  parameter.symbol.is_float = type->type_class == TypeClass::floating;
  parameter.symbol.bytes = take_element_count(tokens) * static_cast<std::uint64_t>(type->bytes());
  return parameter;
}

}  // namespace convladder::ptx

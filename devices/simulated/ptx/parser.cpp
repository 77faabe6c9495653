#include "devices/simulated/ptx/parser.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "devices/simulated/ptx/lexer.hpp"

namespace convladder::ptx {
namespace {

// What bounds the memory and the stack that a damaged file can ask for.
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 32;  // of a variable
constexpr std::uint64_t kMostRegisters = 1 << 20;                // of a kernel
constexpr std::uint64_t kMostRegistersOfAll = 1 << 22;           // of a module's kernels together
constexpr int kDeepestBraces = 64;                               // of initial values
constexpr std::size_t kDeepestScopes = 256;                      // of a kernel's body
constexpr std::uint64_t kMostThreads = 1024;                     // of a block
constexpr std::size_t kShownCharacters = 60;                     // of a token in a message

constexpr std::pair<std::string_view, Type> kTypes[] = {
    {".pred", {TypeClass::predicate, 1}}, {".b8", {TypeClass::bits, 8}},
    {".b16", {TypeClass::bits, 16}},      {".b32", {TypeClass::bits, 32}},
    {".b64", {TypeClass::bits, 64}},      {".b128", {TypeClass::bits, 128}},
    {".u8", {TypeClass::unsigned_, 8}},   {".u16", {TypeClass::unsigned_, 16}},
    {".u32", {TypeClass::unsigned_, 32}}, {".u64", {TypeClass::unsigned_, 64}},
    {".s8", {TypeClass::signed_, 8}},     {".s16", {TypeClass::signed_, 16}},
    {".s32", {TypeClass::signed_, 32}},   {".s64", {TypeClass::signed_, 64}},
    {".f16", {TypeClass::floating, 16}},  {".f16x2", {TypeClass::floating_pair, 32}},
    {".f32", {TypeClass::floating, 32}},  {".f64", {TypeClass::floating, 64}},
};

constexpr std::pair<std::string_view, Space> kSpaces[] = {
    {".global", Space::global}, {".const", Space::constant}, {".shared", Space::shared},
    {".local", Space::local},   {".param", Space::param},
};

std::optional<Space> space_of(std::string_view word) {
  for (const auto& [name, space] : kSpaces) {
    if (name == word) return space;
  }
  return std::nullopt;
}

/// A token as a message shows it: in one short line, whatever is in it.
std::string shown(std::string_view text) {
  std::string result(text.substr(0, kShownCharacters));
  std::ranges::replace_if(
      result, [](char c) { return c < ' ' || c > '~'; }, '?');
  if (text.size() > kShownCharacters) result += "...";
  return result;
}

class Parser {
 public:
  Parser(std::string_view source, const std::string& file) : tokens_(tokenize(source, file)) { module_.file = file; }

  Module run() {
    while (current().kind != TokenKind::end) module_statement();
    return std::move(module_);
  }

 private:
  // --- tokens ---------------------------------------------------------------------------------------------------

  const Token& current() const { return tokens_[at_]; }
  const Token& peek(std::size_t ahead) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }

  [[noreturn]] void fail(const Token& token, const std::string& what) const {
    throw PtxError(module_.file, token.position, what);
  }
  [[noreturn]] void fail_expected(const std::string& expected) const {
    const Token& found = current();
    fail(found, "expected " + expected + ", found " +
                    (found.kind == TokenKind::end ? "the end of the file" : "'" + shown(found.text) + "'"));
  }

  Token take() {
    const Token token = current();
    if (token.kind != TokenKind::end) ++at_;
    return token;
  }
  bool accept(std::string_view text) {
    if (!current().is(text)) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view text) {
    if (!accept(text)) fail_expected("'" + std::string(text) + "'");
  }
  Token take_word(const char* what) {
    if (current().kind != TokenKind::word) fail_expected(what);
    return take();
  }
  std::uint64_t take_integer(const char* what, std::uint64_t largest) {
    if (current().kind != TokenKind::integer) fail_expected(what);
    if (current().number > largest) fail(current(), std::string(what) + " is larger than " + std::to_string(largest));
    return take().number;
  }

  // --- module ---------------------------------------------------------------------------------------------------

  void module_statement() {
    const Token word = take_word("a directive");
    if (word.is(".version")) {
      module_.version = take().text;
    } else if (word.is(".target")) {
      module_.target = take_word("a target").text;
      while (accept(",")) take_word("a target option");
    } else if (word.is(".address_size")) {
      if (take_integer("an address size", 64) != 64) fail(word, "only .address_size 64 is supported");
    } else if (word.is(".file")) {
      source_file();
    } else if (word.is(".section")) {
      section();
    } else if (word.is(".pragma")) {
      take();
      expect(";");
    } else if (word.is(".visible") || word.is(".weak") || word.is(".extern") || word.is(".common")) {
      linked_statement(word.is(".extern"));
    } else {
      --at_;
      linked_statement(false);
    }
  }

  /// What may follow a linking directive: a kernel or a variable.
  void linked_statement(bool is_extern) {
    const Token word = take_word("a kernel or a variable");
    if (word.is(".entry")) {
      kernel();
    } else if (word.is(".func")) {
      device_function();
    } else if (const auto space = space_of(word.text); space && *space != Space::local && *space != Space::param) {
      variables(*space, is_extern, module_.symbols);
    } else {
      fail(word, "the directive '" + shown(word.text) + "' is not supported here");
    }
  }

  /// A declaration, or a definition: skipped.
  void device_function() {
    while (current().kind != TokenKind::end) {
      if (accept(";")) return;
      if (current().is("{")) return skip_braces();
      take();
    }
    fail_expected("the function's '{' or ';'");
  }

  /// From a '{' to behind its '}'.
  void skip_braces() {
    expect("{");
    for (int depth = 1; depth > 0;) {
      if (current().kind == TokenKind::end) fail_expected("a '}'");
      const Token token = take();
      depth += token.is("{") ? 1 : token.is("}") ? -1 : 0;
    }
  }

  void source_file() {
    const auto number = static_cast<int>(take_integer("a file number", 1 << 30));
    if (current().kind != TokenKind::text) fail_expected("a file name");
    module_.source_files.push_back({number, std::string(take().text)});
    while (accept(",")) take_integer("a file's time or size", ~std::uint64_t{0});
  }

  /// Debug information: skipped.
  void section() {
    take_word("a section's name");
    skip_braces();
  }

  // --- variables ------------------------------------------------------------------------------------------------

  Type take_type() {
    const Token word = take_word("a type");
    const auto type = type_of_suffix(word.text);
    if (!type) fail(word, "'" + shown(word.text) + "' is not a type");
    return *type;
  }

  int take_alignment() {
    const Token at = current();
    const std::uint64_t alignment = take_integer("an alignment", 1 << 16);
    if (!std::has_single_bit(alignment)) fail(at, "an alignment must be a power of two");
    return static_cast<int>(alignment);
  }

  /// ".align 4 .v2 .f32 name[8] = {…}", and more of the same type behind commas, up to the semicolon.
  void variables(Space space, bool is_extern, std::vector<Symbol>& to) {
    int alignment = 0;
    int vector_elements = 1;
    Token word = current();
    for (; !type_of_suffix(word.text); word = current()) {
      if (accept(".align")) {
        alignment = take_alignment();
      } else if (accept(".v2") || accept(".v4")) {
        vector_elements = word.is(".v2") ? 2 : 4;
      } else {
        fail_expected("a type");
      }
    }
    const Type type = take_type();
    const int element_bytes = type.bytes() * vector_elements;
    do {
      Symbol symbol;
      const Token name = take_word("a variable's name");
      symbol.name = name.text;
      symbol.position = name.position;
      symbol.space = space;
      symbol.is_extern = is_extern;
      symbol.alignment = alignment > 0 ? alignment : element_bytes;
      symbol.bytes = element_count() * static_cast<std::uint64_t>(element_bytes);
      if (accept("=")) initial_values(type, symbol);
      to.push_back(std::move(symbol));
    } while (accept(","));
    expect(";");
  }

  /// The product of "[4][8]"; 1 without brackets, 0 for "[]".
  std::uint64_t element_count() {
    std::uint64_t count = 1;
    while (accept("[")) {
      if (accept("]")) return 0;
      const Token at = current();
      const std::uint64_t size = take_integer("an array's size", kMostElements);
      if (size > 0 && count > kMostElements / size) fail(at, "the array is larger than supported");
      count *= size;
      expect("]");
    }
    return count;
  }

  void initial_values(Type type, Symbol& symbol, int depth = 0) {
    if (type.bits > 64) fail(current(), "initial values of more than 64 bits are not supported");
    if (depth > kDeepestBraces) fail(current(), "initial values with braces nested deeper than supported");
    const bool list = accept("{");
    do {
      if (list && current().is("{")) {
        initial_values(type, symbol, depth + 1);
        continue;
      }
      const bool negative = accept("-");
      const Token value = take();
      std::uint64_t bits = value.number;
      if (value.kind == TokenKind::word) fail(value, "initial values that are addresses are not supported");
      if (value.kind != TokenKind::integer && value.kind != TokenKind::single && value.kind != TokenKind::double_) {
        fail(value, "expected a number");
      }
      if (value.kind == TokenKind::double_ && type.bits == 32) {
        bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
      }
      if (negative) bits = value.kind == TokenKind::integer ? ~bits + 1 : bits ^ (std::uint64_t{1} << (type.bits - 1));
      for (int byte = 0; byte < type.bytes(); ++byte) {
        symbol.initial_bytes.push_back(static_cast<std::uint8_t>(bits >> (8 * byte)));
      }
    } while (list && accept(","));
    if (list) expect("}");
    if (symbol.initial_bytes.size() > symbol.bytes) fail(current(), "more initial values than the variable holds");
  }

  // --- kernels --------------------------------------------------------------------------------------------------

  void kernel() {
    const Token name = take_word("a kernel's name");
    kernel_ = Kernel{};
    kernel_.name = name.text;
    kernel_.position = name.position;
    labels_.clear();
    scopes_.assign(1, {});
    pending_labels_.clear();
    source_ = {};
    kernel_file_ = 0;
    called_from_.clear();
    if (accept("(")) {
      while (!accept(")")) {
        parameter();
        if (!current().is(")")) expect(",");
      }
    }
    performance_directives();
    const std::size_t begin = at_;
    skip_braces();  // whatever is in it, this is where it ends
    const std::size_t end = std::exchange(at_, begin + 1);
    try {
      body();
      resolve_labels();
    } catch (const PtxError& error) {
      kernel_.refusal = {error.position, error.problem};
    }
    at_ = end;
    module_.kernels.push_back(std::move(kernel_));
  }

  void parameter() {
    expect(".param");
    int alignment = 0;
    if (accept(".align")) alignment = take_alignment();
    const Type type = take_type();
    if (accept(".ptr")) {  // a hint about what it points to: ".ptr .global .align 4"
      if (space_of(current().text)) take();
      if (accept(".align")) take_integer("an alignment", 1 << 16);
    }
    if (accept(".align")) alignment = take_alignment();
    const Token name = take_word("a parameter's name");
    Symbol symbol;
    symbol.name = name.text;
    symbol.position = name.position;
    symbol.space = Space::param;
    symbol.alignment = alignment > 0 ? alignment : type.bytes();
    symbol.bytes = element_count() * static_cast<std::uint64_t>(type.bytes());
    kernel_.parameters.push_back(std::move(symbol));
  }

  void performance_directives() {
    while (current().kind == TokenKind::word) {
      const Token word = take();
      if (word.is(".maxntid") || word.is(".reqntid")) {
        std::uint64_t threads = take_integer("a number of threads", kMostThreads);
        while (accept(",")) {
          threads = std::min(kMostThreads, threads * take_integer("a number of threads", kMostThreads));
        }
        kernel_.max_threads_per_block = static_cast<int>(threads);
      } else if (word.is(".minnctapersm") || word.is(".maxnreg") || word.is(".maxnctapersm")) {
        take_integer("a number", 1 << 20);
      } else if (word.is(".pragma")) {
        take();
        expect(";");
      } else {
        fail(word, "the directive '" + shown(word.text) + "' is not supported here");
      }
    }
  }

  void body() {
    for (std::size_t depth = 1; depth > 0;) {
      if (current().kind == TokenKind::end) fail_expected("the kernel's '}'");
      const Token at = current();
      if (accept("{")) {
        if (++depth > kDeepestScopes) fail(at, "braces nested deeper than supported");
        scopes_.emplace_back();
      } else if (accept("}")) {
        if (--depth > 0) scopes_.pop_back();
      } else {
        statement();
      }
    }
  }

  void statement() {
    if (accept(";")) return;
    if (current().kind == TokenKind::word && peek(1).is(":")) {
      const Token name = take();
      take();
      if (!labels_.emplace(name.text, static_cast<int>(kernel_.instructions.size())).second) {
        fail(name, "the label '" + shown(name.text) + "' is defined twice");
      }
      return;
    }
    if (accept(".reg")) return registers();
    if (accept(".loc")) return location();
    if (accept(".pragma")) {
      take();
      expect(";");
      return;
    }
    if (current().is(".shared") || current().is(".local")) {
      return variables(*space_of(take().text), false, kernel_.symbols);
    }
    if (current().kind == TokenKind::word && current().text.starts_with('.')) {
      fail(current(), "the directive '" + shown(current().text) + "' is not supported");
    }
    instruction();
  }

  /// ".reg .b32 %r<76>;" and ".reg .f16 low, high;"
  void registers() {
    if (current().is(".v2") || current().is(".v4")) fail(current(), "vector registers are not supported");
    const Type type = take_type();
    do {
      const Token name = take_word("a register's name");
      if (!accept("<")) {
        declare(std::string(name.text), type, name);
        continue;
      }
      const std::uint64_t count = take_integer("a number of registers", kMostRegisters);
      expect(">");
      for (std::uint64_t i = 0; i < count; ++i) declare(std::string(name.text) + std::to_string(i), type, name);
    } while (accept(","));
    expect(";");
  }

  void declare(const std::string& name, Type type, const Token& at) {
    if (kernel_.registers.size() >= kMostRegisters || ++registers_ > kMostRegistersOfAll) {
      fail(at, "more registers than supported");
    }
    if (!scopes_.back().emplace(name, static_cast<int>(kernel_.registers.size())).second) {
      fail(at, "the register '" + name + "' is declared twice");
    }
    kernel_.registers.push_back({name, type});
  }

  /// ".loc 1 17 3", with ", function_name …, inlined_at 1 20 5" behind it where a call was inlined. Code that comes
  /// from another file than the kernel, such as the toolkit's headers, is said to be where the kernel calls it.
  void location() {
    const Place place = take_place();
    source_ = place.where;
    if (kernel_file_ == 0) kernel_file_ = source_.file;
    const int line = tokens_[at_ - 1].position.line;
    while (current().kind != TokenKind::end && current().position.line == line) {
      if (!accept("inlined_at")) {
        take();
        continue;
      }
      const Place call = take_place();
      const auto outer = called_from_.find(call);  // that call may be in inlined code itself
      const SourceLocation from = outer == called_from_.end() ? call.where : outer->second;
      if (source_.file != kernel_file_) source_ = from;
    }
    called_from_[place] = source_;
  }

  /// File, line and column of a `.loc`.
  struct Place {
    SourceLocation where;
    int column = 0;
    bool operator<(const Place& other) const {
      return std::tie(where.file, where.line, column) < std::tie(other.where.file, other.where.line, other.column);
    }
  };

  Place take_place() {
    Place place;
    place.where.file = static_cast<int>(take_integer("a file number", 1 << 30));
    place.where.line = static_cast<int>(take_integer("a line", 1 << 30));
    place.column = static_cast<int>(take_integer("a column", 1 << 30));
    return place;
  }

  // --- instructions ---------------------------------------------------------------------------------------------

  int find_register(std::string_view name) const {
    // The innermost first. Clang 14, which builds the fuzz targets, cannot read this library's views.
    const auto scope =
        std::find_if(scopes_.rbegin(), scopes_.rend(), [&](const auto& one) { return one.contains(name); });
    return scope == scopes_.rend() ? -1 : scope->find(name)->second;
  }

  void instruction() {
    Instruction instruction;
    instruction.source = source_;
    if (accept("@")) {
      instruction.predicate_negated = accept("!");
      const Token guard = take_word("a predicate register");
      instruction.predicate = find_register(guard.text);
      if (instruction.predicate < 0) fail(guard, "the register '" + shown(guard.text) + "' is not declared");
      if (kernel_.registers[instruction.predicate].type.type_class != TypeClass::predicate) {
        fail(guard, "'" + shown(guard.text) + "' guards an instruction but is not a predicate");
      }
    }
    const Token opcode = take_word("an instruction");
    if (opcode.is("call") || opcode.text.starts_with("call.")) fail(opcode, "calls of functions are not supported");
    instruction.opcode = opcode.text;
    instruction.position = opcode.position;
    while (!accept(";")) {
      instruction.operands.push_back(operand());
      if (accept("|")) {
        Operand pair;
        pair.kind = OperandKind::pair;
        pair.elements = {std::move(instruction.operands.back()), operand()};
        instruction.operands.back() = std::move(pair);
      }
      if (!current().is(";")) expect(",");
    }
    kernel_.instructions.push_back(std::move(instruction));
  }

  Operand operand() {
    if (accept("[")) return address();
    if (accept("{")) return vector();
    if (accept("!")) {
      Operand result = named(take_word("a predicate register"));
      if (result.kind != OperandKind::register_) fail(peek(0), "'!' must be followed by a predicate register");
      result.negated = true;
      return result;
    }
    if (current().is("-") || current().kind != TokenKind::word) return immediate();
    return named(take());
  }

  Operand immediate() {
    const bool negative = accept("-");
    const Token token = take();
    Operand result;
    result.kind = OperandKind::immediate;
    result.bits = token.number;
    switch (token.kind) {
      case TokenKind::integer:
        if (negative) result.bits = ~result.bits + 1;
        break;
      case TokenKind::single:
        result.number = NumberKind::single;
        if (negative) result.bits ^= std::uint64_t{1} << 31;
        break;
      case TokenKind::double_:
        result.number = NumberKind::double_;
        if (negative) result.bits ^= std::uint64_t{1} << 63;
        break;
      default:
        fail(token, "expected an operand, found '" + shown(token.text) + "'");
    }
    return result;
  }

  /// A word as an operand: a register, a special register, a variable, a label, or the sink.
  Operand named(const Token& word) {
    Operand result;
    if (word.is("_")) {
      result.kind = OperandKind::sink;
    } else if (const int index = find_register(word.text); index >= 0) {
      result.kind = OperandKind::register_;
      result.index = index;
    } else if (word.is("WARP_SZ")) {
      result.kind = OperandKind::immediate;
      result.bits = 32;
    } else if (word.text.starts_with('%')) {
      // Special registers are known by what executes them; a misspelt register ends there as well, with its place.
      result.kind = OperandKind::special;
      result.name = word.text;
    } else if (is_variable(word.text)) {
      result.kind = OperandKind::symbol;
      result.name = word.text;
      result.offset = offset();
    } else {
      result.kind = OperandKind::label;
      result.name = word.text;
      pending_labels_.emplace_back(kernel_.instructions.size(), word);
    }
    return result;
  }

  bool is_variable(std::string_view name) const {
    const auto same = [name](const Symbol& symbol) { return symbol.name == name; };
    return std::ranges::any_of(kernel_.symbols, same) || std::ranges::any_of(kernel_.parameters, same) ||
           std::ranges::any_of(module_.symbols, same);
  }

  /// "+8", "-8", "+-8", or nothing.
  std::int64_t offset() {
    std::int64_t sign = 0;
    if (accept("+")) sign = 1;
    if (accept("-")) sign = -1;
    if (sign == 0) return 0;
    return sign * static_cast<std::int64_t>(take_integer("an offset", std::uint64_t{1} << 62));
  }

  Operand address() {
    Operand result;
    result.kind = OperandKind::address;
    if (current().kind == TokenKind::integer) {
      result.offset = static_cast<std::int64_t>(take().number);
    } else {
      const Token base = take_word("an address");
      if (const int index = find_register(base.text); index >= 0) {
        result.index = index;
      } else if (is_variable(base.text)) {
        result.name = base.text;
      } else {
        fail(base, "'" + shown(base.text) + "' is neither a register nor a variable");
      }
      result.offset = offset();
    }
    expect("]");
    return result;
  }

  Operand vector() {
    Operand result;
    result.kind = OperandKind::vector;
    do {
      if (current().is("{") || current().is("[")) fail(current(), "this is not allowed inside {…}");
      result.elements.push_back(operand());
    } while (accept(","));
    expect("}");
    return result;
  }

  void resolve_labels() {
    for (const auto& [instruction, word] : pending_labels_) {
      const auto found = labels_.find(word.text);
      if (found == labels_.end()) {
        fail(word, "'" + shown(word.text) + "' is neither a register, a variable nor a label");
      }
      set_label(kernel_.instructions[instruction].operands, word.text, found->second);
    }
    pending_labels_.clear();
  }

  static void set_label(std::vector<Operand>& operands, std::string_view name, int target) {
    for (Operand& operand : operands) {
      if (operand.kind == OperandKind::label && operand.name == name) operand.index = target;
      set_label(operand.elements, name, target);
    }
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  Module module_;
  Kernel kernel_;
  std::uint64_t registers_ = 0;  // of all kernels so far
  SourceLocation source_;
  int kernel_file_ = 0;                          // that of its first `.loc`
  std::map<Place, SourceLocation> called_from_;  // what was made of every `.loc` of the kernel so far
  std::vector<std::map<std::string, int, std::less<>>> scopes_;
  std::map<std::string, int, std::less<>> labels_;
  std::vector<std::pair<std::size_t, Token>> pending_labels_;
};

}  // namespace

std::optional<Type> type_of_suffix(std::string_view suffix) {
  for (const auto& [name, type] : kTypes) {
    if (name == suffix) return type;
  }
  return std::nullopt;
}

const Kernel* Module::find_kernel(std::string_view name) const {
  const auto found = std::ranges::find(kernels, name, &Kernel::name);
  return found == kernels.end() ? nullptr : &*found;
}

std::string Module::source_name(int number) const {
  const auto found = std::ranges::find(source_files, number, &SourceFile::number);
  return found == source_files.end() ? std::string() : found->name;
}

Module parse_module(std::string_view source, const std::string& file) { return Parser(source, file).run(); }

}  // namespace convladder::ptx

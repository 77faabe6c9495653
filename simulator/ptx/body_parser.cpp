#include "simulator/ptx/body_parser.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "simulator/ptx/opcode_order.hpp"
#include "simulator/ptx/operand_types.hpp"
#include "simulator/ptx/words.hpp"

namespace convladder::ptx {
namespace {

// Limits of the memory and the stack that a damaged file can ask for.
constexpr std::uint64_t kMostRegisters = 1 << 20;  // of a kernel
constexpr std::uint64_t kMostNumberedLabels = 65536;
constexpr std::uint64_t kMostRegistersOfAll = 1 << 22;  // of a module's kernels together
constexpr std::size_t kDeepestScopes = 256;             // of a body

bool is_call(std::string_view opcode) { return opcode == "call" || opcode.starts_with("call."); }
/// Whether operands may be elements of arrays: "ld.global.u32 r, table[3]".
bool accesses_memory(std::string_view opcode) { return opcode.starts_with("ld") || opcode.starts_with("st"); }
bool is_branch(std::string_view opcode) { return opcode == "bra" || opcode.starts_with("bra."); }
bool is_return(std::string_view opcode) { return opcode == "ret" || opcode.starts_with("ret."); }

Name variable_name(const Symbol& symbol, int element_bytes) {
  return {.kind = Name::Kind::variable, .element_bytes = element_bytes, .unique = symbol.name};
}

}  // namespace

void BodyParser::take(const std::vector<Parameter>& parameters, const std::vector<Parameter>& results) {
  names_.begin_body();
  label_scopes_.assign(1, {});
  declare_parameters(parameters);
  declare_parameters(results);
  for (const Parameter& result : results) {
    if (result.register_type) register_results_.push_back(result);
  }
  load_register_parameters(parameters);
  open_scope();
  for (std::size_t depth = 1; depth > 0;) {
    if (tokens_.at_end()) tokens_.fail_expected("the kernel's '}'");
    const Token at = tokens_.current();
    if (tokens_.accept("{")) {
      if (++depth > kDeepestScopes) tokens_.fail(at, "braces nested deeper than supported");
      open_scope();
    } else if (tokens_.accept("}")) {
      --depth;
      close_scope();
    } else {
      statement();
    }
  }
  end_with_trap();
  resolve_labels();
}

void BodyParser::open_scope() {
  names_.open_scope();
  label_scopes_.push_back({.outer = scope_, .labels = {}, .tables = {}});
  scope_ = label_scopes_.size() - 1;
}

void BodyParser::close_scope() {
  names_.close_scope();
  scope_ = label_scopes_[scope_].outer;
}

/// Adds a trap, as some compilers write nothing after the call of a function that does not return.
void BodyParser::end_with_trap() {
  if (kernel_.instructions.empty()) return;
  const Instruction& last = kernel_.instructions.back();
  if (!is_call(last.opcode) || last.predicate >= 0) return;
  Instruction trap;
  trap.opcode = "trap";
  trap.position = last.position;
  add(std::move(trap));
}

void BodyParser::declare_parameters(const std::vector<Parameter>& parameters) {
  for (const Parameter& parameter : parameters) {
    const Symbol& symbol = parameter.symbol;
    ++used_[symbol.name];
    if (parameter.register_type) {
      declare_register(symbol.name, *parameter.register_type, tokens_.current());
    } else if (symbol.name != "_" && !names_.add(symbol.name, variable_name(symbol, 1))) {
      throw PtxError(tokens_.file(), symbol.position, "the parameter '" + shown(symbol.name) + "' is declared twice");
    }
  }
}

/// Adds instructions for parameters and results in registers, which the text does not have: parameters are read into
/// registers at the beginning, and results written from them by every `ret`, at the place of the function.
void BodyParser::load_register_parameters(const std::vector<Parameter>& parameters) {
  for (const Parameter& parameter : parameters) {
    if (parameter.register_type) add(parameter_access("ld.param.b", parameter, kernel_.position));
  }
}

void BodyParser::store_register_results(const Instruction& at) {
  for (const Parameter& result : register_results_) {
    Instruction store = parameter_access("st.param.b", result, at.position);
    std::swap(store.operands[0], store.operands[1]);
    store.predicate = at.predicate;
    store.predicate_negated = at.predicate_negated;
    add(std::move(store));
  }
}

Instruction BodyParser::parameter_access(const char* opcode, const Parameter& parameter, Position position) const {
  Instruction access;
  access.opcode = opcode + std::to_string(8 * parameter.symbol.bytes);
  access.position = position;
  Operand value;
  value.kind = OperandKind::register_;
  value.index = names_.find(parameter.symbol.name)->index;
  Operand address;
  address.kind = OperandKind::address;
  address.name = parameter.symbol.name;
  access.operands = {std::move(value), std::move(address)};
  return access;
}

void BodyParser::statement() {
  if (tokens_.accept(";") || label()) return;
  if (tokens_.accept(".reg")) return registers();
  if (tokens_.accept(".loc")) return places_.take(tokens_);
  if (tokens_.accept(".pragma")) return pragma();
  const Token word = tokens_.current();
  if (word.kind == TokenKind::word && word.text.starts_with('.')) {
    const auto space = space_of_word(word.text);
    if (!space) tokens_.fail(word, "the directive '" + shown(word.text) + "' is not supported");
    tokens_.take();
    return variables(*space);
  }
  instruction();
}

/// One pragma changes what is seen: which bytes of the next load are used. nvcc writes it where a load is wider than
/// what the program asks for.
void BodyParser::pragma() {
  constexpr std::string_view kUsedBytes = "used_bytes_mask ";
  const Token token = tokens_.take();
  std::string_view text = token.text;
  if (text.starts_with('"')) text.remove_prefix(1);
  if (text.starts_with(kUsedBytes)) {
    text.remove_prefix(kUsedBytes.size());
    const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    if (is_hexadecimal) text.remove_prefix(2);
    std::from_chars(text.data(), text.data() + text.size(), used_bytes_, is_hexadecimal ? 16 : 10);
  }
  tokens_.expect(";");
}

bool BodyParser::label() {
  if (tokens_.current().kind != TokenKind::word || !tokens_.peek(1).is(":")) return false;
  const Token name = tokens_.take();
  tokens_.take();
  const Token what = tokens_.current();
  if (tokens_.accept(".branchtargets")) {
    branch_targets(name);
    return true;
  }
  if (what.is(".callprototype") || what.is(".calltargets")) {
    // The called function itself declares its parameters.
    while (!tokens_.at_end() && !tokens_.accept(";")) tokens_.take();
    return true;
  }
  if (!label_scopes_[scope_].labels.emplace(name.text, static_cast<int>(kernel_.instructions.size())).second) {
    tokens_.fail(name, "the label '" + shown(name.text) + "' is defined twice");
  }
  return true;
}

/// Reads "A, B, C<2>;" after "table: .branchtargets".
void BodyParser::branch_targets(const Token& name) {
  Operand table;
  table.kind = OperandKind::vector;
  do {
    Operand target;
    target.kind = OperandKind::label;
    const Token label = tokens_.take_word("a label");
    target.name = label.text;
    target.position = label.position;
    if (!tokens_.accept("<")) {
      table.elements.push_back(std::move(target));
      continue;
    }
    const std::uint64_t room =
        kMostNumberedLabels - std::min(kMostNumberedLabels, std::uint64_t{table.elements.size()});
    const std::uint64_t count = tokens_.take_integer("a number of labels", room);  // "L<3>": L0, L1, L2
    tokens_.expect(">");
    for (std::uint64_t i = 0; i < count; ++i) {
      table.elements.push_back(target);
      table.elements.back().name += std::to_string(i);
    }
  } while (tokens_.accept(","));
  tokens_.expect(";");
  label_scopes_[scope_].tables.emplace(name.text, std::move(table));
}

/// Reads ".reg .b32 %r<76>;", ".reg .f16 low, high;" and ".reg .v4 .f32 %v;".
void BodyParser::registers() {
  int elements = 1;
  if (tokens_.current().is(".v2") || tokens_.current().is(".v4")) elements = tokens_.take().is(".v2") ? 2 : 4;
  const Type type = take_type(tokens_);
  if (tokens_.accept(".v2")) elements = 2;
  if (tokens_.accept(".v4")) elements = 4;
  do {
    const Token name = tokens_.take_name("a register's name");
    std::optional<std::uint64_t> count;
    if (tokens_.accept("<")) {
      count = tokens_.take_integer("a number of registers", kMostRegisters);
      tokens_.expect(">");
    }
    for (std::uint64_t i = 0; i < count.value_or(1); ++i) {
      const std::string one = std::string(name.text) + (count ? std::to_string(i) : "");
      if (elements == 1) {
        declare_register(one, type, name);
      } else {
        declare_vector(one, type, elements, name);
      }
    }
  } while (tokens_.accept(","));
  tokens_.expect(";");
}

void BodyParser::declare_register(const std::string& name, Type type, const Token& at) {
  if (kernel_.registers.size() >= kMostRegisters || ++registers_ > kMostRegistersOfAll) {
    tokens_.fail(at, "more registers than supported");
  }
  if (!names_.add(name, {.index = static_cast<int>(kernel_.registers.size())})) {
    tokens_.fail(at, "the register '" + shown(name) + "' is declared twice");
  }
  kernel_.registers.push_back({name, type});
}

/// Declares a vector, whose elements have names of their own: "%v.x" is also "%v.r".
void BodyParser::declare_vector(const std::string& name, Type type, int elements, const Token& at) {
  constexpr std::string_view places = "xyzw";
  constexpr std::string_view colors = "rgba";
  const auto first = static_cast<int>(kernel_.registers.size());
  for (int i = 0; i < elements; ++i) {
    declare_register(name + '.' + places[static_cast<std::size_t>(i)], type, at);
    names_.add(name + '.' + colors[static_cast<std::size_t>(i)], {.index = first + i});
  }
  if (!names_.add(name, {.kind = Name::Kind::vector, .index = first, .elements = elements})) {
    tokens_.fail(at, "the register '" + shown(name) + "' is declared twice");
  }
}

void BodyParser::variables(Space space) {
  take_variables(tokens_, names_, space == Space::param ? Space::call_param : space, false,
                 [this](Symbol symbol, int element_bytes) {
                   const std::string name = symbol.name;
                   const bool of_device = symbol.space == Space::global || symbol.space == Space::constant;
                   std::vector<Symbol>& to = of_device ? module_.symbols : kernel_.symbols;
                   // Nested and adjacent scopes may reuse a name.
                   if (of_device) symbol.name = kernel_.name + ':' + name;
                   if (const int before = used_[symbol.name]++; before > 0) symbol.name += ':' + std::to_string(before);
                   if (!names_.add(name, variable_name(symbol, element_bytes))) {
                     throw PtxError(tokens_.file(), symbol.position, "'" + shown(name) + "' is declared twice");
                   }
                   to.push_back(std::move(symbol));
                 });
}

// --- instructions ---------------------------------------------------------------------------------------------------

void BodyParser::guard(Instruction& instruction) {
  if (!tokens_.accept("@")) return;
  instruction.predicate_negated = tokens_.accept("!");
  const Token word = tokens_.take_word("a predicate register");
  const Name* const name = names_.find(word.text);
  if (name == nullptr || name->kind != Name::Kind::register_) {
    tokens_.fail(word, "the register '" + shown(word.text) + "' is not declared");
  }
  instruction.predicate = name->index;
  if (kernel_.registers[static_cast<std::size_t>(name->index)].type.type_class != TypeClass::predicate) {
    tokens_.fail(word, "'" + shown(word.text) + "' guards an instruction but is not a predicate");
  }
}

void BodyParser::instruction() {
  Instruction instruction;
  guard(instruction);
  const Token opcode = tokens_.take_word("an instruction");
  instruction.opcode = opcode.text;
  instruction.position = opcode.position;
  while (tokens_.current().kind == TokenKind::word && tokens_.current().text.starts_with('.')) {
    instruction.opcode += tokens_.take().text;  // "add .s32"
  }
  const auto [known, is_new] = ordered_opcodes_.try_emplace(instruction.opcode);
  if (is_new) known->second = in_order(instruction.opcode);
  instruction.opcode = known->second;
  if (is_call(instruction.opcode)) {
    call(instruction);
  } else {
    while (!tokens_.accept(";")) {
      instruction.operands.push_back(operands_.take_with_pair());
      Operand& operand = instruction.operands.back();
      if (operand.kind == OperandKind::symbol && accesses_memory(instruction.opcode))
        operand.kind = OperandKind::address;
      if (!tokens_.current().is(";")) tokens_.expect(",");
    }
  }
  if (const std::string problem = type_problem(instruction, kernel_.registers); !problem.empty()) {
    tokens_.fail(opcode, "'" + instruction.opcode + "': " + problem);
  }
  if (is_return(instruction.opcode)) store_register_results(instruction);
  add(std::move(instruction));
}

/// Reads "(results), name, (arguments), prototype"; missing lists are empty vectors. Gives three operands: callee,
/// results, arguments.
void BodyParser::call(Instruction& instruction) {
  Operand results;
  results.kind = OperandKind::vector;
  Operand arguments = results;
  if (tokens_.current().is("(")) {
    results.elements = call_list();
    tokens_.expect(",");
  }
  const Token word = tokens_.current();
  Operand callee = operands_.take();
  if (callee.kind != OperandKind::function && callee.kind != OperandKind::register_) {
    tokens_.fail(word, "'" + shown(word.text) + "' is neither a function nor a register");
  }
  if (tokens_.accept(",")) {
    if (tokens_.current().is("(")) {
      arguments.elements = call_list();
      if (tokens_.accept(",")) tokens_.take_word("a prototype");
    } else {
      tokens_.take_word("a prototype");
    }
  }
  tokens_.expect(";");
  instruction.operands = {std::move(callee), std::move(results), std::move(arguments)};
}

std::vector<Operand> BodyParser::call_list() {
  std::vector<Operand> list;
  tokens_.expect("(");
  while (!tokens_.accept(")")) {
    list.push_back(operands_.take());
    if (!tokens_.current().is(")")) tokens_.expect(",");
  }
  return list;
}

void BodyParser::add(Instruction instruction) {
  instruction.source = places_.current();
  instruction.used_bytes = std::exchange(used_bytes_, 0);
  kernel_.instructions.push_back(std::move(instruction));
  scope_of_instruction_.push_back(scope_);
}

// --- labels ---------------------------------------------------------------------------------------------------------

void BodyParser::resolve_labels() {
  for (std::size_t i = 0; i < kernel_.instructions.size(); ++i) {
    Instruction& instruction = kernel_.instructions[i];
    for (Operand& operand : instruction.operands) {
      if (is_branch(instruction.opcode) && operand.kind == OperandKind::function) operand.kind = OperandKind::label;
      resolve(operand, scope_of_instruction_[i], false);
    }
  }
}

/// Finds the label of an operand, from the braces around it outwards: those inside a scope may repeat a name.
void BodyParser::resolve(Operand& operand, std::size_t scope, bool in_table) {
  for (bool is_known = operand.kind != OperandKind::label; !is_known; scope = label_scopes_[scope].outer) {
    const LabelScope& known = label_scopes_[scope];
    if (const auto found = known.labels.find(operand.name); found != known.labels.end()) {
      operand.index = found->second;
      is_known = true;
    } else if (const auto table = known.tables.find(operand.name); table != known.tables.end() && !in_table) {
      operand = table->second;
      in_table = true;
      break;  // its labels are those of the scope that declares it
    } else if (scope == 0) {
      throw PtxError(tokens_.file(), operand.position,
                     "'" + shown(operand.name) + "' is neither a register, a variable nor a label");
    }
  }
  for (Operand& element : operand.elements) resolve(element, scope, in_table);
}

}  // namespace convladder::ptx

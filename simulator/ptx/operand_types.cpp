#include "simulator/ptx/operand_types.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "simulator/ptx/words.hpp"

namespace convladder::ptx {
namespace {

/// The types of an instruction's operands, one letter for each: `T` the last type of the opcode, `D` the first, `W`
/// twice as many bits as `T`, `w` and `d` as `T` and `D` for a register that may be wider, `i` 32 bits that are no
/// float, `b` 32 bits, `l` 64 bits that are no float, `p` a predicate, `.` nothing is known. Operands behind the last
/// letter are not looked at.
struct Roles {
  std::string_view name;  ///< the words that name the instruction
  std::string_view operands;
};
constexpr Roles kRoles[] = {
    {"add", "TTT"},
    {"sub", "TTT"},
    {"mul", "TTT"},
    {"mul.wide", "WTT"},
    {"mad", "TTTT"},
    {"mad.wide", "WTTW"},
    {"mul24", "TTT"},
    {"mad24", "TTTT"},
    {"sad", "TTTT"},
    {"div", "TTT"},
    {"rem", "TTT"},
    {"abs", "TT"},
    {"neg", "TT"},
    {"min", "TTTT"},
    {"max", "TTTT"},
    {"addc", "TTT"},
    {"subc", "TTT"},
    {"madc", "TTTT"},
    {"copysign", "TTT"},
    {"fma", "TTTT"},
    {"rcp", "TT"},
    {"sqrt", "TT"},
    {"rsqrt", "TT"},
    {"sin", "TT"},
    {"cos", "TT"},
    {"lg2", "TT"},
    {"ex2", "TT"},
    {"tanh", "TT"},
    {"brev", "TT"},
    {"fns", "TTTT"},
    {"and", "TTT"},
    {"or", "TTT"},
    {"xor", "TTT"},
    {"not", "TT"},
    {"cnot", "TT"},
    {"lop3", "TTTT"},
    {"prmt", "TTTT"},
    {"mov", "TT"},
    {"popc", "iT"},
    {"clz", "iT"},
    {"bfind", "iT"},
    {"bfe", "TTii"},
    {"bfi", "TTTii"},
    {"szext", "TTi"},
    {"bmsk", "iii"},
    {"dp4a", "iTTi"},
    {"dp2a", "iTTi"},
    {"testp", "pT"},
    {"set", "DTTp"},
    {"setp", "pTTp"},
    {"selp", "TTTp"},
    {"slct", "DDDT"},
    {"shf", "TTTi"},
    {"shl", "TTi"},
    {"shr", "TTi"},
    {"cvt", "dwww"},
    {"cvt.pack", "...."},
    {"cvt.rs", "...."},
    {"cvta", "TT"},
    {"mapa", "TTi"},
    {"getctarank", "iT"},
    {"isspacep", "p."},
    {"ld", "w."},
    {"ldu", "w."},
    {"st", ".w"},
    {"st.async", ".T"},
    {"st.bulk", "."},
    {"atom", "T.TT"},
    {"red", ".T"},
    {"red.async", ".T"},
    {"shfl", "TTbii"},
    {"vote", "Tpi"},
    {"match", "iTi"},
    {"redux", "TTi"},
    {"activemask", "T"},
    {"elect", "ii"},
    {"nanosleep", "i"},
    {"mbarrier.init", ".i"},
    {"mbarrier.test_wait", "p.l"},
    {"mbarrier.try_wait", "p.l"},
    {"mbarrier.test_wait.parity", "p.i"},
    {"mbarrier.try_wait.parity", "p.ii"},
    {"mbarrier.arrive", "l.i"},
    {"mbarrier.arrive_drop", "l.i"},
    {"mbarrier.expect_tx", ".i"},
    {"mbarrier.complete_tx", ".i"},
    {"mbarrier.pending_count", "il"},
};

/// A type as this file compares it: those with several numbers in a register, and formats of fewer bits, are only held
/// by registers of bits.
struct Wanted {
  Type type;
  bool is_packed = false;
  std::string_view text;
};

/// The type of a word such as "f32", "bf16x2", "s16x2", "tf32"; none for a modifier.
std::optional<Wanted> wanted_of(std::string_view word) {
  constexpr std::pair<std::string_view, int> kPacked[] = {{"bf16", 16},   {"bf16x2", 32}, {"tf32", 32},
                                                          {"s16x2", 32},  {"u16x2", 32},  {"f32x2", 64},
                                                          {"e4m3x2", 16}, {"e5m2x2", 16}, {"ue8m0x2", 16}};
  std::string suffix(1, '.');
  suffix += word;
  if (const auto type = type_of_suffix(suffix)) return Wanted{*type, false, word};
  for (const auto& [name, bits] : kPacked) {
    if (name == word) return Wanted{{TypeClass::bits, bits}, true, word};
  }
  return std::nullopt;
}

bool is_integer(const Type& type) {
  return type.type_class == TypeClass::unsigned_ || type.type_class == TypeClass::signed_;
}
bool is_bits(const Type& type) { return type.type_class == TypeClass::bits; }

/// Whether a register fits an instruction's type.
bool fits(const Wanted& wanted, const Type& found, bool may_be_wider) {
  const Type& type = wanted.type;
  const bool is_predicate = type.type_class == TypeClass::predicate;
  if (is_predicate || found.type_class == TypeClass::predicate) return is_predicate && found == type;
  if (found.bits < type.bits || (found.bits > type.bits && !may_be_wider)) return false;
  const bool is_pair = found.type_class == TypeClass::floating_pair;
  if (wanted.is_packed) return is_bits(found) || (is_pair && wanted.text.ends_with("16x2") && wanted.text[0] != 'b');
  if (is_bits(type) || is_bits(found)) return true;
  if (is_integer(type)) return is_integer(found) || is_pair;
  return type.type_class == found.type_class && type.bits == found.bits;
}

bool is_word_of(std::string_view opcode, std::string_view name) {
  return opcode.starts_with(name) && (opcode.size() == name.size() || opcode[name.size()] == '.');
}

std::string name_of(const Type& type) {
  if (type.type_class == TypeClass::predicate) return "pred";
  if (type.type_class == TypeClass::floating_pair) return "f16x2";
  constexpr std::string_view kLetters = "busf";
  return kLetters[static_cast<std::size_t>(type.type_class)] + std::to_string(type.bits);
}

const Roles* roles_of(std::string_view opcode) {
  const Roles* found = nullptr;
  for (const Roles& roles : kRoles) {
    if (is_word_of(opcode, roles.name) && (found == nullptr || roles.name.size() > found->name.size())) found = &roles;
  }
  return found;
}

std::vector<Wanted> types_of(std::string_view opcode) {
  std::vector<Wanted> types;
  for (std::size_t begin = 0; begin <= opcode.size();) {
    const std::size_t end = std::min(opcode.find('.', begin), opcode.size());
    if (const auto type = wanted_of(opcode.substr(begin, end - begin))) types.push_back(*type);
    begin = end + 1;
  }
  return types;
}

/// The type that an operand of a role has to have; none: any.
std::optional<Wanted> wanted_by(char role, const std::vector<Wanted>& types) {
  switch (role) {
    case 'p':
      return Wanted{{TypeClass::predicate, 1}, false, "pred"};
    case 'i':
      return Wanted{{TypeClass::unsigned_, 32}, false, "u32"};
    case 'b':
      return Wanted{{TypeClass::bits, 32}, false, "b32"};
    case 'l':
      return Wanted{{TypeClass::unsigned_, 64}, false, "u64"};
    case '.':
      return std::nullopt;
    default:
      break;
  }
  if (types.empty()) return std::nullopt;
  if (role == 'D' || role == 'd') return types.front();
  Wanted type = types.back();
  if (role == 'W') {
    type.type.bits *= 2;
    type.text = type.type.bits == 64 ? "64 bits" : "32 bits";
  }
  return type;
}

}  // namespace

std::string type_problem(const Instruction& instruction, std::span<const Register> registers) {
  const Roles* const roles = roles_of(instruction.opcode);
  if (roles == nullptr) return "";
  const std::vector<Wanted> types = types_of(instruction.opcode);
  // A conversion may name a type that is not known here.
  if (roles->operands.find_first_of("Dd") != std::string_view::npos && types.size() != 2) return "";
  // Sums of float32 with narrower numbers have a type for each operand.
  const bool is_mixed = types.size() > 1 && roles->operands.find_first_of("Ddp") == std::string_view::npos;
  if (is_mixed && instruction.opcode.find('f') != std::string::npos) return "";
  const auto problem_of = [&](const Operand& operand, char role) -> std::string {
    if (operand.kind != OperandKind::register_ || !operand.selector.empty()) return "";
    const auto wanted = wanted_by(role, types);
    const Register& found = registers[static_cast<std::size_t>(operand.index)];
    const bool may_be_wider = role == 'w' || role == 'd';
    if (!wanted || fits(*wanted, found.type, may_be_wider)) return "";
    return "the register " + found.name + " (." + name_of(found.type) + ") does not fit " + (role == 'W' ? "" : ".") +
           std::string(wanted->text);
  };
  const bool has_policy = instruction.opcode.find("L2::cache_hint") != std::string::npos;  // the last operand
  const std::size_t count = instruction.operands.size() - (has_policy && !instruction.operands.empty() ? 1 : 0);
  for (std::size_t i = 0; i < std::min(roles->operands.size(), count); ++i) {
    const Operand& operand = instruction.operands[i];
    const char role = roles->operands[i];
    std::string problem = problem_of(operand, role);
    if (operand.kind == OperandKind::pair && operand.elements.size() == 2) {
      problem = problem_of(operand.elements[0], role);
      if (problem.empty()) problem = problem_of(operand.elements[1], 'p');
    }
    if (!problem.empty()) return problem;
  }
  return "";
}

}  // namespace convladder::ptx

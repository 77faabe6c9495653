#include "simulator/checkers/demanded_bits.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <string_view>

#include "simulator/instructions/memory/memory_access.hpp"
#include "support/text.hpp"

namespace convladder::simulated {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;

constexpr std::uint64_t kAll = ~std::uint64_t{0};

std::uint64_t low(int bits) { return bits >= 64 ? kAll : (std::uint64_t{1} << std::max(0, bits)) - 1; }
/// All bits up to the highest one: carries go upward.
std::uint64_t filled(std::uint64_t bits) { return low(std::bit_width(bits)); }

std::uint64_t shifted_left(std::uint64_t bits, std::uint64_t by) { return by >= 64 ? 0 : bits << by; }
std::uint64_t shifted_right(std::uint64_t bits, std::uint64_t by) { return by >= 64 ? 0 : bits >> by; }

bool is_integer(const ptx::Type& type) {
  using enum ptx::TypeClass;
  return type.type_class == bits || type.type_class == unsigned_ || type.type_class == signed_;
}

/// The demands of a kernel while they grow.
class Demands {
 public:
  explicit Demands(const ptx::Kernel& kernel) : kernel_(kernel), of_register_(kernel.registers.size()) {}

  std::vector<std::uint64_t> settled() {
    do {
      has_changed_ = false;
      for (auto one = kernel_.instructions.rbegin(); one != kernel_.instructions.rend(); ++one) follow(*one);
    } while (has_changed_);
    return of_register_;
  }

 private:
  void demand(const Operand& operand, std::uint64_t bits) {
    const bool has_register = operand.kind == OperandKind::register_ || operand.kind == OperandKind::address;
    if (has_register && operand.index >= 0) {
      std::uint64_t& known = of_register_[static_cast<std::size_t>(operand.index)];
      has_changed_ = has_changed_ || (bits & ~known) != 0;
      known |= bits;
    }
    for (const Operand& element : operand.elements) demand(element, kAll);
  }
  std::uint64_t of(const Operand& destination) const {
    if (destination.kind == OperandKind::sink) return 0;
    if (destination.kind != OperandKind::register_ || destination.index < 0) return kAll;
    return of_register_[static_cast<std::size_t>(destination.index)];
  }

  void follow(const Instruction& instruction) {
    if (instruction.predicate >= 0) of_register_[static_cast<std::size_t>(instruction.predicate)] = kAll;
    const std::span<const Operand> operands = instruction.operands;
    if (operands.empty()) return;
    const std::vector<std::string> words = split(instruction.opcode, '.');
    if (words[0] == "ld" && words.size() > 1 && words[1] != "param") {
      for (const Operand& source : operands.subspan(1)) demand(source, kAll);
      return;
    }
    if (words[0] == "st") return store(instruction);
    if (!computes(words, operands)) {
      for (const Operand& operand : operands) demand(operand, kAll);
    }
  }

  void store(const Instruction& instruction) {
    const auto access = parse_memory_access(instruction.opcode);
    const auto& operands = instruction.operands;
    demand(operands[0], kAll);
    if (operands.size() < 2) return;
    if (operands[1].kind == OperandKind::register_ && access && !access->is_128_bit) {
      demand(operands[1], low(access->type.bits));
    } else if (access && !access->is_128_bit) {
      for (const Operand& element : operands[1].elements) demand(element, low(access->type.bits));
    } else {
      demand(operands[1], kAll);
    }
    for (const Operand& other : std::span(operands).subspan(2)) demand(other, kAll);
  }

  /// Whether it is known how the bits of the first operand depend on those of the others, and then demands these.
  bool computes(const std::vector<std::string>& words, std::span<const Operand> operands) {
    const std::string& name = words[0];
    const auto type = ptx::type_of_suffix("." + words.back());
    if (!type || operands.size() < 2 || type->bits > 64) return false;
    const std::uint64_t wanted = of(operands[0]);
    const auto is_number = [&](std::size_t at) {
      return at < operands.size() && operands[at].kind == OperandKind::immediate;
    };
    if (name == "mov") return move(operands, *type);
    if (name == "cvt") return convert(words, operands, *type);
    if (!is_integer(*type)) return false;
    if (name == "and" && (is_number(1) || is_number(2))) {
      const std::size_t number = is_number(2) ? 2 : 1;
      demand(operands[3 - number], wanted & operands[number].bits & low(type->bits));
      return true;
    }
    if (name == "and" || name == "or" || name == "xor" || name == "not") {
      for (const Operand& source : operands.subspan(1)) demand(source, wanted & low(type->bits));
      return true;
    }
    const bool is_sum = (name == "add" || name == "sub") && words.size() == 2;
    if (is_sum || (name == "mul" && words.size() == 3 && words[1] == "lo")) {
      for (const Operand& source : operands.subspan(1)) demand(source, filled(wanted) & low(type->bits));
      return true;
    }
    if (name == "shl" && is_number(2)) {
      demand(operands[1], shifted_right(wanted & low(type->bits), operands[2].bits));
      return true;
    }
    if (name == "shr" && is_number(2)) {
      std::uint64_t bits = shifted_left(wanted, operands[2].bits);
      if (type->type_class == ptx::TypeClass::signed_) bits |= std::uint64_t{1} << (type->bits - 1);
      demand(operands[1], bits & low(type->bits));
      return true;
    }
    if (name == "bfe" && operands.size() == 4 && is_number(2) && is_number(3) &&
        type->type_class == ptx::TypeClass::unsigned_) {
      demand(operands[1], shifted_left(low(static_cast<int>(operands[3].bits & 0xff)), operands[2].bits & 0xff));
      return true;
    }
    if (name == "selp" && operands.size() == 4) {
      demand(operands[1], wanted);
      demand(operands[2], wanted);
      demand(operands[3], kAll);
      return true;
    }
    if (name == "shfl" && operands[0].kind == OperandKind::register_) {
      demand(operands[1], wanted);  // of another lane, bit by bit
      for (const Operand& other : operands.subspan(2)) demand(other, kAll);
      return true;
    }
    if (name == "shfl" && operands[0].kind == OperandKind::pair && !operands[0].elements.empty()) {
      demand(operands[1], of(operands[0].elements[0]));
      for (const Operand& other : operands.subspan(2)) demand(other, kAll);
      return true;
    }
    if (name == "setp" && operands.size() == 3) {
      for (const Operand& source : operands.subspan(1)) demand(source, low(type->bits));
      return true;
    }
    return false;
  }

  bool move(std::span<const Operand> operands, const ptx::Type& type) {
    const Operand& to = operands[0];
    const Operand& from = operands[1];
    if (to.kind == OperandKind::vector) {  // the parts of a register, the lowest first
      const int bits = type.bits / static_cast<int>(std::max<std::size_t>(1, to.elements.size()));
      std::uint64_t wanted = 0;
      for (std::size_t i = 0; i < to.elements.size(); ++i) {
        wanted |= shifted_left(of(to.elements[i]) & low(bits), i * static_cast<std::size_t>(bits));
      }
      demand(from, wanted);
      return true;
    }
    const std::uint64_t wanted = of(to);
    if (from.kind == OperandKind::vector) {
      const int bits = type.bits / static_cast<int>(std::max<std::size_t>(1, from.elements.size()));
      for (std::size_t i = 0; i < from.elements.size(); ++i) {
        demand(from.elements[i], shifted_right(wanted, i * static_cast<std::size_t>(bits)) & low(bits));
      }
      return true;
    }
    demand(from, wanted);
    return true;
  }

  /// Between integers: the low bits are the same, and the sign is copied upward.
  bool convert(const std::vector<std::string>& words, std::span<const Operand> operands, const ptx::Type& from) {
    if (words.size() != 3) return false;  // with a rounding or a saturation
    const auto to = ptx::type_of_suffix("." + words[1]);
    if (!to || !is_integer(*to) || !is_integer(from)) return false;
    const std::uint64_t wanted = of(operands[0]);
    std::uint64_t bits = wanted & low(std::min(to->bits, from.bits));
    const bool is_extended = from.type_class == ptx::TypeClass::signed_ && (wanted & ~low(from.bits)) != 0;
    if (is_extended) bits |= std::uint64_t{1} << (from.bits - 1);
    demand(operands[1], bits);
    return true;
  }

  const ptx::Kernel& kernel_;
  std::vector<std::uint64_t> of_register_;
  bool has_changed_ = false;
};

}  // namespace

std::vector<std::uint64_t> demanded_bits(const ptx::Kernel& kernel) { return Demands(kernel).settled(); }

std::uint32_t demanded_bytes(const ptx::Kernel& kernel, int load, const std::vector<std::uint64_t>& demanded) {
  constexpr std::uint32_t kAllBytes = ~std::uint32_t{0};
  const Instruction& loading = kernel.instructions[static_cast<std::size_t>(load)];
  const auto access = parse_memory_access(loading.opcode);
  if (!access || access->is_store || access->is_128_bit || loading.operands.empty()) return kAllBytes;
  const int bytes = access->type.bytes();
  const Operand& destination = loading.operands[0];
  const std::span<const Operand> elements = destination.kind == OperandKind::vector
                                                ? std::span<const Operand>(destination.elements)
                                                : std::span(&destination, 1);
  if (bytes * static_cast<int>(elements.size()) > 32) return kAllBytes;
  std::uint32_t used = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i].kind == OperandKind::sink) continue;
    if (elements[i].kind != OperandKind::register_ || elements[i].index < 0) return kAllBytes;
    std::uint64_t bits = demanded[static_cast<std::size_t>(elements[i].index)];
    const bool is_extended =
        access->type.type_class == ptx::TypeClass::signed_ && (bits & ~low(access->type.bits)) != 0;
    if (is_extended) bits |= std::uint64_t{1} << (access->type.bits - 1);
    for (int byte = 0; byte < bytes; ++byte) {
      if ((bits >> (8 * byte) & 0xffU) != 0) used |= std::uint32_t{1} << (static_cast<int>(i) * bytes + byte);
    }
  }
  return used;
}

}  // namespace convladder::simulated

#include "simulator/checkers/written_allocations.hpp"

#include <algorithm>
#include <bitset>
#include <cstring>
#include <string_view>

#include "simulator/instructions/textures/texture_opcode.hpp"

namespace convladder::simulated {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;

/// The origins of a value: a bit for each parameter, and one for memory and variables.
constexpr std::size_t kMostParameters = 127;
constexpr std::size_t kElsewhere = kMostParameters;
using Origin = std::bitset<kMostParameters + 1>;

/// How far behind its allocation an address may point when passed as a parameter: arithmetic leads it back.
constexpr std::uint64_t kFarthestBehind = std::uint64_t{1} << 32;

bool has_part(std::string_view opcode, std::string_view part) {
  for (std::size_t at = opcode.find(part); at != std::string_view::npos; at = opcode.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    if (at > 0 && opcode[at - 1] == '.' && (end == opcode.size() || opcode[end] == '.' || opcode[end] == ':'))
      return true;
  }
  return false;
}

/// Instructions with an address that write nothing.
bool only_reads(std::string_view opcode) {
  constexpr std::string_view words[] = {"ld.",           "ldu.",    "ldmatrix",     "wmma.load", "cp.async", "prefetch",
                                        "applypriority", "discard", "createpolicy", "txq",       "suq"};
  return reads_texels(opcode) ||
         std::ranges::any_of(words, [opcode](std::string_view word) { return opcode.starts_with(word); });
}

bool is_load(std::string_view opcode) { return opcode.starts_with("ld.") || opcode.starts_with("ldu."); }

/// Any instruction with an address in global or generic memory that is not known to only read.
bool may_write_global(const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  if (opcode.starts_with("cp.async.bulk.global") || opcode.starts_with("cp.reduce")) return true;
  if (opcode.starts_with("cp.async.bulk.tensor") && has_part(opcode, "bulk_group")) return true;
  if (opcode.starts_with("tensormap.cp_fenceproxy")) return true;
  if (only_reads(opcode)) return false;
  if (has_part(opcode, "shared") || has_part(opcode, "local")) return false;
  return std::ranges::any_of(instruction.operands,
                             [](const Operand& operand) { return operand.kind == OperandKind::address; });
}

class Origins {
 public:
  explicit Origins(const ptx::Kernel& kernel) : kernel_(kernel), of_register_(kernel.registers.size()) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const Instruction& instruction : kernel.instructions) changed = follow(instruction) || changed;
    }
  }

  Origin of(const Operand& operand) const {
    Origin origin;
    const bool has_register = operand.kind == OperandKind::register_ || operand.kind == OperandKind::address;
    if (has_register && operand.index >= 0) origin |= of_register_[static_cast<std::size_t>(operand.index)];
    if (!operand.name.empty() && operand.kind != OperandKind::special) origin |= of_name(operand.name);
    for (const Operand& element : operand.elements) origin |= of(element);
    return origin;
  }

 private:
  Origin of_name(const std::string& name) const {
    Origin origin;
    const auto parameter = std::ranges::find(kernel_.parameters, name, &ptx::Symbol::name);
    const auto index = static_cast<std::size_t>(parameter - kernel_.parameters.begin());
    if (parameter != kernel_.parameters.end() && index < kMostParameters) {
      origin.set(index);
    } else if (std::ranges::find(kernel_.symbols, name, &ptx::Symbol::name) == kernel_.symbols.end()) {
      origin.set(kElsewhere);  // a variable of the module
    }
    return origin;
  }

  bool follow(const Instruction& instruction) {
    if (instruction.operands.empty()) return false;
    Origin origin;
    for (std::size_t i = 1; i < instruction.operands.size(); ++i) origin |= of(instruction.operands[i]);
    const std::string_view opcode = instruction.opcode;
    const bool reads_memory = !opcode.starts_with("ld.param") && (is_load(opcode) || opcode.starts_with("atom"));
    if (reads_memory) {
      origin.reset();
      if (opcode.ends_with("64")) origin.set(kElsewhere);  // only 64 bits hold an address
    }
    return add(instruction.operands[0], origin);
  }

  bool add(const Operand& destination, const Origin& origin) {
    bool changed = false;
    for (const Operand& element : destination.elements) changed = add(element, origin) || changed;
    if (destination.kind != OperandKind::register_) return changed;
    Origin& known = of_register_[static_cast<std::size_t>(destination.index)];
    const Origin before = known;
    known |= origin;
    return changed || known != before;
  }

  const ptx::Kernel& kernel_;
  std::vector<Origin> of_register_;
};

}  // namespace

std::set<std::uint64_t> written_allocations(const Program& program, const std::vector<std::byte>& parameters,
                                            const DeviceMemory& memory) {
  const ptx::Kernel& kernel = *program.kernel;
  const Origins origins(kernel);
  Origin written;
  for (const Instruction& instruction : kernel.instructions) {
    if (!may_write_global(instruction)) continue;
    if (has_part(instruction.opcode, "tensor")) written.set(kElsewhere);  // its tensor map says where
    if (writes_texels(instruction.opcode)) written.set(kElsewhere);       // a handle says nothing of memory
    for (const Operand& operand : instruction.operands) {
      if (operand.kind == OperandKind::address) written |= origins.of(operand);
    }
  }
  std::set<std::uint64_t> begins;
  if (written.test(kElsewhere) || kernel.parameters.size() > kMostParameters) {
    for (const Allocation* at = memory.next(0); at != nullptr; at = memory.next(at->begin)) {
      if (!at->freed) begins.insert(at->begin);
    }
    return begins;
  }
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    if (!written.test(i)) continue;
    // A structure may hold several addresses, each aligned.
    for (std::uint64_t offset = 0; offset + 8 <= kernel.parameters[i].bytes; offset += 8) {
      std::uint64_t value = 0;
      std::memcpy(&value, parameters.data() + program.parameter_offsets[i] + offset, sizeof value);
      const Allocation* const allocation = memory.nearest(value);
      // A number that is used to compute an address, such as the seed of a random index, is far from all memory.
      if (allocation != nullptr && value <= allocation->end + kFarthestBehind) {
        begins.insert(allocation->begin);
      }
    }
  }
  return begins;
}

}  // namespace convladder::simulated

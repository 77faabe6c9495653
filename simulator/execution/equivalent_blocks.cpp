#include "simulator/execution/equivalent_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "simulator/execution/place_values.hpp"
#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/instructions/textures/texture_opcode.hpp"

namespace convladder::simulated {
namespace equivalence {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;
using ptx::TypeClass;

constexpr std::uint64_t kSectorBytes = 32;
constexpr std::uint64_t kBankBytes = 128;  // the period of the banks of shared memory

bool begins_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings) {
  return std::ranges::any_of(beginnings, [text](std::string_view begin) { return text.starts_with(begin); });
}

/// Whether the first operand of the instruction is not one that it writes.
bool writes_no_register(std::string_view opcode) {
  return begins_with_any(opcode, {"st.",
                                  "red.",
                                  "bar.sync",
                                  "bar.arrive",
                                  "bar.warp",
                                  "barrier.sync",
                                  "barrier.arrive",
                                  "barrier.cta.sync",
                                  "barrier.cta.arrive",
                                  "cp.",
                                  "wmma.store",
                                  "bra",
                                  "ret",
                                  "exit",
                                  "prefetch",
                                  "nanosleep",
                                  "membar",
                                  "fence",
                                  "discard",
                                  "trap",
                                  "brkpt",
                                  "stackrestore",
                                  "stmatrix"});
}

/// Whether the operands say how many threads wait, or where a matrix has its rows: they matter like branches and
/// addresses.
bool operands_decide(std::string_view opcode) {
  return begins_with_any(opcode, {"bar.", "barrier.", "cp.", "wmma.load", "wmma.store", "nanosleep"});
}

class Follower {
 public:
  Follower(const Program& program, Axis axis, Dim3 grid, Dim3 block, const std::vector<std::byte>& parameters,
           const BufferOfAddress& buffer_of)
      : kernel_(*program.kernel),
        program_(program),
        axis_(axis),
        grid_(grid),
        block_(block),
        parameters_(parameters),
        buffer_of_(buffer_of),
        registers_(kernel_.registers.size()),
        last_written_(kernel_.registers.size()),
        is_target_(kernel_.instructions.size()) {
    for (const Instruction& instruction : kernel_.instructions) {
      for (const Operand& operand : instruction.operands) {
        if (operand.kind == OperandKind::label && std::cmp_less(operand.index, is_target_.size())) {
          is_target_[static_cast<std::size_t>(operand.index)] = true;
        }
      }
    }
  }

  EquivalentBlocks run() {
    for (const bool wait_for_sources : {true, false}) {
      waits_for_sources_ = wait_for_sources;
      for (changed_ = true; changed_;) {
        changed_ = false;
        follow_all([](const Instruction&) {});
        ++stretch_;
      }
    }
    result_.period = 1;
    if (program_.needs_block_order) refuse(kernel_.instructions.front(), "its blocks communicate");
    follow_all([this](const Instruction& instruction) { check(instruction); });
    return std::move(result_);
  }

 private:
  /// Follows the instructions from the first to the last; `before` sees each with the registers' values there.
  template <typename Before>
  void follow_all(const Before& before) {
    for (std::size_t i = 0; i < kernel_.instructions.size(); ++i) {
      if (is_target_[i]) ++stretch_;
      before(kernel_.instructions[i]);
      follow(kernel_.instructions[i]);
    }
  }

  // --- what registers hold --------------------------------------------------------------------------------------

  Value of_register(int index) const {
    const LastWritten& last = last_written_[static_cast<std::size_t>(index)];
    if (last.stretch == stretch_) return last.value;
    return registers_[static_cast<std::size_t>(index)].value_or(kOfNoPlace);  // never written
  }

  Value read(const Operand& operand) const {
    switch (operand.kind) {
      case OperandKind::register_:
      case OperandKind::address:
        return operand.index < 0 ? kOfNoPlace : of_register(operand.index);
      case OperandKind::immediate:
        return operand.number == ptx::NumberKind::integer ? constant(operand.bits) : kOfNoPlace;
      case OperandKind::special:
        return special(operand.name);
      case OperandKind::symbol: {
        Value pointer = kOfNoPlace;
        pointer.parameter_byte = parameter_byte(operand);
        return pointer;
      }
      case OperandKind::vector:
      case OperandKind::pair: {
        Value all;
        for (const Operand& element : operand.elements) all = joined(all, read(element));
        return all;
      }
      default:
        return kOfNoPlace;
    }
  }

  bool is_unknown(const Operand& operand) const {
    const bool has_register = operand.kind == OperandKind::register_ || operand.kind == OperandKind::address;
    if (has_register && operand.index >= 0) return !registers_[static_cast<std::size_t>(operand.index)];
    return std::ranges::any_of(operand.elements, [this](const Operand& element) { return is_unknown(element); });
  }

  Value special(std::string_view name) const {
    if (name.starts_with("%clusterid.")) return special(fmt::format("%ctaid.{}", name.back()));
    if (name.starts_with("%nclusterid.")) return special(fmt::format("%nctaid.{}", name.back()));
    constexpr std::array<std::string_view, 3> places = {"%ctaid.x", "%ctaid.y", "%ctaid.z"};
    if (name == places[static_cast<std::size_t>(axis_)])
      return {.is_line = true, .from_data = false, .slope = 1, .rest = 0, .buffer = {}, .parameter_byte = {}};
    if (name == "%nctaid.x") return constant(grid_.x);
    if (name == "%nctaid.y") return constant(grid_.y);
    if (name == "%nctaid.z") return constant(grid_.z);
    if (name == "%ntid.x") return constant(block_.x);
    if (name == "%ntid.y") return constant(block_.y);
    if (name == "%ntid.z") return constant(block_.z);
    if (name == "%smid" || begins_with_any(name, {"%clock", "%globaltimer"})) return kAnything;
    return kOfNoPlace;
  }

  void write(const Operand& operand, const Value& value) {
    if (operand.kind == OperandKind::vector || operand.kind == OperandKind::pair) {
      for (const Operand& element : operand.elements) write(element, value);
    }
    if (operand.kind != OperandKind::register_) return;
    std::optional<Value>& known = registers_[static_cast<std::size_t>(operand.index)];
    const Value now = known ? joined(*known, value) : value;
    changed_ = changed_ || known != now;
    known = now;
    last_written_[static_cast<std::size_t>(operand.index)] = {is_conditional_ ? 0 : stretch_, value};
  }

  /// Drops the known value of a register that an instruction is about to write, since the new one is not known yet.
  void forget(const Operand& operand) {
    for (const Operand& element : operand.elements) forget(element);
    if (operand.kind == OperandKind::register_) last_written_[static_cast<std::size_t>(operand.index)].stretch = 0;
  }

  void follow(const Instruction& instruction) {
    if (instruction.operands.empty()) return;
    if (writes_memory(instruction)) note_write(instruction);
    if (writes_no_register(instruction.opcode)) return;
    is_conditional_ = instruction.predicate >= 0;
    // A loop reads what is written further below: its first values must come from above.
    if (waits_for_sources_ && std::any_of(instruction.operands.begin() + 1, instruction.operands.end(),
                                          [this](const Operand& operand) { return is_unknown(operand); })) {
      return forget(instruction.operands.front());
    }
    const std::vector<std::string_view> parts = ptx::split_opcode(instruction.opcode);
    if (begins_with_any(instruction.opcode, {"ld.param", "ld.const"})) return load_unchanged(instruction, parts);
    if (begins_with_any(instruction.opcode, {"ld.", "ldu.", "ldmatrix", "atom.", "wmma.load", "wgmma.mma"})) {
      return write(instruction.operands[0], reads_table(instruction) ? kOfNoPlace : kData);
    }
    Value result = kOfNoPlace;
    bool all_are_lines = true;
    bool any_is_of_place = false;
    std::vector<Value> operands;
    for (std::size_t i = 1; i < instruction.operands.size(); ++i) {
      const Value& value = operands.emplace_back(read(instruction.operands[i]));
      result.from_data = result.from_data || value.from_data;
      all_are_lines = all_are_lines && value.is_line;
      any_is_of_place = any_is_of_place || value.slope != 0;
    }
    Line line = all_are_lines ? computed(instruction, parts, operands, extent(grid_, axis_)) : std::nullopt;
    if (!line && all_are_lines && !any_is_of_place) line = kOfNoPlace;  // whatever it computes
    const bool from_data = result.from_data;
    result = line.value_or(kAnything);
    result.from_data = from_data;
    write(instruction.operands[0], result);
  }

  static bool writes_memory(const Instruction& instruction) {
    if (begins_with_any(instruction.opcode, {"cp.async.bulk.global", "cp.reduce.async.bulk.global"})) return true;
    return begins_with_any(instruction.opcode, {"st.", "red.", "atom.", "wmma.store"}) &&
           !names_space(instruction, "shared") && !names_space(instruction, "shared::cta") &&
           !names_space(instruction, "local");
  }

  void note_write(const Instruction& instruction) {
    for (const Operand& operand : instruction.operands) {
      if (operand.kind != OperandKind::address || (waits_for_sources_ && is_unknown(operand))) continue;
      const Value to = read(operand);
      if (to.buffer) {
        changed_ = written_buffers_.insert(to.buffer->begin).second || changed_;
      } else {
        changed_ = changed_ || !writes_anywhere_;
        writes_anywhere_ = true;
      }
    }
  }

  bool reads_table(const Instruction& instruction) const {
    if (!instruction.opcode.starts_with("ld.") || !names_space(instruction, "global") || writes_anywhere_) return false;
    const Value from = read(instruction.operands.at(1));
    return from.is_of_no_place() && !from.from_data && from.buffer && from.buffer->is_complete &&
           !written_buffers_.contains(from.buffer->begin);
  }

  /// Loads a parameter or a constant, which is the same for all blocks and never written by a kernel.
  void load_unchanged(const Instruction& instruction, const std::vector<std::string_view>& parts) {
    const Operand& address = instruction.operands.at(1);
    const Value from = read(address);
    const auto type = ptx::type_of_suffix(fmt::format(".{}", parts.back()));
    const Operand& to = instruction.operands[0];
    const auto load = [&](const Operand& element, std::uint64_t offset) {
      Value value = from.is_of_no_place() ? kOfNoPlace : kAnything;
      value.from_data = from.from_data;
      const auto at = address.index < 0 ? parameter_byte(address) : from.parameter_byte;
      if (parts[1] == "param" && at && type) {
        value.rest =
            parameter(*at + (address.index < 0 ? 0 : static_cast<std::uint64_t>(address.offset)) + offset, *type);
      }
      if (value.rest && type->bits == 64) value.buffer = buffer_of_(*value.rest);
      write(element, value);
    };
    if (to.kind != OperandKind::vector) return load(to, 0);
    const auto bytes = static_cast<std::uint64_t>(type ? type->bytes() : 0);
    for (std::size_t i = 0; i < to.elements.size(); ++i) load(to.elements[i], i * bytes);
  }

  /// The byte of the parameters that a name and its offset denote; nothing if the name is no parameter's.
  std::optional<std::uint64_t> parameter_byte(const Operand& named) const {
    const auto found = std::ranges::find(kernel_.parameters, named.name, &ptx::Symbol::name);
    if (found == kernel_.parameters.end()) return std::nullopt;
    const auto number = static_cast<std::size_t>(found - kernel_.parameters.begin());
    return program_.parameter_offsets[number] + static_cast<std::uint64_t>(named.offset);
  }

  std::optional<std::uint64_t> parameter(std::uint64_t at, const ptx::Type& type) const {
    if (type.bytes() > 8) return std::nullopt;
    const auto bytes = static_cast<std::uint64_t>(type.bytes());
    if (at > parameters_.size() || bytes > parameters_.size() - at) return std::nullopt;
    std::uint64_t value = 0;
    std::memcpy(&value, parameters_.data() + at, bytes);
    return type.type_class == TypeClass::signed_ ? sign_extended(value, type.bits) : value;
  }

  // --- what follows from it -------------------------------------------------------------------------------------

  void refuse(const Instruction& instruction, std::string_view why) {
    result_.period = 0;
    if (result_.why.empty()) {
      result_.why = fmt::format("PTX line {}: '{}': {}", instruction.position.line, instruction.opcode, why);
    }
  }

  void expect_of_no_place(const Instruction& instruction, const Value& value) {
    if (value.from_data) {
      result_.depends_on_data = true;
      refuse(instruction, "depends on what was read from memory");
    } else if (!value.is_of_no_place()) {
      refuse(instruction, "depends on the block's place");
    }
  }

  void check(const Instruction& instruction) {
    if (instruction.opcode.find("tensor") != std::string::npos) refuse(instruction, "a tensor map decides");
    if (instruction.predicate >= 0) expect_of_no_place(instruction, of_register(instruction.predicate));
    for (const Operand& operand : instruction.operands) {
      if (operand.kind == OperandKind::address) {
        check_address(instruction, operand);
      } else if (operands_decide(instruction.opcode) && operand.kind != OperandKind::vector) {
        expect_of_no_place(instruction, read(operand));
      }
    }
  }

  void check_address(const Instruction& instruction, const Operand& operand) {
    const Value value = read(operand);
    if (value.from_data || value.slope == 0 || !value.is_line) return expect_of_no_place(instruction, value);
    const bool is_copy = instruction.opcode.starts_with("cp.async.c");  // copies from global memory to shared
    const bool is_global = is_copy ? &operand != &instruction.operands.front() : names_space(instruction, "global");
    if (is_global || names_space(instruction, "const")) {
      const auto period = static_cast<unsigned>(kSectorBytes / std::gcd(value.slope, kSectorBytes));
      if (result_.period > 0) result_.period = std::max(result_.period, period);
    } else if (value.slope % kBankBytes != 0) {
      expect_of_no_place(instruction, value);
    }
  }

  static bool names_space(const Instruction& instruction, std::string_view space) {
    const std::vector<std::string_view> parts = ptx::split_opcode(instruction.opcode);
    return std::ranges::find(parts, space) != parts.end();
  }

  const ptx::Kernel& kernel_;
  const Program& program_;
  Axis axis_;
  Dim3 grid_;
  Dim3 block_;
  const std::vector<std::byte>& parameters_;
  const BufferOfAddress& buffer_of_;
  /// For each register, a value that covers all of its writes: what it may hold anywhere in the kernel.
  std::vector<std::optional<Value>> registers_;
  /// The value of a register at the current place, if written since the last instruction that a branch leads to.
  struct LastWritten {
    std::uint64_t stretch = 0;
    Value value;
  };
  std::vector<LastWritten> last_written_;
  std::vector<bool> is_target_;
  std::uint64_t stretch_ = 1;  ///< the number of the straight stretch of instructions being followed
  bool is_conditional_ = false;
  std::set<std::uint64_t> written_buffers_;
  bool writes_anywhere_ = false;
  bool waits_for_sources_ = true;
  bool changed_ = false;
  EquivalentBlocks result_;
};

}  // namespace
}  // namespace equivalence

EquivalentBlocks equivalent_blocks(const Program& program, Axis axis, Dim3 grid, Dim3 block,
                                   const std::vector<std::byte>& parameters, const BufferOfAddress& buffer_of) {
  // Registers are followed within one function and from branch to label.
  if (!program.calls.empty() || !program.branch_tables.empty())
    return {0, true, "it calls functions or branches by table"};
  const auto has_texels = [](const ptx::Instruction& instruction) {
    return reads_texels(instruction.opcode) || writes_texels(instruction.opcode);
  };
  if (std::ranges::any_of(program.kernel->instructions, has_texels)) return {0, true, "it has textures or surfaces"};
  return equivalence::Follower(program, axis, grid, block, parameters, buffer_of).run();
}

}  // namespace convladder::simulated

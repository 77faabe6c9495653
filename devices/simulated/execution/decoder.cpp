#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>

#include "devices/simulated/execution/forms.hpp"
#include "devices/simulated/execution/memory_access.hpp"
#include "devices/simulated/execution/program.hpp"
#include "devices/simulated/memory/device_memory.hpp"
#include "devices/simulated/ptx/control_flow.hpp"

namespace convladder::simulated {
namespace {

using ptx::OperandKind;
using ptx::TypeClass;

constexpr std::uint32_t kSlotAlignment = 64;
constexpr std::uint64_t kMostDeclaredBytes = 1024 * 1024;  // shared or local: bounds what a damaged file can ask for

std::uint32_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return static_cast<std::uint32_t>((value + multiple - 1) / multiple * multiple);
}

/// One of the widths a slot can have: 1 for a predicate, 32 or 64.
int slot_bits(const ptx::Type& type) {
  if (type.type_class == TypeClass::predicate) return 1;
  return type.bits <= 32 ? 32 : 64;
}

int wanted_bits(OperandUse use) {
  switch (use) {
    case OperandUse::write_32:
    case OperandUse::read_32:
      return 32;
    case OperandUse::write_64:
    case OperandUse::read_64:
      return 64;
    default:
      return 1;
  }
}

bool is_write(OperandUse use) {
  return use == OperandUse::write_32 || use == OperandUse::write_64 || use == OperandUse::write_predicate;
}

void narrow_slot(WarpState& warp, const Operation& operation) {
  const auto* from = warp.read<std::uint64_t>(operation.operands[1]);
  write_lanes(warp.write<std::uint32_t>(operation.operands[0]), warp.mask,
              [=](int lane) { return static_cast<std::uint32_t>(from[lane]); });
}
void widen_slot(WarpState& warp, const Operation& operation) {
  const auto* from = warp.read<std::uint32_t>(operation.operands[1]);
  write_lanes(warp.write<std::uint64_t>(operation.operands[0]), warp.mask,
              [=](int lane) { return std::uint64_t{from[lane]}; });
}
void invert_predicate(WarpState& warp, const Operation& operation) {
  *warp.write<LaneMask>(operation.operands[0]) = ~*warp.read<LaneMask>(operation.operands[1]);
}

/// mov.b64 d, {low, high}, and back.
void pack_64(WarpState& warp, const Operation& operation) {
  const auto* low = warp.read<std::uint32_t>(operation.operands[1]);
  const auto* high = warp.read<std::uint32_t>(operation.operands[2]);
  write_lanes(warp.write<std::uint64_t>(operation.operands[0]), warp.mask,
              [=](int lane) { return low[lane] | (std::uint64_t{high[lane]} << 32); });
}
void unpack_64(WarpState& warp, const Operation& operation) {
  const auto* from = warp.read<std::uint64_t>(operation.operands[2]);
  std::array<std::uint64_t, kLanes> value;
  std::copy(from, from + kLanes, value.begin());
  write_lanes(warp.write<std::uint32_t>(operation.operands[0]), warp.mask,
              [&](int lane) { return static_cast<std::uint32_t>(value[lane]); });
  write_lanes(warp.write<std::uint32_t>(operation.operands[1]), warp.mask,
              [&](int lane) { return static_cast<std::uint32_t>(value[lane] >> 32); });
}

class Decoder {
 public:
  Decoder(const ptx::Module& module, const ptx::Kernel& kernel, const SymbolAddress& address_of)
      : module_(module), kernel_(kernel), address_of_(address_of) {
    program_.module = &module;
    program_.kernel = &kernel;
  }

  Program run() {
    lay_out_parameters();
    lay_out_symbols();
    for (const ptx::Register& reg : kernel_.registers) registers_.push_back(new_register(slot_bits(reg.type)));
    lay_out_special_slots();

    const std::vector<ptx::BasicBlock> blocks = ptx::control_flow(kernel_, module_.file);
    std::vector<int> first_operation(blocks.size() + 1);
    std::vector<std::pair<int, int>> branches;  // operation, target instruction
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      first_operation[b] = static_cast<int>(program_.operations.size());
      for (int i = blocks[b].first; i < blocks[b].end; ++i) {
        instruction_ = i;
        decode_instruction(kernel_.instructions[i]);
        Operation& last = program_.operations.back();
        if (last.kind == OperationKind::branch) {
          branches.emplace_back(static_cast<int>(program_.operations.size()) - 1, last.target);
        }
      }
    }
    const auto end = static_cast<int>(program_.operations.size());
    first_operation[blocks.size()] = end;
    const auto operation_at = [&](int instruction) {
      const auto found = std::ranges::find(blocks, instruction, &ptx::BasicBlock::first);
      return first_operation[static_cast<std::size_t>(found - blocks.begin())];
    };
    for (const auto& [operation, instruction] : branches) {
      program_.operations[operation].target = operation_at(instruction);
    }
    program_.block_of_operation.resize(static_cast<std::size_t>(end) + 1, static_cast<int>(blocks.size()));
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      program_.blocks.push_back({first_operation[b], first_operation[b + 1], first_operation[blocks[b].reconvergence]});
      for (int i = first_operation[b]; i < first_operation[b + 1]; ++i) {
        program_.block_of_operation[i] = static_cast<int>(b);
      }
    }
    return std::move(program_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    const ptx::Instruction& instruction = kernel_.instructions[instruction_];
    throw ptx::PtxError(module_.file, instruction.position, fmt::format("'{}': {}", instruction.opcode, what));
  }

  // --- layout ---------------------------------------------------------------------------------------------------

  Slot new_register(int bits) {
    const std::uint32_t offset = program_.register_bytes;
    program_.register_bytes += bits == 1 ? kSlotAlignment : static_cast<std::uint32_t>(bits / 8 * kLanes);
    return Slot::in_registers(offset);
  }

  Slot new_constant(int bits) {
    const auto offset = static_cast<std::uint32_t>(program_.constants.size());
    program_.constants.resize(offset + (bits == 1 ? kSlotAlignment : static_cast<std::uint32_t>(bits / 8 * kLanes)));
    return Slot::in_constants(offset);
  }

  Slot constant(std::uint64_t value, int bits) {
    const auto known = constants_.find({value, bits});
    if (known != constants_.end()) return known->second;
    const Slot slot = new_constant(bits);
    std::byte* const at = program_.constants.data() + slot.offset();
    for (int lane = 0; lane < kLanes; ++lane) {
      const auto low = static_cast<std::uint32_t>(value);
      if (bits == 64) {
        std::memcpy(at + 8 * lane, &value, 8);
      } else {
        std::memcpy(at + 4 * lane, &low, 4);
      }
    }
    constants_[{value, bits}] = slot;
    return slot;
  }

  void lay_out_parameters() {
    for (const ptx::Symbol& parameter : kernel_.parameters) {
      const std::uint32_t offset = round_up(program_.parameter_bytes, static_cast<std::uint64_t>(parameter.alignment));
      program_.parameter_offsets.push_back(offset);
      program_.parameter_bytes = offset + static_cast<std::uint32_t>(parameter.bytes);
      symbols_[parameter.name] = {ptx::Space::param, offset};
    }
  }

  void lay_out_symbols() {
    std::uint64_t shared = 0;
    std::uint64_t local = 0;
    const auto place = [this](const ptx::Symbol& symbol, std::uint64_t& used) {
      used = round_up(used, static_cast<std::uint64_t>(symbol.alignment));
      symbols_[symbol.name] = {symbol.space, used};
      used += symbol.bytes;
      if (used > kMostDeclaredBytes) {
        throw ptx::PtxError(module_.file, symbol.position, fmt::format("'{}' is larger than supported", symbol.name));
      }
    };
    std::vector<const ptx::Symbol*> dynamic;
    for (const auto* list : {&module_.symbols, &kernel_.symbols}) {
      for (const ptx::Symbol& symbol : *list) {
        if (symbol.space == ptx::Space::shared && symbol.is_extern) {
          dynamic.push_back(&symbol);
        } else if (symbol.space == ptx::Space::shared) {
          place(symbol, shared);
        } else if (symbol.space == ptx::Space::local) {
          place(symbol, local);
        } else {
          symbols_[symbol.name] = {symbol.space, address_of_(symbol)};
        }
      }
    }
    for (const ptx::Symbol* symbol : dynamic) shared = round_up(shared, static_cast<std::uint64_t>(symbol->alignment));
    for (const ptx::Symbol* symbol : dynamic) symbols_[symbol->name] = {ptx::Space::shared, shared};
    program_.static_shared_bytes = static_cast<std::uint32_t>(shared);
    program_.local_bytes = round_up(local, 16);
  }

  void lay_out_special_slots() {
    SpecialSlots& special = program_.special;
    for (Slot& slot : special.thread_index) slot = new_register(32);
    special.lane_index = new_register(32);
    special.warp_index = new_register(32);
    for (Slot& slot : special.block_index) slot = new_constant(32);
    for (Slot& slot : special.block_size) slot = new_constant(32);
    for (Slot& slot : special.grid_size) slot = new_constant(32);
  }

  // --- instructions ---------------------------------------------------------------------------------------------

  Operation& emit(Handler handler, std::initializer_list<Slot> operands) {
    Operation operation;
    operation.handler = handler;
    std::ranges::copy(operands, operation.operands);
    operation.instruction = instruction_;
    return emit(operation);
  }

  Operation& emit(Operation operation) {
    const ptx::Instruction& instruction = kernel_.instructions[instruction_];
    operation.instruction = instruction_;
    if (instruction.predicate >= 0) {
      operation.guarded = true;
      operation.guard = registers_[instruction.predicate];
      operation.guard_negated = instruction.predicate_negated;
    }
    program_.operations.push_back(operation);
    return program_.operations.back();
  }

  void decode_instruction(const ptx::Instruction& instruction) {
    const std::string& opcode = instruction.opcode;
    if (opcode == "bra" || opcode == "bra.uni") {
      Operation operation;
      operation.kind = OperationKind::branch;
      operation.target = instruction.operands.at(0).index;
      emit(operation);
    } else if (opcode == "ret" || opcode == "ret.uni" || opcode == "exit") {
      Operation operation;
      operation.kind = OperationKind::exit;
      emit(operation);
    } else if (opcode == "bar.sync" || opcode == "barrier.sync" || opcode == "barrier.sync.aligned") {
      decode_barrier(instruction);
    } else if (const auto access = parse_memory_access(opcode)) {
      decode_memory_access(instruction, *access);
    } else if (opcode == "mov.b64" && instruction.operands.size() == 2 &&
               (instruction.operands[0].kind == OperandKind::vector ||
                instruction.operands[1].kind == OperandKind::vector)) {
      decode_pack(instruction);
    } else if (const Form* form = forms().find(opcode)) {
      decode_form(instruction, *form);
    } else {
      fail("this instruction is not supported by the simulated device");
    }
  }

  void decode_barrier(const ptx::Instruction& instruction) {
    if (instruction.operands.size() != 1 || instruction.operands[0].kind != OperandKind::immediate ||
        instruction.operands[0].bits != 0) {
      fail("only barrier 0 of all threads of the block is supported");
    }
    Operation operation;
    operation.kind = OperationKind::barrier;
    emit(operation);
  }

  void decode_pack(const ptx::Instruction& instruction) {
    const bool packs = instruction.operands[1].kind == OperandKind::vector;
    const auto& elements = instruction.operands[packs ? 1 : 0].elements;
    if (elements.size() != 2) fail("a vector of two 32-bit elements is expected");
    if (packs) {
      const Slot low = read_slot(elements[0], 32);
      const Slot high = read_slot(elements[1], 32);
      emit(pack_64, {write_slot(instruction.operands[0], 64), low, high});
    } else {
      const Slot source = read_slot(instruction.operands[1], 64);
      emit(unpack_64, {write_slot(elements[0], 32), write_slot(elements[1], 32), source});
    }
  }

  void decode_form(const ptx::Instruction& instruction, const Form& form) {
    if (instruction.operands.size() != form.operands.size()) {
      fail(fmt::format("expected {} operands, found {}", form.operands.size(), instruction.operands.size()));
    }
    Operation operation;
    operation.handler = form.handler;
    std::vector<std::pair<Slot, Slot>> widened;  // temporaries and the wider registers they stand for
    for (std::size_t i = 0; i < form.operands.size(); ++i) {
      const int bits = wanted_bits(form.operands[i]);
      const ptx::Operand& operand = instruction.operands[i];
      if (!is_write(form.operands[i])) {
        operation.operands[i] = read_slot(operand, bits);
        continue;
      }
      // A register may be wider than the instruction's type; its upper part is then filled with zeros.
      if (operand.kind == OperandKind::register_ && bits == 32 && register_bits(operand) == 64) {
        operation.operands[i] = new_register(32);
        widened.emplace_back(registers_[operand.index], operation.operands[i]);
      } else {
        operation.operands[i] = write_slot(operand, bits);
      }
    }
    emit(operation);
    for (const auto& [wide, narrow] : widened) emit(widen_slot, {wide, narrow});
  }

  void decode_memory_access(const ptx::Instruction& instruction, const MemoryAccess& access) {
    if (instruction.operands.size() != 2) fail("expected an address and a value");
    const ptx::Operand& address = instruction.operands[access.is_store ? 0 : 1];
    const ptx::Operand& value = instruction.operands[access.is_store ? 1 : 0];
    if (address.kind != OperandKind::address) fail("expected an address in brackets");
    Operation operation;
    operation.vector_elements = static_cast<std::uint8_t>(access.vector_elements);
    const std::vector<ptx::Operand> single{value};
    const std::vector<ptx::Operand>& elements = value.kind == OperandKind::vector ? value.elements : single;
    if (elements.size() != static_cast<std::size_t>(access.vector_elements)) {
      fail(fmt::format("expected {} elements, found {}", access.vector_elements, elements.size()));
    }
    const int bits = access.type.bits <= 32 ? 32 : 64;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      operation.operands[i] = access.is_store ? read_slot(elements[i], bits) : value_slot(elements[i], bits);
    }
    const bool wide = set_address(address, operation, access.space);
    operation.handler = memory_handler(access, wide);
    emit(operation);
  }

  /// A loaded value may go into a wider register: ld.u8 into a 64-bit one is not generated by compilers we know.
  Slot value_slot(const ptx::Operand& operand, int bits) {
    if (operand.kind == OperandKind::register_ && register_bits(operand) != bits) {
      fail(fmt::format("a value of {} bits is loaded into the {}-bit register {}", bits, register_bits(operand),
                       kernel_.registers[operand.index].name));
    }
    return write_slot(operand, bits);
  }

  /// Puts the address behind the elements. Returns whether its slot holds 64 bits.
  bool set_address(const ptx::Operand& address, Operation& operation, ptx::Space space) {
    Slot& slot = operation.operands[operation.vector_elements];
    operation.offset = address.offset;
    if (address.index >= 0) {
      slot = registers_[address.index];
      return register_bits(address) == 64;
    }
    std::uint64_t base = 0;
    if (!address.name.empty()) {
      const auto& [symbol_space, place] = symbols_.at(address.name);
      if (space != ptx::Space::generic && symbol_space != space) {
        fail(fmt::format("'{}' does not lie in this instruction's state space", address.name));
      }
      base = space == ptx::Space::generic ? generic_address(symbol_space, place) : place;
    }
    slot = constant(base, 64);
    return true;
  }

  std::uint64_t generic_address(ptx::Space space, std::uint64_t place) const {
    if (space == ptx::Space::shared) return kSharedWindow + place;
    if (space == ptx::Space::local) return kLocalWindow + place;
    if (space == ptx::Space::param) fail("generic addresses of parameters are not supported");
    return place;
  }

  // --- operands -------------------------------------------------------------------------------------------------

  int register_bits(const ptx::Operand& operand) const { return slot_bits(kernel_.registers[operand.index].type); }

  Slot write_slot(const ptx::Operand& operand, int bits) {
    if (operand.kind == OperandKind::sink) return new_register(bits);
    if (operand.kind != OperandKind::register_) fail("a destination must be a register");
    if (operand.negated) fail("a destination cannot be negated");
    check_width(operand, bits);
    return registers_[operand.index];
  }

  void check_width(const ptx::Operand& operand, int bits) const {
    if (register_bits(operand) == bits) return;
    fail(fmt::format("the register {} has {} bits where {} are expected", kernel_.registers[operand.index].name,
                     kernel_.registers[operand.index].type.bits, bits));
  }

  Slot read_slot(const ptx::Operand& operand, int bits) {
    switch (operand.kind) {
      case OperandKind::register_:
        return read_register(operand, bits);
      case OperandKind::immediate:
        if (bits == 1) return constant(operand.bits != 0 ? ~std::uint64_t{0} : 0, 32);
        return constant(immediate_bits(operand, bits), bits);
      case OperandKind::special:
        return read_special(operand, bits);
      case OperandKind::symbol: {
        const auto& [space, place] = symbols_.at(operand.name);
        return constant(place + static_cast<std::uint64_t>(operand.offset), bits);
      }
      default:
        fail("this kind of operand is not supported here");
    }
  }

  Slot read_register(const ptx::Operand& operand, int bits) {
    const Slot slot = registers_[operand.index];
    if (operand.negated) {
      if (bits != 1) fail("only predicates can be negated");
      const Slot inverted = new_register(1);
      emit(invert_predicate, {inverted, slot});
      return inverted;
    }
    // "cvt.s64.s32 %rd1, %rd2": an operand register may be wider than the type.
    if (bits == 32 && register_bits(operand) == 64) {
      const Slot narrowed = new_register(32);
      emit(narrow_slot, {narrowed, slot});
      return narrowed;
    }
    check_width(operand, bits);
    return slot;
  }

  std::uint64_t immediate_bits(const ptx::Operand& operand, int bits) const {
    if (operand.number == ptx::NumberKind::double_ && bits == 32) {
      return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(operand.bits)));
    }
    if (operand.number == ptx::NumberKind::single && bits == 64) {
      return std::bit_cast<std::uint64_t>(
          static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits))));
    }
    return bits == 32 ? operand.bits & 0xffffffffU : operand.bits;
  }

  Slot read_special(const ptx::Operand& operand, int bits) {
    const SpecialSlots& special = program_.special;
    const std::map<std::string_view, Slot> names = {
        {"%tid.x", special.thread_index[0]},  {"%tid.y", special.thread_index[1]},
        {"%tid.z", special.thread_index[2]},  {"%ntid.x", special.block_size[0]},
        {"%ntid.y", special.block_size[1]},   {"%ntid.z", special.block_size[2]},
        {"%ctaid.x", special.block_index[0]}, {"%ctaid.y", special.block_index[1]},
        {"%ctaid.z", special.block_index[2]}, {"%nctaid.x", special.grid_size[0]},
        {"%nctaid.y", special.grid_size[1]},  {"%nctaid.z", special.grid_size[2]},
        {"%laneid", special.lane_index},      {"%warpid", special.warp_index},
    };
    const auto found = names.find(operand.name);
    if (found == names.end()) {
      fail(fmt::format("'{}' is neither a declared register nor a special register that is supported", operand.name));
    }
    if (bits != 32) fail(fmt::format("the special register {} has 32 bits", operand.name));
    return found->second;
  }

  const ptx::Module& module_;
  const ptx::Kernel& kernel_;
  const SymbolAddress& address_of_;
  Program program_;
  int instruction_ = 0;
  std::vector<Slot> registers_;
  std::map<std::pair<std::uint64_t, int>, Slot> constants_;
  std::map<std::string, std::pair<ptx::Space, std::uint64_t>, std::less<>> symbols_;
};

}  // namespace

Program decode(const ptx::Module& module, const ptx::Kernel& kernel, const SymbolAddress& address_of) {
  return Decoder(module, kernel, address_of).run();
}

}  // namespace convladder::simulated

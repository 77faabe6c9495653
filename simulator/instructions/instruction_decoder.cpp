#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/instructions/decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "simulator/instructions/register_allocation.hpp"

namespace convladder::simulated {
namespace {

using ptx::TypeClass;

constexpr std::uint32_t kSlotAlignment = 64;
// Limits of the memory that a damaged file can ask for.
constexpr std::uint32_t kMostRegisterBytes = 1 << 24;  // of a warp
constexpr std::size_t kMostConstantBytes = 1 << 29;

/// The width of a slot for a type: 1 for a predicate, 32, 64, or 128 for two adjacent slots of 64.
int slot_bits(const ptx::Type& type) {
  if (type.type_class == TypeClass::predicate) return 1;
  return type.bits <= 32 ? 32 : type.bits;
}

std::uint32_t slot_bytes(int bits) {
  return bits == 1 ? kSlotAlignment : static_cast<std::uint32_t>(bits / 8 * kLanes);
}

}  // namespace

InstructionDecoder::InstructionDecoder(const ptx::Module& module, const ptx::Kernel& kernel, Program& program)
    : module_(module), kernel_(kernel), program_(program) {
  lay_out_special_slots();
  program_.special_bytes = program_.register_bytes;
}

void InstructionDecoder::lay_out_registers(const std::vector<ptx::BasicBlock>& blocks) {
  std::vector<int> widths;
  for (const ptx::Register& reg : kernel_.registers) widths.push_back(slot_bits(reg.type));
  const RegisterAllocation allocation = allocate_registers(kernel_, blocks, widths);
  std::map<std::pair<int, int>, Slot> slots;  // by width and number
  for (std::size_t r = 0; r < widths.size(); ++r) {
    const auto [place, is_new] = slots.try_emplace({widths[r], allocation.slot[r]});
    if (is_new) place->second = temporary(widths[r]);
    registers_.push_back(place->second);
    if (allocation.from_before[r]) program_.zeroed.emplace_back(place->second.offset(), slot_bytes(widths[r]));
  }
}

int InstructionDecoder::register_bits(const ptx::Operand& operand) const {
  return slot_bits(kernel_.registers[static_cast<std::size_t>(operand.index)].type);
}

void InstructionDecoder::fail(const std::string& what) const {
  throw ptx::PtxError(module_.file, instruction().position, fmt::format("'{}': {}", instruction().opcode, what));
}

void InstructionDecoder::expect_operands(std::size_t count) const {
  const std::size_t found = instruction().operands.size();
  if (found != count) fail(fmt::format("expected {} operands, found {}", count, found));
}

// --- slots ----------------------------------------------------------------------------------------------------------

Slot InstructionDecoder::temporary(int bits) {
  const std::uint32_t offset = program_.register_bytes;
  reserve(slot_bytes(bits));
  return Slot::in_registers(offset);
}

/// Reserves the next bytes of the frame.
void InstructionDecoder::reserve(std::uint32_t bytes) {
  if (program_.register_bytes > kMostRegisterBytes) {
    throw ptx::PtxError(module_.file, kernel_.position,
                        fmt::format("'{}' needs more registers than supported", kernel_.name));
  }
  program_.register_bytes += (bytes + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
}

Slot InstructionDecoder::ignored_predicate() {
  if (!ignored_predicate_) ignored_predicate_ = temporary(1);
  return *ignored_predicate_;
}

Slot InstructionDecoder::condition_code() {
  if (!condition_code_) {
    condition_code_ = temporary(1);
    program_.zeroed.emplace_back(condition_code_->offset(), slot_bytes(1));  // it may be read before it is written
  }
  return *condition_code_;
}

Slot InstructionDecoder::stack_in_use(std::uint32_t bytes) {
  if (!stack_in_use_) {
    stack_in_use_ = temporary(64);
    program_.zeroed.emplace_back(stack_in_use_->offset(), slot_bytes(64));
    program_.local_bytes += bytes;
  }
  return *stack_in_use_;
}

Slot InstructionDecoder::new_constant(int bits) {
  if (program_.constants.size() > kMostConstantBytes) {
    throw ptx::PtxError(module_.file, kernel_.position,
                        fmt::format("'{}' has more constants than supported", kernel_.name));
  }
  const auto offset = static_cast<std::uint32_t>(program_.constants.size());
  program_.constants.resize(offset + slot_bytes(bits));
  return Slot::in_constants(offset);
}

Slot InstructionDecoder::constant(std::uint64_t value, int bits) {
  const auto known = constants_.find({value, bits});
  if (known != constants_.end()) return known->second;
  const Slot slot = new_constant(bits);
  fill(slot, value, bits);
  constants_[{value, bits}] = slot;
  return slot;
}

Slot InstructionDecoder::shared_address_constant(std::uint64_t value, int bits) {
  const auto [known, is_new] = shared_addresses_.try_emplace({value, bits});
  if (!is_new) return known->second;
  known->second = new_constant(bits);
  fill(known->second, value, bits);
  program_.shared_addresses.push_back({known->second, value, bits});
  return known->second;
}

void InstructionDecoder::fill(Slot slot, std::uint64_t value, int bits) {
  std::byte* const at = program_.constants.data() + slot.offset();
  const auto low = static_cast<std::uint32_t>(value);
  if (bits == 1) std::memcpy(at, &low, 4);
  for (int lane = 0; lane < kLanes && bits > 1; ++lane) {
    if (bits == 64) {
      std::memcpy(at + 8 * lane, &value, 8);
    } else {
      std::memcpy(at + 4 * lane, &low, 4);
    }
  }
}

void InstructionDecoder::lay_out_special_slots() {
  SpecialSlots& special = program_.special;
  for (Slot& slot : special.thread_index) slot = temporary(32);
  special.lane_index = temporary(32);
  special.warp_index = temporary(32);
  for (Slot& slot : special.block_index) slot = new_constant(32);
  for (Slot& slot : special.block_size) slot = new_constant(32);
  for (Slot& slot : special.grid_size) slot = new_constant(32);
  for (Slot* const slot :
       {&special.multiprocessor, &special.multiprocessors, &special.most_warps, &special.dynamic_shared_bytes,
        &special.total_shared_bytes, &special.rank, &special.cluster_blocks, &special.is_explicit_cluster}) {
    *slot = new_constant(32);
  }
  for (auto* const slots :
       {&special.place_in_cluster, &special.cluster_index, &special.clusters, &special.cluster_size}) {
    for (Slot& slot : *slots) slot = new_constant(32);
  }
  for (Slot& slot : special.workspace) slot = new_constant(32);
}

/// A value for each lane that is the same in every warp.
Slot InstructionDecoder::lane_mask_constant(LaneMask (*of_lane)(int lane)) {
  const Slot slot = new_constant(32);
  for (int lane = 0; lane < kLanes; ++lane) {
    const LaneMask value = of_lane(lane);
    std::memcpy(program_.constants.data() + slot.offset() + 4 * lane, &value, 4);
  }
  return slot;
}

// --- operations -----------------------------------------------------------------------------------------------------

Operation& InstructionDecoder::emit(Handler handler, std::initializer_list<Slot> operands) {
  Operation operation;
  operation.handler = handler;
  std::ranges::copy(operands, operation.operands);
  return emit(operation);
}

Operation& InstructionDecoder::emit_meeting(Handler handler, std::initializer_list<Slot> operands, int members) {
  Operation& operation = emit(handler, operands);
  operation.kind = OperationKind::meeting;
  operation.target = members;
  return operation;
}

void InstructionDecoder::emit_exchange(Handler handler, std::initializer_list<Exchanged> operands, int members) {
  Operation& operation = emit_meeting(handler, {}, members);
  ExchangeOperands kinds;
  int number = 0;
  for (const Exchanged& operand : operands) {
    operation.operands[number] = operand.slot;
    kinds.add(number++, operand.bits, operand.is_result);
  }
  operation.detail = Operation::kExchange;
  operation.offset = kinds.code();
}

Operation& InstructionDecoder::emit(Operation operation, LockstepHandler lockstep) {
  operation.instruction = instruction_;
  if (instruction().predicate >= 0) {
    operation.guarded = true;
    operation.guard = registers_[static_cast<std::size_t>(instruction().predicate)];
    operation.guard_negated = instruction().predicate_negated;
  }
  program_.operations.push_back(operation);
  program_.lockstep.push_back(operation.guarded ? nullptr : lockstep);
  return program_.operations.back();
}

int InstructionDecoder::keep_operands(const std::vector<Slot>& slots) {
  const auto first = static_cast<int>(program_.operand_lists.size());
  program_.operand_lists.insert(program_.operand_lists.end(), slots.begin(), slots.end());
  return first;
}

}  // namespace convladder::simulated

// Decodes one instruction: its operands become slots, and it becomes operations.
//
// Each subject (memory accesses, barriers, …) has a function that knows its opcodes and uses this class; the
// instructions that compute one lane's value from its operands are a table (forms.hpp).
#pragma once

#include <array>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/ptx/control_flow.hpp"
#include "simulator/ptx/module.hpp"
#include "simulator/state/program.hpp"

namespace convladder::simulated {

class InstructionDecoder {
 public:
  /// Decoded operations are added to `program`.
  InstructionDecoder(const ptx::Module& module, const ptx::Kernel& kernel, Program& program);

  /// Assigns a slot to every register of the kernel. To be called before the first instruction.
  void lay_out_registers(const std::vector<ptx::BasicBlock>& blocks);

  /// From now on `instruction()` is the kernel's instruction of that index.
  void begin(int instruction) { instruction_ = instruction; }
  const ptx::Instruction& instruction() const { return kernel_.instructions[static_cast<std::size_t>(instruction_)]; }
  /// Throws ptx::PtxError with the place, the opcode and `what`.
  [[noreturn]] void fail(const std::string& what) const;
  /// Fails if the number of operands is another.
  void expect_operands(std::size_t count) const;

  // --- operands. `bits` is 1 for a predicate, 32 for all types up to 32 bits, or 64 --------------------------------

  Slot read(const ptx::Operand& operand, int bits);
  /// The slot of a register, or a slot that nobody reads for `_`.
  Slot write(const ptx::Operand& operand, int bits);
  /// As `write`, but the register may be wider than the instruction's type: `finish_writes` then fills its upper part
  /// with zeros or with the sign.
  Slot write_narrow(const ptx::Operand& operand, int bits, bool sign_extended = false);
  void finish_writes();
  /// The halves of a .b128 register, the lower first, as slots of 64 bits.
  std::array<Slot, 2> read_128_bits(const ptx::Operand& operand);
  std::array<Slot, 2> write_128_bits(const ptx::Operand& operand);
  /// Sets the operation's offset and returns the slot of the address and whether it holds 64 bits.
  std::pair<Slot, bool> address(const ptx::Operand& operand, ptx::Space space, Operation& operation);
  /// The address in shared memory as an offset of 64 bits, with its own offset added; a generic address outside of
  /// shared memory becomes an offset beyond all memory.
  Slot shared_address(const ptx::Operand& operand, ptx::Space space) { return whole_address(operand, space, true); }
  /// The address in 64 bits, with its offset added.
  Slot whole_address(const ptx::Operand& operand, ptx::Space space, bool to_shared = false);
  int register_bits(const ptx::Operand& operand) const;
  /// The place of a variable or parameter of that name in its state space.
  std::uint64_t place_of(const std::string& name) const { return symbols_.at(name).second; }
  /// Whether any instruction but the current one names the register.
  bool is_named_elsewhere(const ptx::Operand& operand) const;
  /// The value of a 32-bit slot in a 64-bit slot.
  Slot widened(Slot narrow);
  /// A slot in which all lanes hold `value`.
  Slot constant(std::uint64_t value, int bits);
  /// As `constant`, for an address in the block's own shared memory: see Program::shared_addresses.
  Slot shared_address_constant(std::uint64_t value, int bits);
  /// A register for the decoder's own use.
  Slot temporary(int bits);
  /// A predicate that is written and never read; one for the whole kernel.
  Slot ignored_predicate();
  /// The condition code register (PTX ISA 9.0, 9.7.2): a predicate that no text names.
  Slot condition_code();
  /// The number of bytes that a thread uses of the `bytes` at the end of its local memory, which the first call adds.
  Slot stack_in_use(std::uint32_t bytes);

  // --- operations ---------------------------------------------------------------------------------------------------

  /// Appends the operation under the instruction's guard. `lockstep` carries it out for several warps; nullptr: nothing
  /// does.
  Operation& emit(Operation operation, LockstepHandler lockstep = nullptr);
  Operation& emit(Handler handler, std::initializer_list<Slot> operands);
  /// Appends an operation at which lanes meet: those named by the operand numbered `members` (Operation::members).
  Operation& emit_meeting(Handler handler, std::initializer_list<Slot> operands, int members);
  /// As `emit_meeting`, for an operation at which lanes exchange values, and which finds them only in its operands.
  struct Exchanged {
    Slot slot;
    int bits = 32;  ///< 1: a predicate
    bool is_result = false;
  };
  void emit_exchange(Handler handler, std::initializer_list<Exchanged> operands, int members);
  /// Stores operands that an Operation has no room for; the result is its `list`.
  int keep_operands(const std::vector<Slot>& slots);
  /// Notes that blocks communicate: see Program::needs_block_order.
  void require_block_order() { program_.needs_block_order = true; }

  /// Registers a variable or parameter with its place in its state space.
  void place_symbol(const std::string& name, ptx::Space space, std::uint64_t place) { symbols_[name] = {space, place}; }
  /// Registers a local variable of a function with its place after the beginning of a frame's local variables.
  void place_in_frame(const std::string& name, std::uint64_t place);
  /// Registers the copy of a function's parameter whose address is taken, with its place as in `place_in_frame`.
  void place_copy_in_frame(const std::string& name, std::uint64_t place);
  /// Registers a `.param` variable of a body and gives it a place in the frame.
  ParameterPlace place_call_parameter(const std::string& name, std::uint64_t bytes);
  /// The place of a `.param` variable of a body, or nullptr.
  const ParameterPlace* call_parameter(const std::string& name) const;
  /// A place in the frame for a value without a name.
  ParameterPlace unnamed_parameter(std::uint64_t bytes);
  const ptx::Module& module() const { return module_; }
  Program& program() { return program_; }
  /// Whether the instruction is one of a function that the kernel calls.
  bool in_function() const {
    return program_.linked != nullptr && instruction_ >= program_.linked->functions.front().first;
  }

 private:
  void lay_out_special_slots();
  Slot new_constant(int bits);
  void fill(Slot slot, std::uint64_t value, int bits);
  Slot lane_mask_constant(LaneMask (*of_lane)(int lane));
  Slot read_clock(const std::string& name, int bits);
  std::uint64_t reserved_place(const std::string& name) const;
  void refuse_selector(const ptx::Operand& operand) const;
  Slot read_register(const ptx::Operand& operand, int bits);
  Slot read_special(const ptx::Operand& operand, int bits);
  void check_width(const ptx::Operand& operand, int bits) const;
  std::uint64_t generic_address(ptx::Space space, std::uint64_t place) const;
  void reserve(std::uint32_t bytes);
  Slot local_address(std::uint64_t place, int bits);
  Slot address_of_parameter(const ptx::Operand& operand, int bits);

  const ptx::Module& module_;
  const ptx::Kernel& kernel_;
  Program& program_;
  int instruction_ = 0;
  std::vector<Slot> registers_;
  std::map<std::pair<std::uint64_t, int>, Slot> constants_;
  std::map<std::pair<std::uint64_t, int>, Slot> shared_addresses_;
  std::map<std::string, std::pair<ptx::Space, std::uint64_t>, std::less<>> symbols_;
  std::set<std::string, std::less<>> in_frame_;  // local variables of functions
  std::map<std::string, ParameterPlace, std::less<>> call_parameters_;
  std::map<std::string, std::uint64_t, std::less<>> copies_;  // of parameters, by offset into the local variables
  struct Widened {
    Slot wide;
    Slot narrow;  // written instead of the register
    Handler extend;
  };
  std::vector<Widened> widened_;
  std::optional<Slot> ignored_predicate_;
  std::optional<Slot> condition_code_;
  std::optional<Slot> stack_in_use_;
};

/// Decodes the current instruction if its opcode is one of the subject's; returns whether it was.
using DecodeSubject = bool (*)(InstructionDecoder&);
bool decode_control_flow(InstructionDecoder& decoder);
bool decode_call(InstructionDecoder& decoder);
bool decode_fence(InstructionDecoder& decoder);
bool decode_cluster(InstructionDecoder& decoder);
bool decode_barrier(InstructionDecoder& decoder);
bool decode_warp_function(InstructionDecoder& decoder);
bool decode_atomic(InstructionDecoder& decoder);
bool decode_vector_atomic(InstructionDecoder& decoder);
bool decode_asynchronous_copy(InstructionDecoder& decoder);
bool decode_matrix(InstructionDecoder& decoder);
bool decode_memory_access(InstructionDecoder& decoder);
bool decode_cache_control(InstructionDecoder& decoder);
bool decode_bulk_copy(InstructionDecoder& decoder);
bool decode_tensor_copy(InstructionDecoder& decoder);
bool decode_bulk_initialization(InstructionDecoder& decoder);
bool decode_launch_control(InstructionDecoder& decoder);
bool decode_constant_test(InstructionDecoder& decoder);
bool decode_tensor_map(InstructionDecoder& decoder);
bool decode_mbarrier(InstructionDecoder& decoder);
bool decode_packing(InstructionDecoder& decoder);
bool decode_form(InstructionDecoder& decoder);
bool decode_hint(InstructionDecoder& decoder);
bool decode_video(InstructionDecoder& decoder);
bool decode_stack(InstructionDecoder& decoder);
bool decode_texture_fetch(InstructionDecoder& decoder);
bool decode_surface_access(InstructionDecoder& decoder);
bool decode_texture_query(InstructionDecoder& decoder);

}  // namespace convladder::simulated

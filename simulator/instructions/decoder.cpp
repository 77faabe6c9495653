#include "simulator/instructions/decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "simulator/instructions/forms.hpp"
#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/memory/device_memory.hpp"
#include "simulator/ptx/control_flow.hpp"
#include "simulator/ptx/linking.hpp"
#include "simulator/state/program.hpp"
#include "simulator/state/schedule.hpp"

namespace convladder::simulated {
namespace {

// Limits of the memory that a damaged file can ask for.
constexpr std::uint64_t kMostDeclaredBytes = 1024 * 1024;  // shared or local
constexpr std::uint64_t kMostParameterBytes = 32764;       // from compute capability 7.0 on

constexpr std::uint32_t kLocalBytesOfCalls = 16 * 1024;  // for the local variables of functions, per thread

constexpr DecodeSubject kSubjects[] = {decode_control_flow,
                                       decode_call,
                                       decode_memory_access,
                                       decode_packing,
                                       decode_form,
                                       decode_barrier,
                                       decode_warp_function,
                                       decode_atomic,
                                       decode_vector_atomic,
                                       decode_asynchronous_copy,
                                       decode_matrix,
                                       decode_cache_control,
                                       decode_hint,
                                       decode_video,
                                       decode_stack,
                                       decode_mbarrier,
                                       decode_bulk_copy,
                                       decode_tensor_map,
                                       decode_fence,
                                       decode_cluster,
                                       decode_bulk_initialization,
                                       decode_launch_control,
                                       decode_constant_test,
                                       decode_texture_fetch,
                                       decode_surface_access,
                                       decode_texture_query};

/// Whether it is a reduction of integers, whose result nobody uses and which is the same in every order.
bool is_integer_reduction(const std::vector<std::string_view>& parts) {
  constexpr std::string_view kOperations[] = {"add", "min", "max", "and", "or", "xor"};
  constexpr std::string_view kTypes[] = {"u32", "s32", "b32", "u64", "s64", "b64"};
  const auto is_one_of = [](std::span<const std::string_view> words, std::string_view part) {
    return std::ranges::find(words, part) != words.end();
  };
  return parts[0] == "red" && parts.size() > 2 && parts[1] != "async" &&
         is_one_of(kOperations, parts[parts.size() - 2]) && is_one_of(kTypes, parts.back());
}

/// Whether an instruction neither reads what other warps may write without a barrier in between, nor tells them
/// anything.
bool leaves_order_open(const ptx::Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  const std::vector<std::string_view> parts = ptx::split_opcode(opcode);
  constexpr std::string_view kOrdered[] = {"volatile", "relaxed", "acquire", "release", "mmio", "bulk", "mbarrier"};
  const auto is_ordered = [&](std::string_view part) {
    return std::ranges::find(kOrdered, part) != std::end(kOrdered);
  };
  if (std::ranges::any_of(parts, is_ordered)) return false;
  constexpr std::string_view kOpen[] = {"ld",   "ldu",   "st",    "bra",        "ret",      "exit",      "bar",
                                        "cp",   "mma",   "wmma",  "ldmatrix",   "stmatrix", "movmatrix", "shfl",
                                        "vote", "match", "redux", "activemask", "elect",    "barrier"};
  if (std::ranges::find(kOpen, parts[0]) != std::end(kOpen)) return !opcode.starts_with("barrier.cluster");
  return is_integer_reduction(parts) || forms().find(opcode) != nullptr || forms().find_in_any_order(opcode) != nullptr;
}

std::uint32_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return static_cast<std::uint32_t>((value + multiple - 1) / multiple * multiple);
}

/// The body that a mutation changes, changed; nullptr if it changes none.
std::shared_ptr<const ptx::Kernel> mutated_body(const ptx::Module& module, const ptx::Kernel& kernel,
                                                const Mutation* mutation) {
  if (mutation == nullptr) return nullptr;
  const ptx::Kernel* const body = mutation->body == kernel.name ? &kernel : module.find_function(mutation->body);
  return body == nullptr ? nullptr : std::make_shared<const ptx::Kernel>(mutated(*body, *mutation));
}

/// The kernel linked with the functions that it calls; nullptr if it calls none.
std::shared_ptr<const ptx::LinkedKernel> linked_with_functions(const ptx::Module& module, const ptx::Kernel& kernel,
                                                               const ptx::Kernel* replaced) {
  if (kernel.refusal) throw ptx::PtxError(module.file, kernel.refusal->position, kernel.refusal->what);
  if (std::ranges::none_of(kernel.instructions, ptx::is_call)) return nullptr;
  ptx::LinkedKernel linked = ptx::link(module, kernel, replaced);
  if (linked.functions.empty()) return nullptr;
  return std::make_shared<const ptx::LinkedKernel>(std::move(linked));
}

class KernelDecoder {
 public:
  KernelDecoder(const ptx::Module& module, const ptx::Kernel& kernel, const SymbolAddress& address_of,
                const Mutation* mutation = nullptr)
      : module_(module),
        mutant_(mutated_body(module, kernel, mutation)),
        own_kernel_(mutant_ && mutant_->name == kernel.name ? *mutant_ : kernel),
        linked_(linked_with_functions(module, own_kernel_, mutant_.get())),
        kernel_(linked_ ? linked_->kernel : own_kernel_),
        address_of_(address_of),
        instructions_(module, kernel_, program_) {
    program_.module = &module;
    program_.kernel = &kernel_;
    program_.linked = linked_;
    program_.mutant = mutant_;
  }

  /// Adds what is not supported to `refusals` and decodes the rest; without `refusals`, throws the first.
  Program run(std::vector<ptx::Refusal>* refusals = nullptr) {
    lay_out_parameters();
    lay_out_symbols();
    if (linked_) lay_out_functions();
    const std::vector<ptx::BasicBlock> blocks =
        linked_ ? ptx::control_flow(*linked_, own_kernel_, module_.file) : ptx::control_flow(kernel_, module_.file);
    instructions_.lay_out_registers(blocks);
    std::vector<int> first_operation;
    for (const ptx::BasicBlock& block : blocks) {
      first_operation.push_back(operation_count());
      for (int i = block.first; i < block.end; ++i) try_instruction(i, refusals);
    }
    first_operation.push_back(operation_count());
    resolve_branches(blocks, first_operation);
    program_.may_run_in_lockstep =
        !linked_ && !program_.needs_block_order && std::ranges::all_of(kernel_.instructions, leaves_order_open);

    for (const ptx::Instruction& instruction : kernel_.instructions) {
      program_.is_point.push_back(is_seen_by_others(instruction.opcode));
      program_.stores_by_lane.push_back(stores_lane_by_lane(instruction.opcode));
    }
    program_.block_of_operation.resize(static_cast<std::size_t>(operation_count()) + 1,
                                       static_cast<int>(blocks.size()));
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      program_.blocks.push_back({.first = first_operation[b],
                                 .end = first_operation[b + 1],
                                 .returns = blocks[b].returns,
                                 .round = blocks[b].round,
                                 .reconvergence = first_operation[blocks[b].reconvergence]});
      for (int i = first_operation[b]; i < first_operation[b + 1]; ++i) {
        program_.block_of_operation[i] = static_cast<int>(b);
      }
    }
    return std::move(program_);
  }

 private:
  int operation_count() const { return static_cast<int>(program_.operations.size()); }

  void try_instruction(int index, std::vector<ptx::Refusal>* refusals) {
    try {
      decode_instruction(index);
    } catch (const ptx::PtxError& error) {
      if (refusals == nullptr) throw;
      refusals->push_back({error.position, error.problem});
    }
  }

  void decode_instruction(int index) {
    instructions_.begin(index);
    for (const DecodeSubject decode : kSubjects) {
      if (decode(instructions_)) return;
    }
    instructions_.fail("this instruction is not supported by the simulated device");
  }

  /// Branches were decoded with the instruction that they go to, which is now replaced by an operation.
  void resolve_branches(const std::vector<ptx::BasicBlock>& blocks, const std::vector<int>& first_operation) {
    const auto operation_at = [&](int instruction) {
      const auto found = std::ranges::lower_bound(blocks, instruction, {}, &ptx::BasicBlock::first);
      return first_operation[static_cast<std::size_t>(found - blocks.begin())];
    };
    for (Operation& operation : program_.operations) {
      if (operation.kind == OperationKind::branch) operation.target = operation_at(operation.target);
    }
    for (std::vector<int>& table : program_.branch_tables) {
      for (int& target : table) target = operation_at(target);
    }
    for (std::size_t i = 0; i < program_.functions.size(); ++i) {
      program_.functions[i].first = operation_at(linked_->functions[i].first);
    }
  }

  /// Names of variables that occur as operands outside of brackets.
  std::set<std::string> addressed_symbols() const {
    std::set<std::string> names;
    for (const ptx::Instruction& instruction : kernel_.instructions) {
      for (const ptx::Operand& operand : instruction.operands) {
        if (operand.kind == ptx::OperandKind::symbol) names.insert(operand.name);
      }
    }
    return names;
  }

  /// Places a local variable after `used` bytes, which then include it.
  std::uint64_t reserve_local(const ptx::Symbol& symbol, std::uint64_t& used) const {
    const std::uint64_t place = round_up(used, static_cast<std::uint64_t>(symbol.alignment));
    used = place + symbol.bytes;
    if (used > kMostDeclaredBytes) {
      throw ptx::PtxError(module_.file, symbol.position, fmt::format("'{}' is larger than supported", symbol.name));
    }
    return place;
  }

  void lay_out_functions() {
    const std::set<std::string> addressed = addressed_symbols();
    for (const ptx::LinkedFunction& linked : linked_->functions) {
      ProgramFunction function;
      function.function = linked.function;
      function.address = function_address(module_, linked.function->name);
      for (const ptx::Symbol& parameter : linked.parameters) function.parameters.push_back(place_parameter(parameter));
      for (const ptx::Symbol& result : linked.results) function.results.push_back(place_parameter(result));
      std::uint64_t local = 0;
      for (const ptx::Symbol& symbol : linked.symbols) {
        if (symbol.space != ptx::Space::local) continue;
        instructions_.place_in_frame(symbol.name, reserve_local(symbol, local));
      }
      for (const ptx::Symbol& parameter : linked.parameters) {
        if (!addressed.contains(parameter.name)) continue;
        instructions_.place_copy_in_frame(parameter.name, reserve_local(parameter, local));
      }
      function.local_bytes = round_up(local, 16);
      program_.functions.push_back(std::move(function));
    }
    const auto has_local = [](const ProgramFunction& function) { return function.local_bytes > 0; };
    if (std::ranges::any_of(program_.functions, has_local)) program_.local_bytes += kLocalBytesOfCalls;
  }

  ParameterPlace place_parameter(const ptx::Symbol& symbol) {
    if (symbol.bytes > kMostParameterBytes) {
      throw ptx::PtxError(module_.file, symbol.position, fmt::format("'{}' is larger than supported", symbol.name));
    }
    return instructions_.place_call_parameter(symbol.name, symbol.bytes);
  }

  void lay_out_parameters() {
    for (const ptx::Symbol& parameter : kernel_.parameters) {
      const std::uint32_t offset = round_up(program_.parameter_bytes, static_cast<std::uint64_t>(parameter.alignment));
      if (offset > kMostParameterBytes || parameter.bytes > kMostParameterBytes - offset) {
        throw ptx::PtxError(module_.file, parameter.position,
                            fmt::format("with '{}' the parameters are larger than the {} bytes that a kernel can have",
                                        parameter.name, kMostParameterBytes));
      }
      program_.parameter_offsets.push_back(offset);
      program_.parameter_bytes = offset + static_cast<std::uint32_t>(parameter.bytes);
      instructions_.place_symbol(parameter.name, ptx::Space::param, offset);
    }
  }

  bool asks_for_reserved_memory() const {
    const auto is_place = [](const ptx::Operand& operand) {
      return operand.kind == ptx::OperandKind::special && operand.name.starts_with("%reserved_smem_offset_");
    };
    return std::ranges::any_of(kernel_.instructions, [&](const ptx::Instruction& instruction) {
      return std::ranges::any_of(instruction.operands, is_place);
    });
  }

  void lay_out_symbols() {
    if (asks_for_reserved_memory()) program_.reserved_shared_bytes = kReservedSharedBytes;
    std::uint64_t shared = program_.reserved_shared_bytes;
    std::uint64_t local = 0;
    const auto place = [this](const ptx::Symbol& symbol, std::uint64_t& used) {
      used = round_up(used, static_cast<std::uint64_t>(symbol.alignment));
      instructions_.place_symbol(symbol.name, symbol.space, used);
      used += symbol.bytes;
      if (used > kMostDeclaredBytes) {
        throw ptx::PtxError(module_.file, symbol.position, fmt::format("'{}' is larger than supported", symbol.name));
      }
    };
    std::vector<const ptx::Symbol*> dynamic;
    std::vector<const std::vector<ptx::Symbol>*> lists{&module_.symbols, &kernel_.symbols};
    for (std::size_t i = 0; linked_ && i < linked_->functions.size(); ++i) {
      lists.push_back(&linked_->functions[i].symbols);
    }
    for (const auto* const list : lists) {
      for (const ptx::Symbol& symbol : *list) {
        const bool is_of_function = list != lists[0] && list != lists[1];
        if (is_of_function && symbol.space == ptx::Space::local) continue;  // it is in the frame of a call
        if (symbol.space == ptx::Space::shared && symbol.is_extern) {
          dynamic.push_back(&symbol);
        } else if (symbol.space == ptx::Space::shared) {
          place(symbol, shared);
        } else if (symbol.space == ptx::Space::local) {
          place(symbol, local);
        } else if (symbol.space == ptx::Space::call_param) {
          place_parameter(symbol);
        } else if (ptx::is_undefined(symbol)) {
          refuse_use_of(symbol);
        } else {
          instructions_.place_symbol(symbol.name, symbol.space, address_of_(symbol));
        }
      }
    }
    for (const ptx::Symbol* symbol : dynamic) shared = round_up(shared, static_cast<std::uint64_t>(symbol->alignment));
    for (const ptx::Symbol* symbol : dynamic) {
      instructions_.place_symbol(symbol->name, ptx::Space::shared, shared);
    }
    program_.static_shared_bytes = static_cast<std::uint32_t>(shared);
    program_.own_local_bytes = round_up(local, 16);
    program_.local_bytes = program_.own_local_bytes;
  }

  /// Refuses the kernel if it uses a variable that nothing defines.
  void refuse_use_of(const ptx::Symbol& symbol) const {
    for (const ptx::Instruction& instruction : kernel_.instructions) {
      if (!ptx::uses(kernel_, instruction, symbol.name)) continue;
      throw ptx::PtxError(module_.file, instruction.position, ptx::undefined_text(symbol));
    }
  }

  const ptx::Module& module_;
  std::shared_ptr<const ptx::Kernel> mutant_;
  const ptx::Kernel& own_kernel_;
  std::shared_ptr<const ptx::LinkedKernel> linked_;
  const ptx::Kernel& kernel_;  // includes the instructions of functions
  const SymbolAddress& address_of_;
  Program program_;
  InstructionDecoder instructions_;
};

constexpr std::uint64_t kCodeBytes = 16;  // from one function's address to the next one's
constexpr std::uint64_t kFirstKernel = kFunctionWindow + (std::uint64_t{1} << 36);  // behind all functions

}  // namespace

Program decode(const ptx::Module& module, const ptx::Kernel& kernel, const SymbolAddress& address_of,
               const Mutation* mutation) {
  return KernelDecoder(module, kernel, address_of, mutation).run();
}

std::uint64_t function_address(const ptx::Module& module, std::string_view name) {
  const ptx::Kernel* const function = module.find_function(name);
  if (function == nullptr) {
    if (const ptx::Kernel* const kernel = module.find_kernel(name)) {
      return kFirstKernel + kCodeBytes * static_cast<std::uint64_t>(kernel - module.kernels.data());
    }
  }
  if (function == nullptr) throw ptx::PtxError(module.file, {}, fmt::format("there is no function '{}'", name));
  return kFunctionWindow + kCodeBytes * static_cast<std::uint64_t>(function - module.functions.data());
}

const ptx::Kernel* kernel_at(const ptx::Module& module, std::uint64_t address) {
  const std::uint64_t offset = address - kFirstKernel;
  if (offset % kCodeBytes != 0 || offset / kCodeBytes >= module.kernels.size()) return nullptr;
  return &module.kernels[offset / kCodeBytes];
}

std::vector<ptx::Refusal> refusals(const ptx::Module& module, const ptx::Kernel& kernel) {
  std::vector<ptx::Refusal> all;
  const SymbolAddress anywhere = [](const ptx::Symbol& /*symbol*/) { return std::uint64_t{0}; };
  try {
    KernelDecoder(module, kernel, anywhere).run(&all);
  } catch (const ptx::PtxError& error) {
    all.push_back({error.position, error.problem});
  }
  std::vector<ptx::Refusal> once;
  for (ptx::Refusal& refusal : all) {
    if (std::ranges::find(once, refusal.what, &ptx::Refusal::what) == once.end()) once.push_back(std::move(refusal));
  }
  return once;
}

}  // namespace convladder::simulated

#include "simulator/ptx/linking.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace convladder::ptx {
namespace {

constexpr std::string_view kProvided[] = {"vprintf", "malloc", "free", "__assertfail"};
constexpr std::size_t kMostInstructions = 1 << 24;  // of a kernel and its functions; a damaged file may name many

class Linker {
 public:
  Linker(const Module& module, const Kernel& kernel, const Kernel* replaced)
      : module_(module), replaced_(replaced), linked_{kernel, {}} {}

  LinkedKernel run() {
    look_for_calls(linked_.kernel.instructions);
    while (true) {
      if (wanted_.empty() && calls_pointers_) want_addressed();
      if (wanted_.empty()) break;
      const Kernel* const function = wanted_.back();
      wanted_.pop_back();
      add(replaced_ != nullptr && function->name == replaced_->name ? *replaced_ : *function);
    }
    return std::move(linked_);
  }

 private:
  void look_for_calls(const std::vector<Instruction>& instructions) {
    for (const Instruction& instruction : instructions) {
      if (is_call(instruction)) {
        if (instruction.operands.at(0).kind == OperandKind::register_) {
          calls_pointers_ = true;
        } else {
          want(instruction);
        }
      }
      for (const Operand& operand : instruction.operands) look_for_addresses(operand);
    }
  }

  void look_for_addresses(const Operand& operand) {
    if (operand.kind == OperandKind::function) addressed_.insert(operand.name);
    for (const Operand& element : operand.elements) look_for_addresses(element);
  }

  void want(const Instruction& call) {
    const std::string& name = call.operands[0].name;
    const Kernel* const function = module_.find_function(name);
    if (function == nullptr || !function->is_defined) {
      if (is_provided(name)) return;
      throw PtxError(module_.file, call.position, "the function '" + name + "' is called but not defined in this file");
    }
    if (function->refusal) {
      throw PtxError(module_.file, function->refusal->position,
                     function->refusal->what + " (in the function '" + name + "', which the kernel calls)");
    }
    if (known_.insert(function).second) wanted_.push_back(function);
  }

  /// Adds every function that a pointer may point to; calling an unsupported one is reported as no function.
  void want_addressed() {
    for (const Symbol& symbol : module_.symbols) {
      for (const InitialAddress& address : symbol.initial_addresses) addressed_.insert(address.name);
    }
    for (const Kernel& function : module_.functions) {
      if (!function.is_defined || function.refusal || !is_addressed(function)) continue;
      if (known_.insert(&function).second) wanted_.push_back(&function);
    }
  }

  bool is_addressed(const Kernel& function) const {
    return std::ranges::any_of(addressed_, [&](const std::string& name) {
      return name == function.name || module_.find_function(name) == &function;
    });
  }

  void add(const Kernel& function) {
    Kernel& kernel = linked_.kernel;
    LinkedFunction part;
    part.function = &function;
    part.first = static_cast<int>(kernel.instructions.size());
    const auto first_register = static_cast<int>(kernel.registers.size());
    if (kernel.instructions.size() + function.instructions.size() > kMostInstructions) {
      throw PtxError(module_.file, function.position, "a kernel calls more functions than supported");
    }
    std::set<std::string, std::less<>> own;
    const auto take = [&own, &function](const std::vector<Symbol>& symbols) {
      std::vector<Symbol> renamed = symbols;
      for (Symbol& symbol : renamed) {
        own.insert(symbol.name);
        symbol.name = function.name + ':' + symbol.name;
      }
      return renamed;
    };
    part.parameters = take(function.parameters);
    part.results = take(function.results);
    part.symbols = take(function.symbols);
    kernel.registers.insert(kernel.registers.end(), function.registers.begin(), function.registers.end());
    for (Instruction instruction : function.instructions) {
      if (instruction.predicate >= 0) instruction.predicate += first_register;
      for (Operand& operand : instruction.operands) {
        move(operand, first_register, part.first, function.name + ':', own);
      }
      kernel.instructions.push_back(std::move(instruction));
    }
    linked_.functions.push_back(std::move(part));
    look_for_calls(function.instructions);
  }

  static void move(Operand& operand, int registers, int instructions, const std::string& prefix,
                   const std::set<std::string, std::less<>>& own) {
    const bool has_name = operand.kind == OperandKind::symbol || operand.kind == OperandKind::address;
    if (has_name && own.contains(operand.name)) operand.name = prefix + operand.name;
    if (operand.index >= 0) operand.index += operand.kind == OperandKind::label ? instructions : registers;
    for (Operand& element : operand.elements) move(element, registers, instructions, prefix, own);
  }

  const Module& module_;
  const Kernel* replaced_;
  LinkedKernel linked_;
  std::set<const Kernel*> known_;
  std::vector<const Kernel*> wanted_;
  std::set<std::string> addressed_;
  bool calls_pointers_ = false;
};

bool names_symbol(const Operand& operand) {
  return !operand.name.empty() && (operand.kind == OperandKind::symbol || operand.kind == OperandKind::address ||
                                   operand.kind == OperandKind::function);
}

/// Whether a body has a variable or parameter of its own of that name.
bool has_own(const Kernel& body, std::string_view name) {
  return std::ranges::any_of(
      std::initializer_list<const std::vector<Symbol>*>{&body.symbols, &body.parameters, &body.results},
      [name](const auto* symbols) { return std::ranges::find(*symbols, name, &Symbol::name) != symbols->end(); });
}

/// Collects undefined names of a module.
class UndefinedNames {
 public:
  explicit UndefinedNames(const Module& module) : module_(module) {}

  std::vector<Refusal> run() {
    for (const auto* const bodies : {&module_.kernels, &module_.functions}) {
      for (const Kernel& body : *bodies) {
        for (const Instruction& instruction : body.instructions) {
          for (const Operand& operand : instruction.operands) look_at(operand, instruction.position, body);
        }
      }
    }
    for (const Symbol& symbol : module_.symbols) {
      for (const InitialAddress& address : symbol.initial_addresses) look_for(address.name, symbol.position);
    }
    std::ranges::stable_sort(found_, {},
                             [](const Refusal& one) { return std::pair(one.position.line, one.position.column); });
    return std::move(found_);
  }

 private:
  void look_at(const Operand& operand, Position position, const Kernel& body) {
    if (names_symbol(operand) && !has_own(body, operand.name)) look_for(operand.name, position);
    for (const Operand& element : operand.elements) look_at(element, position, body);
  }

  void look_for(const std::string& name, Position position) {
    if (!looked_for_.insert(name).second) return;
    if (const Kernel* const function = module_.find_function(name)) {
      const bool is_of_toolkit = is_provided(name) || name.starts_with("cuda") || name.starts_with("__cuda");
      if (!function->is_defined && !is_of_toolkit) {
        found_.push_back({position, "undefined reference to the function '" + name + "'"});
      }
      return;
    }
    const auto symbol = std::ranges::find(module_.symbols, name, &Symbol::name);
    if (symbol != module_.symbols.end() && is_undefined(*symbol)) found_.push_back({position, undefined_text(*symbol)});
  }

  const Module& module_;
  std::set<std::string, std::less<>> looked_for_;
  std::vector<Refusal> found_;
};

}  // namespace

bool is_undefined(const Symbol& symbol) {
  return symbol.is_extern && (symbol.space == Space::global || symbol.space == Space::constant);
}

bool uses(const Kernel& body, const Instruction& instruction, std::string_view symbol) {
  const auto names = [&](const auto& self, const Operand& operand) -> bool {
    return (names_symbol(operand) && operand.name == symbol) ||
           std::ranges::any_of(operand.elements, [&](const Operand& element) { return self(self, element); });
  };
  return !has_own(body, symbol) &&
         std::ranges::any_of(instruction.operands, [&](const Operand& operand) { return names(names, operand); });
}

std::string undefined_text(const Symbol& symbol) {
  return "undefined reference to the variable '" + symbol.name + "', which is only declared (.extern)";
}

std::vector<Refusal> undefined(const Module& module) { return UndefinedNames(module).run(); }

bool is_call(const Instruction& instruction) {
  return instruction.opcode == "call" || instruction.opcode.starts_with("call.");
}

bool is_of_device_runtime(std::string_view function) {
  constexpr std::string_view kOld = "cuda";  // and a capital letter: cudaLaunchDevice
  const bool is_old = function.size() > kOld.size() && function.starts_with(kOld) && function[kOld.size()] >= 'A' &&
                      function[kOld.size()] <= 'Z';
  return is_old || function.starts_with("__cuda");
}

bool is_provided(std::string_view function) {
  return std::ranges::find(kProvided, function) != std::end(kProvided) || is_of_device_runtime(function);
}

LinkedKernel link(const Module& module, const Kernel& kernel, const Kernel* replaced) {
  return Linker(module, kernel, replaced).run();
}

std::vector<BasicBlock> control_flow(const LinkedKernel& linked, const Kernel& kernel, const std::string& file) {
  std::vector<std::vector<BasicBlock>> parts{control_flow(kernel, file)};
  for (const LinkedFunction& function : linked.functions) parts.push_back(control_flow(*function.function, file));
  int all = 0;
  for (const auto& part : parts) all += static_cast<int>(part.size());
  std::vector<BasicBlock> blocks;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const auto first_block = static_cast<int>(blocks.size());
    const auto end = static_cast<int>(parts[p].size());
    const int first_instruction = p == 0 ? 0 : linked.functions[p - 1].first;
    const auto moved = [&](int block) { return block == end ? all : block + first_block; };
    parts[p].front().begins_function = p > 0;
    // A block that only returns may end the call or the thread.
    const bool exits = p > 0 && std::ranges::any_of(linked.functions[p - 1].function->instructions,
                                                    [](const auto& one) { return one.opcode == "exit"; });
    for (BasicBlock& block : parts[p]) {
      block.returns = block.returns && !exits;
      block.first += first_instruction;
      block.end += first_instruction;
      for (int& successor : block.successors) successor = moved(successor);
      block.reconvergence = moved(block.reconvergence);
      blocks.push_back(std::move(block));
    }
  }
  return blocks;
}

}  // namespace convladder::ptx

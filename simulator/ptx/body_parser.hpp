// The bodies of kernels and functions: registers, variables, labels and instructions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "simulator/ptx/declarations.hpp"
#include "simulator/ptx/module.hpp"
#include "simulator/ptx/names.hpp"
#include "simulator/ptx/operand_parser.hpp"
#include "simulator/ptx/source_places.hpp"
#include "simulator/ptx/token_reader.hpp"

namespace convladder::ptx {

class BodyParser {
 public:
  /// Reads into `kernel`. Variables of the whole device that a body declares go to `module`; `registers` counts the
  /// registers of all bodies.
  BodyParser(TokenReader& tokens, Names& names, Module& module, Kernel& kernel, std::uint64_t& registers)
      : tokens_(tokens),
        names_(names),
        module_(module),
        kernel_(kernel),
        registers_(registers),
        operands_(tokens, names),
        places_(module.inlined_calls) {}

  /// Reads from after the '{' up to after its '}'. `parameters` and `results` are those of the kernel or function.
  void take(const std::vector<Parameter>& parameters, const std::vector<Parameter>& results);

 private:
  void declare_parameters(const std::vector<Parameter>& parameters);
  void load_register_parameters(const std::vector<Parameter>& parameters);
  void statement();
  bool label();
  void branch_targets(const Token& name);
  void registers();
  void declare_register(const std::string& name, Type type, const Token& at);
  void declare_vector(const std::string& name, Type type, int elements, const Token& at);
  void variables(Space space);
  void instruction();
  void guard(Instruction& instruction);
  void call(Instruction& instruction);
  std::vector<Operand> call_list();
  void store_register_results(const Instruction& at);
  void pragma();
  Instruction parameter_access(const char* opcode, const Parameter& parameter, Position position) const;
  void add(Instruction instruction);
  void end_with_trap();
  void open_scope();
  void close_scope();
  void resolve_labels();
  void resolve(Operand& operand, std::size_t scope, bool in_table);

  /// The labels of a pair of braces, which nobody outside can name.
  struct LabelScope {
    std::size_t outer = 0;
    std::map<std::string, int, std::less<>> labels;      // instructions
    std::map<std::string, Operand, std::less<>> tables;  // of `.branchtargets`
  };

  TokenReader& tokens_;
  Names& names_;
  Module& module_;
  Kernel& kernel_;
  std::uint64_t& registers_;
  OperandParser operands_;
  SourcePlaces places_;
  std::vector<Parameter> register_results_;
  std::map<std::string, int, std::less<>> used_;  // how often each name of a variable or parameter was used
  std::map<std::string, std::string, std::less<>> ordered_opcodes_;  // by the opcode as written
  std::vector<LabelScope> label_scopes_;                             // the first is the body's
  std::size_t scope_ = 0;                                            // the current one
  std::vector<std::size_t> scope_of_instruction_;
  std::uint32_t used_bytes_ = 0;  // of the next instruction
};

}  // namespace convladder::ptx

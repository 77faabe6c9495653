// A PTX module as data: its kernels with resolved registers, symbols and labels, every instruction with its place.
//
// This is the form between text and execution. Nothing here depends on what the simulated device supports; things that
// it cannot execute are refused when a kernel is decoded, with the position kept here.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace convladder::ptx {

/// A place in a PTX text, counted from 1.
struct Position {
  int line = 0;
  int column = 0;
  bool operator==(const Position&) const = default;
};

/// PTX that cannot be read or is not supported. The message starts with "file:line:column: ".
struct PtxError : std::runtime_error {
  PtxError(const std::string& file, Position position, const std::string& what)
      : std::runtime_error(file + ":" + std::to_string(position.line) + ":" + std::to_string(position.column) + ": " +
                           what),
        position(position),
        problem(what) {}
  Position position;
  std::string problem;  ///< the message without the place
};

/// State spaces of variables and addresses (PTX ISA 9.0, 5.1). `param` has a kernel's parameters; `call_param` those of
/// functions, and the variables `.param` of bodies that are passed to and from functions.
enum class Space { generic, global, constant, shared, local, param, call_param };

/// Fundamental types (PTX ISA 9.0, 5.2.1). `bits` is the width; a predicate has width 1.
enum class TypeClass { bits, unsigned_, signed_, floating, floating_pair, predicate };
struct Type {
  TypeClass type_class = TypeClass::bits;
  int bits = 32;
  bool operator==(const Type&) const = default;
  int bytes() const { return (bits + 7) / 8; }
};

/// The type of a suffix such as ".f32", ".b64", ".pred", ".f16x2"; none for other text.
std::optional<Type> type_of_suffix(std::string_view suffix);

/// Splits "ld.global.u32" into its parts.
std::vector<std::string_view> split_opcode(std::string_view opcode);

struct Register {
  std::string name;  ///< as written; names of inner scopes may repeat
  Type type;
};

/// An initial value that is the address of a variable or function, plus `addend`; if `bytes` is 1, only the byte from
/// bit `shift` on.
struct InitialAddress {
  std::uint64_t offset = 0;  ///< in the variable, bytes
  int bytes = 8;
  int shift = 0;
  std::string name{};  ///< as in Symbol::name or Kernel::name
  std::uint64_t addend = 0;
};

/// A variable of the module, of a kernel or of a function (shared, local, call_param), or a parameter.
struct Symbol {
  std::string
      name;  ///< as written; a repeated name gets ":" and a number behind it, or a kernel's name and ":" before it
  Space space = Space::global;
  int alignment = 1;        ///< bytes
  std::uint64_t bytes = 0;  ///< 0 for `extern .shared name[]`: sized by the launch
  bool is_extern = false;
  bool is_managed = false;                  ///< the host reads and writes it as well
  std::vector<std::uint8_t> initial_bytes;  ///< as many as were given; the others are zero
  std::vector<InitialAddress> initial_addresses;
  bool is_array = false;    ///< of a parameter: ".b8 name[16]"
  bool is_float = false;    ///< of a parameter: its type is .f32 or another of floats
  std::string opaque_type;  ///< "texref", "samplerref" or "surfref": then `bytes` is the size of a handle
  std::vector<std::pair<std::string, std::string>> fields;  ///< its initial values: "filter_mode" and "linear"
  Position position;
};

enum class OperandKind {
  register_,  ///< `index` into Kernel::registers; `negated` for !p, and for -r of a video instruction; `selector`
  immediate,  ///< `bits` and `number`
  symbol,     ///< the address of `symbol` plus `offset`
  address,    ///< [register + offset] or [symbol + offset] or [offset]; parts after commas are `elements`
  special,    ///< "%tid.x": `name`
  label,      ///< a branch target: `index` is the instruction after it
  function,   ///< the function `name`: to be called, or its address
  vector,     ///< {a, b, …}: `elements`; also a vector register, the labels of `brx.idx`, and the lists of `call`
  pair,       ///< a|b: `elements`
  sink,       ///< _
};

enum class NumberKind { integer, single, double_ };

struct Operand {
  OperandKind kind = OperandKind::immediate;
  int index = -1;  ///< register, or instruction after a label; base register of an address, or -1
  bool negated = false;
  std::uint64_t bits = 0;  ///< value of an immediate: two's complement, or the float's bits
  NumberKind number = NumberKind::integer;
  std::int64_t offset = 0;  ///< bytes added to an address or symbol
  std::string name;      ///< name of a symbol, function, label or special register; base symbol of an address, or empty
  std::string selector;  ///< part of a video instruction's register: "b0", "h10"
  std::vector<Operand> elements;
  Position position;  ///< place of a label in the text
};

/// The origin of an instruction in the compiled source (.loc); line 0 where nothing is known.
struct SourceLocation {
  int file = 0;  ///< number in Module::source_files
  int line = 0;
  int caller = -1;  ///< of code that was inlined: index of the call in Module::inlined_calls
};

struct Instruction {
  std::string opcode;             ///< the full opcode: "ld.global.v4.f32"
  std::vector<Operand> operands;  ///< for `call`: the callee, a vector of results, a vector of arguments
  int predicate = -1;             ///< register that guards it, or -1
  bool predicate_negated = false;
  /// A bit for each byte of a load that is used (`.pragma "used_bytes_mask"`); 0: all are.
  std::uint32_t used_bytes = 0;
  Position position;  ///< place of the opcode
  SourceLocation source;
};

/// Something that is not supported, and its place.
struct Refusal {
  Position position;
  std::string what;
};

/// A kernel, or a function that kernels call.
struct Kernel {
  std::string name;                ///< mangled
  std::vector<Symbol> parameters;  ///< in order; in space param, or call_param for a function
  std::vector<Symbol> results;     ///< of a function, in space call_param
  std::vector<Register> registers;
  std::vector<Symbol> symbols;  ///< its own shared and local variables
  std::vector<Instruction> instructions;
  int max_threads_per_block = 0;                  ///< product of .maxntid or .reqntid; 0 if neither is given
  std::array<int, 3> required_block = {0, 0, 0};  ///< the only size that a block may have: .reqntid; 0 if not given
  std::array<int, 3> cluster_size = {0, 0, 0};    ///< from .reqnctapercluster; 0 if it is not given
  bool blocks_are_clusters = false;               ///< whether a launch's grid counts clusters: .blocksareclusters
  bool is_defined = true;                         ///< false for a function that is only declared
  Position position;
  /// The part that cannot be read. `instructions` then end before it, and only running the kernel is refused.
  std::optional<Refusal> refusal;
};

struct SourceFile {
  int number = 0;
  std::string name;
};

struct Module {
  std::string file;     ///< name in messages
  std::string version;  ///< "9.0"
  std::string target;   ///< "sm_75"
  std::vector<SourceFile> source_files;
  std::vector<SourceLocation> inlined_calls;
  std::vector<Symbol> symbols;  ///< global and constant variables, and shared ones of the module
  std::vector<Kernel> kernels;
  std::vector<Kernel> functions;
  std::map<std::string, std::string, std::less<>> aliases;  ///< of functions
  int address_bits = 64;

  /// The function of that name or alias, or nullptr.
  const Kernel* find_function(std::string_view name) const;
  /// The kernel of that name, or nullptr.
  const Kernel* find_kernel(std::string_view name) const;
  /// The name of the file with this number, "conv.cu"; empty if it is not known.
  std::string source_name(int number) const;
};

}  // namespace convladder::ptx

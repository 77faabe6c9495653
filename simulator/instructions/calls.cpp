// Calls of functions and their arguments (PTX ISA 9.0, 7.1 and 9.7.13.5): `call`, and `ld.param` and `st.param` of
// `.param` variables in bodies. These variables are in the frame of a call, lane after lane, and have no addresses.

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/instructions/provided_functions.hpp"
#include "simulator/ptx/linking.hpp"

namespace convladder::simulated {
namespace {

using ptx::OperandKind;

/// Operands: value. `offset` is the place of the first lane's value, `list` the bytes from lane to lane.
template <typename From, typename To>
void load_parameter(WarpState& warp, const Operation& operation) {
  const std::byte* const from = warp.bases[0] + operation.offset;
  const auto stride = static_cast<std::size_t>(operation.list);
  write_lanes(warp.write<To>(operation.operands[0]), warp.mask, [=](int lane) {
    From value;
    std::memcpy(&value, from + static_cast<std::size_t>(lane) * stride, sizeof value);
    return static_cast<To>(value);
  });
}

template <typename From, typename To>
void store_parameter(WarpState& warp, const Operation& operation) {
  std::byte* const to = warp.bases[0] + operation.offset;
  const auto stride = static_cast<std::size_t>(operation.list);
  const auto* const from = warp.read<From>(operation.operands[0]);
  for (int lane = 0; lane < kLanes; ++lane) {
    if (((warp.mask >> lane) & 1U) == 0) continue;
    const auto value = static_cast<To>(from[lane]);
    std::memcpy(to + static_cast<std::size_t>(lane) * stride, &value, sizeof value);
  }
}

Handler load_handler(int bits, bool is_signed) {
  switch (bits) {
    case 8:
      return is_signed ? &load_parameter<std::int8_t, std::uint32_t> : &load_parameter<std::uint8_t, std::uint32_t>;
    case 16:
      return is_signed ? &load_parameter<std::int16_t, std::uint32_t> : &load_parameter<std::uint16_t, std::uint32_t>;
    case 32:
      return &load_parameter<std::uint32_t, std::uint32_t>;
    default:
      return &load_parameter<std::uint64_t, std::uint64_t>;
  }
}

Handler store_handler(int bits) {
  switch (bits) {
    case 8:
      return &store_parameter<std::uint32_t, std::uint8_t>;
    case 16:
      return &store_parameter<std::uint32_t, std::uint16_t>;
    case 32:
      return &store_parameter<std::uint32_t, std::uint32_t>;
    default:
      return &store_parameter<std::uint64_t, std::uint64_t>;
  }
}

void emit_access(InstructionDecoder& decoder, Handler handler, Slot value, const ParameterPlace& place,
                 std::int64_t offset) {
  Operation operation;
  operation.handler = handler;
  operation.operands[0] = value;
  operation.offset = static_cast<std::int64_t>(place.offset) + offset;
  operation.list = static_cast<int>(place.stride);
  decoder.emit(operation);
}

// --- ld.param, st.param ---------------------------------------------------------------------------------------------

struct ParameterAccess {
  bool is_store = false;
  ptx::Type type;
  int elements = 1;
};

std::optional<ParameterAccess> parse_parameter_access(std::string_view opcode) {
  const std::vector<std::string_view> parts = ptx::split_opcode(opcode);
  if (parts.size() < 3 || (parts[0] != "ld" && parts[0] != "st") || !parts[1].starts_with("param")) return std::nullopt;
  const auto type = ptx::type_of_suffix(fmt::format(".{}", parts.back()));
  if (!type || type->type_class == ptx::TypeClass::predicate || type->bits > 64) return std::nullopt;
  ParameterAccess access{parts[0] == "st", *type, 1};
  for (std::size_t i = 2; i + 1 < parts.size(); ++i) {
    if (parts[i] != "v2" && parts[i] != "v4") return std::nullopt;
    access.elements = parts[i] == "v2" ? 2 : 4;
  }
  return access;
}

bool decode_parameter_access(InstructionDecoder& decoder) {
  const ptx::Instruction& instruction = decoder.instruction();
  const auto access = parse_parameter_access(instruction.opcode);
  if (!access || instruction.operands.size() != 2) return false;
  const ptx::Operand& address = instruction.operands[access->is_store ? 0 : 1];
  const ptx::Operand& value = instruction.operands[access->is_store ? 1 : 0];
  const ParameterPlace* const place = decoder.call_parameter(address.name);
  if (address.kind != OperandKind::address || place == nullptr) return false;
  const std::vector<ptx::Operand> single{value};
  const std::vector<ptx::Operand>& elements = value.kind == OperandKind::vector ? value.elements : single;
  if (elements.size() != static_cast<std::size_t>(access->elements)) {
    decoder.fail(fmt::format("expected {} elements, found {}", access->elements, elements.size()));
  }
  const int bytes = access->type.bytes();
  if (address.offset < 0 || address.offset > place->bytes || place->bytes - address.offset < access->elements * bytes) {
    decoder.fail(fmt::format("bytes {} to {} of a parameter of {} bytes", address.offset,
                             address.offset + access->elements * bytes - 1, place->bytes));
  }
  const int bits = access->type.bits <= 32 ? 32 : 64;
  const bool is_signed = access->type.type_class == ptx::TypeClass::signed_;
  for (int i = 0; i < access->elements; ++i) {
    const ptx::Operand& element = elements[static_cast<std::size_t>(i)];
    const std::int64_t offset = address.offset + i * bytes;
    if (access->is_store) {
      emit_access(decoder, store_handler(access->type.bits), decoder.read(element, bits), *place, offset);
    } else {
      emit_access(decoder, load_handler(access->type.bits, is_signed), decoder.write_narrow(element, bits, is_signed),
                  *place, offset);
    }
  }
  decoder.finish_writes();
  return true;
}

// --- call -----------------------------------------------------------------------------------------------------------

/// The arguments and results of a call: places of `.param` variables, and those of values in registers and constants.
class CallOperands {
 public:
  explicit CallOperands(InstructionDecoder& decoder) : decoder_(decoder) {}

  /// `formals` are the function's parameters; nullptr if it is not known which function is called.
  std::vector<ParameterPlace> arguments(const std::vector<ptx::Operand>& given,
                                        const std::vector<ParameterPlace>* formals) {
    return places(given, formals, "arguments", [this](const ptx::Operand& operand, std::uint64_t bytes) {
      const ParameterPlace place = decoder_.unnamed_parameter(bytes);
      emit_access(decoder_, store_handler(static_cast<int>(8 * bytes)), decoder_.read(operand, bytes == 8 ? 64 : 32),
                  place, 0);
      return place;
    });
  }
  std::vector<ParameterPlace> results(const std::vector<ptx::Operand>& given,
                                      const std::vector<ParameterPlace>* formals) {
    return places(given, formals, "results", [this](const ptx::Operand& operand, std::uint64_t bytes) {
      const ParameterPlace place = decoder_.unnamed_parameter(bytes);
      if (operand.kind != OperandKind::sink) loads_.push_back({&operand, place});
      return place;
    });
  }
  /// Loads results into registers after the call.
  void load_results() {
    for (const auto& [operand, place] : loads_) {
      const Slot slot = decoder_.write_narrow(*operand, place.bytes == 8 ? 64 : 32);
      emit_access(decoder_, load_handler(static_cast<int>(8 * place.bytes), false), slot, place, 0);
    }
    decoder_.finish_writes();
  }

 private:
  template <typename MakePlace>
  std::vector<ParameterPlace> places(const std::vector<ptx::Operand>& given, const std::vector<ParameterPlace>* formals,
                                     const char* what, const MakePlace& make_place) {
    if (formals != nullptr && given.size() != formals->size()) {
      decoder_.fail(fmt::format("expected {} {}, found {}", formals->size(), what, given.size()));
    }
    std::vector<ParameterPlace> places;
    for (std::size_t i = 0; i < given.size(); ++i) {
      const ParameterPlace* const variable =
          given[i].kind == OperandKind::symbol ? decoder_.call_parameter(given[i].name) : nullptr;
      const std::uint64_t wanted = formals != nullptr ? (*formals)[i].bytes : bytes_of(given[i]);
      if (variable == nullptr && wanted != 1 && wanted != 2 && wanted != 4 && wanted != 8) {
        decoder_.fail(fmt::format("{} {}: a '.param' variable of {} bytes is expected", what, i + 1, wanted));
      }
      if (variable != nullptr && variable->bytes != wanted) {
        decoder_.fail(fmt::format("{} {}: {} bytes are expected, found {}", what, i + 1, wanted, variable->bytes));
      }
      places.push_back(variable != nullptr ? *variable : make_place(given[i], wanted));
    }
    return places;
  }

  /// The bytes of an argument for a function that is not known.
  std::uint64_t bytes_of(const ptx::Operand& operand) const {
    if (operand.kind == OperandKind::register_) return static_cast<std::uint64_t>(decoder_.register_bits(operand)) / 8;
    const ParameterPlace* const variable = decoder_.call_parameter(operand.name);
    if (variable == nullptr) decoder_.fail("a call through a pointer takes registers and '.param' variables");
    return variable->bytes;
  }

  InstructionDecoder& decoder_;
  struct Load {
    const ptx::Operand* operand;
    ParameterPlace place;
  };
  std::vector<Load> loads_;
};

void decode_function_call(InstructionDecoder& decoder) {
  const ptx::Instruction& instruction = decoder.instruction();
  const ptx::Operand& callee = instruction.operands.at(0);
  Program& program = decoder.program();
  CallSite site;
  Operation operation;
  operation.kind = OperationKind::call;
  std::vector<ParameterPlace> provided_arguments;
  std::vector<ParameterPlace> provided_results;
  const std::vector<ParameterPlace>* arguments = nullptr;
  const std::vector<ParameterPlace>* results = nullptr;
  if (callee.kind == OperandKind::register_) {
    operation.operands[0] = decoder.read(callee, decoder.register_bits(callee));
    operation.vector_elements = decoder.register_bits(callee) == 64 ? 2 : 1;
  } else if (const ptx::Kernel* const called = decoder.module().find_function(callee.name);
             called != nullptr && called->is_defined) {
    for (std::size_t i = 0; i < program.functions.size(); ++i) {
      if (program.functions[i].function == called) site.function = static_cast<int>(i);
    }
    const ProgramFunction& function = program.functions.at(static_cast<std::size_t>(site.function));
    arguments = &function.parameters;
    results = &function.results;
  } else {
    const ProvidedFunction* const provided = provided_function(callee.name);
    if (provided == nullptr && ptx::is_of_device_runtime(callee.name)) {
      decoder.fail(fmt::format("kernels cannot call '{}' on the simulated device", callee.name));
    }
    if (provided == nullptr) decoder.fail(fmt::format("the function '{}' is not defined in this file", callee.name));
    for (const std::uint32_t bytes : provided->arguments) provided_arguments.push_back({0, bytes, bytes});
    for (const std::uint32_t bytes : provided->results) provided_results.push_back({0, bytes, bytes});
    arguments = &provided_arguments;
    if (instruction.operands[1].elements.empty()) provided_results.clear();  // its results may be ignored
    results = &provided_results;
    operation.kind = provided->kind;
    operation.handler = provided->handler;
    decoder.require_block_order();  // heap and printed text are shared by all blocks
  }
  CallOperands operands(decoder);
  site.arguments = operands.arguments(instruction.operands[2].elements, arguments);
  site.results = operands.results(instruction.operands[1].elements, results);
  operation.detail = static_cast<int>(program.calls.size());
  program.calls.push_back(std::move(site));
  decoder.emit(operation);
  operands.load_results();
}

}  // namespace

bool decode_call(InstructionDecoder& decoder) {
  if (!ptx::is_call(decoder.instruction())) return decode_parameter_access(decoder);
  decode_function_call(decoder);
  return true;
}

}  // namespace convladder::simulated

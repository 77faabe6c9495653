// Places of the variables of functions: `.param` variables are in the frame of a call, local ones after those of the
// caller.

#include <cstring>

#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/state/block_context.hpp"

namespace convladder::simulated {
namespace {

/// Operands: a sum, and its two terms.
template <typename T>
void add_slots(WarpState& warp, const Operation& operation) {
  const auto* a = warp.read<std::uint64_t>(operation.operands[1]);
  const auto* b = warp.read<std::uint64_t>(operation.operands[2]);
  write_lanes(warp.write<T>(operation.operands[0]), warp.mask,
              [=](int lane) { return static_cast<T>(a[lane] + b[lane]); });
}

/// Operands: the address in local memory; `offset` and `list` are a ParameterPlace, `detail` the bytes.
void copy_to_local(WarpState& warp, const Operation& operation) {
  BlockContext& block = *warp.block;
  const auto* const to = warp.read<std::uint64_t>(operation.operands[0]);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if (((warp.mask >> lane) & 1U) == 0) continue;
    const std::size_t thread = static_cast<std::size_t>(warp.index) * kLanes + lane;
    std::memcpy(block.local.data() + thread * block.program->local_bytes + to[lane],
                warp.bases[0] + operation.offset + lane * static_cast<std::size_t>(operation.list),
                static_cast<std::size_t>(operation.detail));
  }
}

}  // namespace

void InstructionDecoder::place_in_frame(const std::string& name, std::uint64_t place) {
  place_symbol(name, ptx::Space::local, place);
  in_frame_.insert(name);
  if (!program_.local_base) program_.local_base = temporary(64);
}

/// The address of a local variable in the current frame.
Slot InstructionDecoder::local_address(std::uint64_t place, int bits) {
  const Slot result = temporary(bits);
  emit(bits == 64 ? &add_slots<std::uint64_t> : &add_slots<std::uint32_t>,
       {result, *program_.local_base, constant(place, 64)});
  return result;
}

void InstructionDecoder::place_copy_in_frame(const std::string& name, std::uint64_t place) {
  copies_[name] = place;
  if (!program_.local_base) program_.local_base = temporary(64);
}

/// The address of a function's parameter is that of a copy in local memory (PTX ISA 9.0, 9.7.9.1).
Slot InstructionDecoder::address_of_parameter(const ptx::Operand& operand, int bits) {
  const auto copy = copies_.find(operand.name);
  if (copy == copies_.end()) fail("only parameters of functions have addresses");
  const ParameterPlace& place = call_parameters_.at(operand.name);
  const Slot begin = local_address(copy->second, 64);
  Operation operation;
  operation.handler = copy_to_local;
  operation.operands[0] = begin;
  operation.offset = place.offset;
  operation.list = static_cast<int>(place.stride);
  operation.detail = static_cast<int>(place.bytes);
  emit(operation);
  return local_address(copy->second + static_cast<std::uint64_t>(operand.offset), bits);
}

ParameterPlace InstructionDecoder::unnamed_parameter(std::uint64_t bytes) {
  const auto stride = static_cast<std::uint32_t>((bytes + 3) / 4 * 4);
  const ParameterPlace place{program_.register_bytes, stride, static_cast<std::uint32_t>(bytes)};
  reserve(static_cast<std::uint32_t>(kLanes) * stride);
  return place;
}

ParameterPlace InstructionDecoder::place_call_parameter(const std::string& name, std::uint64_t bytes) {
  place_symbol(name, ptx::Space::call_param, 0);
  return call_parameters_[name] = unnamed_parameter(bytes);
}

const ParameterPlace* InstructionDecoder::call_parameter(const std::string& name) const {
  const auto found = call_parameters_.find(name);
  return found == call_parameters_.end() ? nullptr : &found->second;
}

}  // namespace convladder::simulated

// The operands of an instruction: the slots that it reads and writes, and its addresses.

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "simulator/instructions/decoder.hpp"
#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/memory/device_memory.hpp"

namespace convladder::simulated {

using ptx::OperandKind;

namespace {

/// The offset of the upper 64 bits in a slot of 128.
constexpr std::uint32_t kHighHalf = 8 * kLanes;

void narrow_slot(WarpState& warp, const Operation& operation) {
  const auto* from = warp.read<std::uint64_t>(operation.operands[1]);
  write_lanes(warp.write<std::uint32_t>(operation.operands[0]), warp.mask,
              [=](int lane) { return static_cast<std::uint32_t>(from[lane]); });
}
template <typename From>
void widen_slot(WarpState& warp, const Operation& operation) {
  const auto* from = warp.read<From>(operation.operands[1]);
  write_lanes(warp.write<std::uint64_t>(operation.operands[0]), warp.mask,
              [=](int lane) { return static_cast<std::uint64_t>(from[lane]); });
}
template <typename From>
void add_offset(WarpState& warp, const Operation& operation) {
  const auto* from = warp.read<From>(operation.operands[1]);
  const auto offset = static_cast<From>(operation.offset);
  write_lanes(warp.write<std::uint64_t>(operation.operands[0]), warp.mask,
              [=](int lane) { return std::uint64_t{static_cast<From>(from[lane] + offset)}; });
}
template <typename T>
void add_to_register(WarpState& warp, const Operation& operation) {
  const auto* from = warp.read<T>(operation.operands[1]);
  const auto offset = static_cast<T>(operation.offset);
  write_lanes(warp.write<T>(operation.operands[0]), warp.mask, [=](int lane) { return from[lane] + offset; });
}
void invert_predicate(WarpState& warp, const Operation& operation) {
  *warp.write<LaneMask>(operation.operands[0]) = ~*warp.read<LaneMask>(operation.operands[1]);
}

std::uint64_t immediate_bits(const ptx::Operand& operand, int bits) {
  if (operand.number == ptx::NumberKind::double_ && bits == 32) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(operand.bits)));
  }
  if (operand.number == ptx::NumberKind::single && bits == 64) {
    return std::bit_cast<std::uint64_t>(
        static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits))));
  }
  return bits == 32 ? operand.bits & 0xffffffffU : operand.bits;
}

}  // namespace

void InstructionDecoder::check_width(const ptx::Operand& operand, int bits) const {
  if (register_bits(operand) == bits) return;
  const ptx::Register& reg = kernel_.registers[static_cast<std::size_t>(operand.index)];
  fail(fmt::format("the register {} has {} bits where {} are expected", reg.name, reg.type.bits, bits));
}

Slot InstructionDecoder::write(const ptx::Operand& operand, int bits) {
  if (operand.kind == OperandKind::sink) return bits == 1 ? ignored_predicate() : temporary(bits);
  if (operand.kind != OperandKind::register_) fail("a destination must be a register");
  if (operand.negated) fail("a destination cannot be negated");
  if (operand.offset != 0) fail("nothing can be added to a destination");
  refuse_selector(operand);
  check_width(operand, bits);
  return registers_[static_cast<std::size_t>(operand.index)];
}

Slot InstructionDecoder::write_narrow(const ptx::Operand& operand, int bits, bool sign_extended) {
  if (operand.kind != OperandKind::register_ || bits != 32 || register_bits(operand) != 64) return write(operand, bits);
  const Slot narrow = temporary(32);
  widened_.push_back({registers_[static_cast<std::size_t>(operand.index)], narrow,
                      sign_extended ? &widen_slot<std::int32_t> : &widen_slot<std::uint32_t>});
  return narrow;
}

std::array<Slot, 2> InstructionDecoder::read_128_bits(const ptx::Operand& operand) {
  if (operand.kind != OperandKind::register_) fail("a register of 128 bits is expected");
  return write_128_bits(operand);
}

std::array<Slot, 2> InstructionDecoder::write_128_bits(const ptx::Operand& operand) {
  const Slot low = write(operand, 128);
  return {low, Slot::in_registers(low.offset() + kHighHalf)};
}

void InstructionDecoder::finish_writes() {
  for (const Widened& each : widened_) emit(each.extend, {each.wide, each.narrow});
  widened_.clear();
}

Slot InstructionDecoder::read(const ptx::Operand& operand, int bits) {
  switch (operand.kind) {
    case OperandKind::register_:
      return read_register(operand, bits);
    case OperandKind::immediate:
      if (bits == 1) return constant(operand.bits != 0 ? ~std::uint64_t{0} : 0, 1);
      return constant(immediate_bits(operand, bits), bits);
    case OperandKind::special:
      return read_special(operand, bits);
    case OperandKind::function:
      return constant(function_address(module_, operand.name), bits);
    case OperandKind::symbol: {
      const auto& [space, place] = symbols_.at(operand.name);
      if (space == ptx::Space::call_param) return address_of_parameter(operand, bits);
      if (in_frame_.contains(operand.name))
        return local_address(place + static_cast<std::uint64_t>(operand.offset), bits);
      const std::uint64_t address = place + static_cast<std::uint64_t>(operand.offset);
      return space == ptx::Space::shared ? shared_address_constant(address, bits) : constant(address, bits);
    }
    default:
      fail("this kind of operand is not supported here");
  }
}

/// Refuses a selector: only video instructions read parts of registers, and they check the selector themselves.
void InstructionDecoder::refuse_selector(const ptx::Operand& operand) const {
  if (!operand.selector.empty()) fail(fmt::format("the selector .{} is not supported here", operand.selector));
}

Slot InstructionDecoder::read_register(const ptx::Operand& operand, int bits) {
  refuse_selector(operand);
  const Slot slot = registers_[static_cast<std::size_t>(operand.index)];
  if (operand.negated) {
    if (bits != 1) fail("only predicates can be negated");
    const Slot inverted = temporary(1);
    emit(invert_predicate, {inverted, slot});
    return inverted;
  }
  // "cvt.s64.s32 %rd1, %rd2": an operand register may be wider than the type.
  if (bits == 32 && register_bits(operand) == 64) {
    const Slot narrowed = temporary(32);
    emit(narrow_slot, {narrowed, slot});
    return narrowed;
  }
  check_width(operand, bits);
  if (operand.offset != 0) {  // "st.u64 [%rd1], %rd2 + 1;"
    if (bits != 32 && bits != 64) fail("nothing can be added to this register");
    Operation sum;
    sum.handler = bits == 32 ? &add_to_register<std::uint32_t> : &add_to_register<std::uint64_t>;
    sum.operands[0] = temporary(bits);
    sum.operands[1] = slot;
    sum.offset = operand.offset;
    emit(sum);
    return sum.operands[0];
  }
  return slot;
}

Slot InstructionDecoder::read_special(const ptx::Operand& operand, int bits) {
  const SpecialSlots& special = program_.special;
  const std::map<std::string_view, Slot> names = {
      {"%tid.x", special.thread_index[0]},
      {"%tid.y", special.thread_index[1]},
      {"%tid.z", special.thread_index[2]},
      {"%ntid.x", special.block_size[0]},
      {"%ntid.y", special.block_size[1]},
      {"%ntid.z", special.block_size[2]},
      {"%ctaid.x", special.block_index[0]},
      {"%ctaid.y", special.block_index[1]},
      {"%ctaid.z", special.block_index[2]},
      {"%nctaid.x", special.grid_size[0]},
      {"%nctaid.y", special.grid_size[1]},
      {"%nctaid.z", special.grid_size[2]},
      {"%cluster_ctaid.x", special.place_in_cluster[0]},
      {"%cluster_ctaid.y", special.place_in_cluster[1]},
      {"%cluster_ctaid.z", special.place_in_cluster[2]},
      {"%cluster_nctaid.x", special.cluster_size[0]},
      {"%cluster_nctaid.y", special.cluster_size[1]},
      {"%cluster_nctaid.z", special.cluster_size[2]},
      {"%cluster_ctarank", special.rank},
      {"%cluster_nctarank", special.cluster_blocks},
      {"%clusterid.x", special.cluster_index[0]},
      {"%clusterid.y", special.cluster_index[1]},
      {"%clusterid.z", special.cluster_index[2]},
      {"%nclusterid.x", special.clusters[0]},
      {"%nclusterid.y", special.clusters[1]},
      {"%nclusterid.z", special.clusters[2]},
      {"%envreg1", special.workspace[1]},  // cooperative_groups/details/driver_abi.h: set in a cooperative launch
      {"%envreg2", special.workspace[0]},
      {"%aggr_smem_size", special.total_shared_bytes},
      {"%laneid", special.lane_index},
      {"%warpid", special.warp_index},
      {"%nwarpid", special.most_warps},
      {"%smid", special.multiprocessor},
      {"%nsmid", special.multiprocessors},
      {"%dynamic_smem_size", special.dynamic_shared_bytes},
      {"%total_smem_size", special.total_shared_bytes},
  };
  const std::map<std::string_view, LaneMask (*)(int)> lane_masks = {
      {"%lanemask_eq", [](int lane) { return LaneMask{1} << lane; }},
      {"%lanemask_lt", [](int lane) { return (LaneMask{1} << lane) - 1; }},
      {"%lanemask_le", [](int lane) { return (LaneMask{2} << lane) - 1; }},
      {"%lanemask_gt", [](int lane) { return ~((LaneMask{2} << lane) - 1); }},
      {"%lanemask_ge", [](int lane) { return ~((LaneMask{1} << lane) - 1); }},
  };
  if (operand.name.starts_with("%clock") || operand.name.starts_with("%globaltimer")) {
    return read_clock(operand.name, bits);
  }
  if (operand.name.starts_with("%reserved_smem_offset_"))
    return shared_address_constant(reserved_place(operand.name), 32);
  if (operand.name == "%is_explicit_cluster") return special.is_explicit_cluster;  // a predicate
  if (operand.name == "%gridid") return constant(1, bits);  // launches are not numbered: each is alone on its device
  const auto found = names.find(operand.name);
  const auto lane_mask = lane_masks.find(operand.name);
  if (found == names.end() && operand.name.starts_with("%envreg")) return constant(0, 32);  // set by no driver
  if (found == names.end() && lane_mask == lane_masks.end()) {
    fail(fmt::format("'{}' is neither a declared register nor a special register that is supported", operand.name));
  }
  if (bits != 32) fail(fmt::format("the special register {} has 32 bits", operand.name));
  return found != names.end() ? found->second : lane_mask_constant(lane_mask->second);
}

std::uint64_t InstructionDecoder::reserved_place(const std::string& name) const {
  const std::string_view which = std::string_view(name).substr(std::string_view("%reserved_smem_offset_").size());
  if (which == "begin" || which == "0") return 0;
  if (which == "1") return kReservedSharedBytes / 2;
  if (which == "end" || which == "cap") return kReservedSharedBytes;
  fail(fmt::format("the special register {} is not supported", name));
}

/// All clocks count the operations that the warp has executed, and are the same in every run: KernelClocks.
Slot InstructionDecoder::read_clock(const std::string& name, int bits) {
  const bool high = name == "%clock_hi" || name == "%globaltimer_hi";
  const bool wide = name == "%clock64" || name == "%globaltimer";
  if (!high && !wide && name != "%clock" && name != "%globaltimer_lo") {
    fail(fmt::format("the special register {} is not supported", name));
  }
  if (bits != (wide ? 64 : 32)) fail(fmt::format("the special register {} has {} bits", name, wide ? 64 : 32));
  Operation operation;
  operation.kind = OperationKind::read_clock;
  operation.operands[0] = temporary(bits);
  operation.detail = high ? 32 : 0;  // bits to shift it to the right
  operation.vector_elements = wide ? 2 : 1;
  operation.offset = name.starts_with("%globaltimer") ? 1 : 0;
  return emit(operation).operands[0];
}

std::pair<Slot, bool> InstructionDecoder::address(const ptx::Operand& operand, ptx::Space space, Operation& operation) {
  if (operand.kind != OperandKind::address) fail("expected an address in brackets");
  operation.offset = operand.offset;
  if (operand.index >= 0) {
    if (register_bits(operand) == 1) check_width(operand, 64);
    return {registers_[static_cast<std::size_t>(operand.index)], register_bits(operand) == 64};
  }
  std::uint64_t base = 0;
  bool is_shared = space == ptx::Space::shared;
  if (!operand.name.empty()) {
    const auto& [symbol_space, place] = symbols_.at(operand.name);
    is_shared = symbol_space == ptx::Space::shared;
    if (space != ptx::Space::generic && symbol_space != space) {
      fail(fmt::format("'{}' is not in this instruction's state space", operand.name));
    }
    base = space == ptx::Space::generic ? generic_address(symbol_space, place) : place;
    if (in_frame_.contains(operand.name)) {
      operation.offset += static_cast<std::int64_t>(base);
      return {*program_.local_base, true};
    }
  }
  return {is_shared ? shared_address_constant(base, 64) : constant(base, 64), true};
}

Slot InstructionDecoder::whole_address(const ptx::Operand& operand, ptx::Space space, bool to_shared) {
  Operation sum;
  const auto [base, wide] = address(operand, space, sum);
  if (to_shared && space == ptx::Space::generic) sum.offset -= static_cast<std::int64_t>(kSharedWindow);
  if (wide && sum.offset == 0) return base;
  sum.operands[0] = temporary(64);
  sum.operands[1] = base;
  sum.handler = wide ? &add_offset<std::uint64_t> : &add_offset<std::uint32_t>;
  emit(sum);
  return sum.operands[0];
}

Slot InstructionDecoder::widened(Slot narrow) {
  const Slot wide = temporary(64);
  emit(&widen_slot<std::uint32_t>, {wide, narrow});
  return wide;
}

std::uint64_t InstructionDecoder::generic_address(ptx::Space space, std::uint64_t place) const {
  if (space == ptx::Space::shared) return kSharedWindow + place;
  if (space == ptx::Space::local) return kLocalWindow + place;
  if (space == ptx::Space::param) return kParameterWindow + place;
  return place;
}

bool InstructionDecoder::is_named_elsewhere(const ptx::Operand& operand) const {
  const auto names = [&operand](const auto& self, const ptx::Operand& other) -> bool {
    const bool has_register = other.kind == OperandKind::register_ || other.kind == OperandKind::address;
    if (has_register && other.index == operand.index) return true;
    return std::ranges::any_of(other.elements, [&](const ptx::Operand& element) { return self(self, element); });
  };
  return std::ranges::any_of(kernel_.instructions, [&](const ptx::Instruction& other) {
    if (&other == &instruction()) return false;
    return other.predicate == operand.index ||
           std::ranges::any_of(other.operands, [&](const ptx::Operand& o) { return names(names, o); });
  });
}

}  // namespace convladder::simulated

// Fragments from memory and back: wmma.load and wmma.store (PTX ISA 9.0, 9.7.15.4.3).
//
// An access counts as one request for each register that is not a repetition, with as many elements per lane as are
// neighbours in memory, else one: how hardware fetches a fragment is not documented.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/instructions/matrix/matrix_fragment.hpp"
#include "simulator/instructions/warp_members.hpp"
#include "simulator/state/lane_access.hpp"

namespace convladder::simulated {
namespace {

using ptx::Space;

constexpr int kMisalignedMatrix = 103;  // a kind of fault in addition to those of accesses

/// The meaning of "wmma.load.a.sync.aligned.row.m16n16k16.global.f16", except for its state space.
struct FragmentForm {
  std::string_view matrix;  ///< "a", "b", "c" (and "d")
  std::string_view shape;
  std::string_view type;
  Fragment fragment;
};

const std::vector<FragmentForm>& fragment_forms() {
  using enum ElementType;
  static const std::vector<FragmentForm> all = [] {
    std::vector<FragmentForm> list;
    struct Shape {
      const char* name;
      int m;
      int n;
      int k;
    };
    for (const Shape& s : {Shape{"m16n16k16", 16, 16, 16}, {"m32n8k16", 32, 8, 16}, {"m8n32k16", 8, 32, 16}}) {
      list.push_back({"a", s.name, "f16", Fragment(MatrixRole::left, f16, s.m, s.k, 8)});
      list.push_back({"b", s.name, "f16", Fragment(MatrixRole::right, f16, s.k, s.n, 8)});
      list.push_back({"a", s.name, "bf16", Fragment(MatrixRole::left, bf16, s.m, s.k, s.m * s.k / 64)});
      list.push_back({"b", s.name, "bf16", Fragment(MatrixRole::right, bf16, s.k, s.n, s.k * s.n / 64)});
      list.push_back({"c", s.name, "f16", Fragment(MatrixRole::accumulator, f16, s.m, s.n, 4)});
      list.push_back({"c", s.name, "f32", Fragment(MatrixRole::accumulator, f32, s.m, s.n, 8)});
    }
    for (const Shape& s : {Shape{"m16n16k16", 16, 16, 16}, {"m32n8k16", 32, 8, 16}, {"m8n32k16", 8, 32, 16}}) {
      for (const ElementType type : {s8, u8}) {
        list.push_back({"a", s.name, element_name(type), Fragment(MatrixRole::left, type, s.m, s.k, s.m * s.k / 128)});
        list.push_back({"b", s.name, element_name(type), Fragment(MatrixRole::right, type, s.k, s.n, s.k * s.n / 128)});
      }
      list.push_back({"c", s.name, "s32", Fragment(MatrixRole::accumulator, s32, s.m, s.n, 8)});
    }
    for (const ElementType type : {s4, u4, b1}) {
      const char* const shape = type == b1 ? "m8n8k128" : "m8n8k32";
      const int k = type == b1 ? 128 : 32;
      list.push_back({"a", shape, element_name(type), Fragment(MatrixRole::left, type, 8, k, 1)});
      list.push_back({"b", shape, element_name(type), Fragment(MatrixRole::right, type, k, 8, 1)});
      if (type != u4) list.push_back({"c", shape, "s32", Fragment(MatrixRole::accumulator, s32, 8, 8, 2)});
    }
    list.push_back({"a", "m8n8k4", "f64", Fragment(MatrixRole::left, f64, 8, 4, 1)});
    list.push_back({"b", "m8n8k4", "f64", Fragment(MatrixRole::right, f64, 4, 8, 1)});
    list.push_back({"c", "m8n8k4", "f64", Fragment(MatrixRole::accumulator, f64, 8, 8, 2)});
    list.push_back({"a", "m16n16k8", "tf32", Fragment(MatrixRole::left, tf32, 16, 8, 4)});
    list.push_back({"b", "m16n16k8", "tf32", Fragment(MatrixRole::right, tf32, 8, 16, 4)});
    list.push_back({"c", "m16n16k8", "f32", Fragment(MatrixRole::accumulator, f32, 16, 16, 8)});
    return list;
  }();
  return all;
}

/// Bits of Operation::detail; above them is the index of the form.
enum WmmaDetail { kByColumns = 1, kWide = 2, kDetailBits = 2 };

/// All lanes must give the same address, aligned to the bytes that a lane holds of the matrix (PTX ISA, wmma: matrix
/// storage). Its rows or columns must be aligned in the same way, but need no more than 16 bytes (CUDA C++ Programming
/// Guide, load_matrix_sync).
void check_matrix_place(const WarpState& warp, const Operation& operation, const Addresses& addresses,
                        const std::uint32_t* strides, const Fragment& fragment) {
  LaneMask other = 0;
  const int first = std::countr_zero(warp.mask);
  for (int lane = 0; lane < kLanes; ++lane) {
    other |= LaneMask{addresses[lane] != addresses[first] || strides[lane] != strides[first]} << lane;
  }
  other &= warp.mask;
  if (other != 0) {
    warp.block->fault(warp, operation, Checker::synchronization, kNotUniform, other, [&](int lane) {
      return warp.block->finding_at(warp, operation, lane, Checker::synchronization,
                                    "the threads of the warp name different matrices");
    });
  }
  const int bits = element_bits(fragment.type());
  const std::uint64_t stride_bytes = std::uint64_t{strides[first]} * static_cast<std::uint64_t>(bits) / 8;
  const auto held = static_cast<std::uint64_t>(fragment.registers() * fragment.register_bits() / 8);
  const std::uint64_t of_stride = std::min<std::uint64_t>(held, 16);
  if (addresses[first] % held == 0 && stride_bytes % of_stride == 0) return;
  warp.block->fault(warp, operation, Checker::memory, kMisalignedMatrix, warp.mask, [&](int lane) {
    return warp.block->finding_at(
        warp, operation, lane, Checker::memory,
        fmt::format("misaligned matrix at 0x{:x} with a stride of {} bytes; multiples of {} and {} are expected",
                    addresses[lane], stride_bytes, held, of_stride));
  });
}

/// Moves the elements of one access, which fill one register or several, between memory and registers. Without an
/// address, zeros are loaded.
template <bool kStore, typename Register>
void move_run(const WarpState& warp, const Fragment& fragment, const Slot* registers, int element, int count, int lane,
              std::byte* at) {
  const int bits = element_bits(fragment.type());
  const int piece = std::min(count * bits, fragment.register_bits());  // in one register
  for (int done = 0; done < count * bits; done += piece) {
    const int from = element * bits + done;
    auto* const lanes = warp.write<Register>(registers[from / fragment.register_bits()]);
    const int shift = from % fragment.register_bits();
    const auto bytes = static_cast<std::size_t>(piece / 8);
    if constexpr (kStore) {
      const Register value = lanes[lane] >> shift;
      std::memcpy(at + done / 8, &value, bytes);
    } else {
      Register value = 0;
      if (at != nullptr) std::memcpy(&value, at + done / 8, bytes);
      const Register of_piece = (~Register{0} >> (fragment.register_bits() - piece)) << shift;
      lanes[lane] = (lanes[lane] & ~of_piece) | (value << shift);
    }
  }
}

/// Operands: address, stride. The fragment's registers are in the operand lists.
template <Space kSpace, bool kStore>
void move_fragment(WarpState& warp, const Operation& operation, const Addresses& base) {
  const Fragment& fragment = fragment_forms()[static_cast<std::size_t>(operation.detail >> kDetailBits)].fragment;
  const bool by_columns = (operation.detail & kByColumns) != 0;
  const auto* const strides = warp.read<std::uint32_t>(operation.operands[1]);
  const Slot* const registers = warp.block->program->operand_lists.data() + operation.list;
  const int bits = element_bits(fragment.type());
  check_matrix_place(warp, operation, base, strides, fragment);
  const int step = by_columns != fragment.runs_lie_in_rows() ? fragment.run() : 1;
  for (int element = 0; element < fragment.distinct_elements(); element += step) {
    Addresses addresses;
    for (int lane = 0; lane < kLanes; ++lane) {
      const auto row = static_cast<std::uint64_t>(fragment.row(lane, element));
      const auto column = static_cast<std::uint64_t>(fragment.column(lane, element));
      const std::uint64_t place = by_columns ? column * strides[lane] + row : row * strides[lane] + column;
      addresses[lane] = base[lane] + place * static_cast<std::uint64_t>(bits) / 8;
    }
    fill_inactive(addresses, warp.mask);
    const LanePlaces places =
        reach<kSpace>(warp, operation, addresses, step * bits / 8, kStore ? AccessKind::store : AccessKind::load);
    for (int copy = element; copy < fragment.elements(); copy += fragment.distinct_elements()) {
      for (LaneMask left = kStore ? places.mask : warp.mask; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        std::byte* const at = ((places.mask >> lane) & 1U) != 0 ? places.at[lane] : nullptr;
        if (bits == 64) {
          move_run<kStore, std::uint64_t>(warp, fragment, registers, copy, step, lane, at);
        } else {
          move_run<kStore, std::uint32_t>(warp, fragment, registers, copy, step, lane, at);
        }
      }
    }
  }
}

template <Space kSpace, bool kStore>
void execute_move(WarpState& warp, const Operation& operation) {
  check_all_lanes(warp, operation);
  const Addresses base = lane_addresses(warp, operation, operation.operands[0], (operation.detail & kWide) != 0);
  if constexpr (kSpace == Space::generic) {
    for_each_space(warp, base, [&]<Space kActual>(const Addresses& selected) {
      move_fragment<kActual, kStore>(warp, operation, selected);
    });
  } else {
    move_fragment<kSpace, kStore>(warp, operation, base);
  }
}

template <bool kStore>
Handler move_in(Space space) {
  if (space == Space::global) return &execute_move<Space::global, kStore>;
  if (space == Space::shared) return &execute_move<Space::shared, kStore>;
  return &execute_move<Space::generic, kStore>;
}

/// The parts behind "wmma.load.a.sync.aligned": layout, shape, state space if there is one, type.
struct MoveOpcode {
  bool is_store = false;
  bool by_columns = false;
  Space space = Space::generic;
  std::size_t form = 0;
};
std::optional<MoveOpcode> parse_move(std::string_view text) {
  const std::vector<std::string_view> parts = ptx::split_opcode(text);
  if (parts.size() < 8 || parts.size() > 9 || parts[0] != "wmma" || parts[3] != "sync" || parts[4] != "aligned") {
    return std::nullopt;
  }
  MoveOpcode opcode;
  opcode.is_store = parts[1] == "store";
  if (opcode.is_store ? parts[2] != "d" : parts[1] != "load" || parts[2] == "d") return std::nullopt;
  if (parts[5] != "row" && parts[5] != "col") return std::nullopt;
  opcode.by_columns = parts[5] == "col";
  if (parts.size() == 9) {
    if (parts[7] == "global") {
      opcode.space = Space::global;
    } else if (parts[7] == "shared" || parts[7] == "shared::cta") {
      opcode.space = Space::shared;
    } else {
      return std::nullopt;
    }
  }
  const std::string_view matrix = opcode.is_store ? "c" : parts[2];
  const auto& forms = fragment_forms();
  const auto found = std::ranges::find_if(forms, [&](const FragmentForm& form) {
    return form.matrix == matrix && form.shape == parts[6] && form.type == parts.back();
  });
  if (found == forms.end()) return std::nullopt;
  opcode.form = static_cast<std::size_t>(found - forms.begin());
  // Elements smaller than a byte have one layout, in which they are neighbours.
  if (element_bits(found->fragment.type()) < 8 && opcode.by_columns == found->fragment.runs_lie_in_rows()) {
    return std::nullopt;
  }
  return opcode;
}

}  // namespace

bool decode_fragment_access(InstructionDecoder& decoder) {
  const std::optional<MoveOpcode> opcode = parse_move(decoder.instruction().opcode);
  if (!opcode) return false;
  const auto& operands = decoder.instruction().operands;
  if (operands.size() != 2 && operands.size() != 3) {
    decoder.fail(fmt::format("expected 2 or 3 operands, found {}", operands.size()));
  }
  const Fragment& fragment = fragment_forms()[opcode->form].fragment;
  const ptx::Operand& registers = operands[opcode->is_store ? 1 : 0];
  if (registers.elements.size() != static_cast<std::size_t>(fragment.registers())) {
    decoder.fail(
        fmt::format("expected {} registers for a fragment, found {}", fragment.registers(), registers.elements.size()));
  }
  std::vector<Slot> slots;
  for (const ptx::Operand& element : registers.elements) {
    if (opcode->is_store && element.kind != ptx::OperandKind::register_) decoder.fail("expected registers");
    slots.push_back(decoder.write(element, fragment.register_bits()));
  }
  Operation operation;
  operation.handler = opcode->is_store ? move_in<true>(opcode->space) : move_in<false>(opcode->space);
  const auto [slot, wide] = decoder.address(operands[opcode->is_store ? 0 : 1], opcode->space, operation);
  const int rows_apart = opcode->by_columns ? fragment.rows() : fragment.columns();
  operation.operands[0] = slot;
  operation.operands[1] = operands.size() == 3 ? decoder.read(operands[2], 32)
                                               : decoder.constant(static_cast<std::uint64_t>(rows_apart), 32);
  operation.detail =
      (static_cast<int>(opcode->form) << kDetailBits) | (opcode->by_columns ? kByColumns : 0) | (wide ? kWide : 0);
  operation.list = decoder.keep_operands(slots);
  decoder.emit(operation);
  return true;
}

}  // namespace convladder::simulated

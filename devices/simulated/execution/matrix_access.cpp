// Fragments from memory and back: ldmatrix, wmma.load and wmma.store (PTX ISA 9.0, 9.7.15.5.15, 9.7.15.4.3).
//
// wmma's accesses are counted as one request for each register that is not a repetition, of two elements a lane where
// they are neighbours in memory, of one each otherwise: how hardware fetches a fragment is not documented.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "devices/simulated/execution/instruction_decoder.hpp"
#include "devices/simulated/execution/lane_access.hpp"
#include "devices/simulated/execution/matrix_fragment.hpp"
#include "devices/simulated/execution/warp_members.hpp"

namespace convladder::simulated {
namespace {

using ptx::Space;

constexpr int kMisalignedMatrix = 103;  // a kind of fault beside those of accesses

// --- ldmatrix -------------------------------------------------------------------------------------------------------

constexpr int kRowBytes = 16;  // eight elements of 16 bits
enum LoadDetail { kTransposed = 1, kWideAddress = 2 };

/// Lane 8i + r has the address of row r of matrix i, and every lane gets two elements of each matrix: of row lane / 4,
/// the elements 2 (lane % 4) and the next, of the transposed matrix if that is asked for.
void load_matrices(WarpState& warp, const Operation& operation) {
  check_all_lanes(warp, operation);
  const int matrices = operation.vector_elements;
  const Slot address = operation.operands[matrices];
  const LaneMask all = warp.mask;
  warp.mask &= matrices == 4 ? kAllLanes : (LaneMask{1} << (8 * matrices)) - 1;
  std::array<std::array<std::uint16_t, 8>, kLanes> rows{};  // of faulty lanes zero
  if (warp.mask != 0) {
    const Addresses addresses = lane_addresses(warp, operation, address, (operation.detail & kWideAddress) != 0);
    const LanePlaces places = reach<Space::shared>(warp, operation, addresses, kRowBytes, AccessKind::load);
    for (LaneMask left = places.mask; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      std::memcpy(rows[lane].data(), places.at[lane], kRowBytes);
    }
  }
  warp.mask = all;
  const bool transposed = (operation.detail & kTransposed) != 0;
  for (int matrix = 0; matrix < matrices; ++matrix) {
    write_lanes(warp.write<std::uint32_t>(operation.operands[matrix]), all, [&](int lane) {
      const int row = lane / 4;
      const int column = 2 * (lane % 4);
      const auto element = [&](int r, int c) {
        return std::uint32_t{transposed ? rows[8 * matrix + c][r] : rows[8 * matrix + r][c]};
      };
      return element(row, column) | (element(row, column + 1) << 16);
    });
  }
}

bool decode_ldmatrix(InstructionDecoder& decoder) {
  const std::vector<std::string_view> parts = split_opcode(decoder.instruction().opcode);
  if (parts.size() < 7 || parts[0] != "ldmatrix" || parts[1] != "sync" || parts[2] != "aligned" || parts[3] != "m8n8") {
    return false;
  }
  const bool transposed = parts[5] == "trans";
  const std::size_t space = transposed ? 6 : 5;
  if (parts.size() != space + 2 || (parts[space] != "shared" && parts[space] != "shared::cta") ||
      parts[space + 1] != "b16") {
    return false;
  }
  if (parts[4] != "x1" && parts[4] != "x2" && parts[4] != "x4") return false;
  const auto matrices = static_cast<std::size_t>(parts[4][1] - '0');
  decoder.expect_operands(2);
  const auto& operands = decoder.instruction().operands;
  const std::vector<ptx::Operand> single{operands[0]};
  const auto& elements = operands[0].kind == ptx::OperandKind::vector ? operands[0].elements : single;
  if (elements.size() != matrices) {
    decoder.fail(fmt::format("expected {} registers, found {}", matrices, elements.size()));
  }
  Operation operation;
  operation.handler = load_matrices;
  operation.vector_elements = static_cast<std::uint8_t>(matrices);
  for (std::size_t i = 0; i < matrices; ++i) operation.operands[i] = decoder.write(elements[i], 32);
  const auto [slot, wide] = decoder.address(operands[1], Space::shared, operation);
  operation.operands[matrices] = slot;
  operation.detail = (transposed ? kTransposed : 0) | (wide ? kWideAddress : 0);
  decoder.emit(operation);
  return true;
}

// --- wmma.load, wmma.store ------------------------------------------------------------------------------------------

/// What "wmma.load.a.sync.aligned.row.m16n16k16.global.f16" says beside its state space.
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
    list.push_back({"a", "m16n16k8", "tf32", Fragment(MatrixRole::left, tf32, 16, 8, 4)});
    list.push_back({"b", "m16n16k8", "tf32", Fragment(MatrixRole::right, tf32, 8, 16, 4)});
    list.push_back({"c", "m16n16k8", "f32", Fragment(MatrixRole::accumulator, f32, 16, 16, 8)});
    return list;
  }();
  return all;
}

/// Bits of Operation::detail, above them the index of the form.
enum WmmaDetail { kByColumns = 1, kWide = 2, kDetailBits = 2 };

/// The matrix begins where all lanes say, on 32 bytes, and its rows or columns on 16.
void check_matrix_place(const WarpState& warp, const Operation& operation, const Addresses& addresses,
                        const std::uint32_t* strides, int element_bytes) {
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
  const std::uint64_t stride_bytes = std::uint64_t{strides[first]} * static_cast<std::uint64_t>(element_bytes);
  if (addresses[first] % 32 == 0 && stride_bytes % 16 == 0) return;
  warp.block->fault(warp, operation, Checker::memory, kMisalignedMatrix, warp.mask, [&](int lane) {
    return warp.block->finding_at(
        warp, operation, lane, Checker::memory,
        fmt::format("misaligned matrix at 0x{:x} with a stride of {} bytes; multiples of 32 and 16 are expected",
                    addresses[lane], stride_bytes));
  });
}

template <bool kStore>
void move_element(const Fragment& fragment, std::uint32_t* lanes, int element, int lane, std::byte* at) {
  const int bits = element_bits(fragment.type());
  const int shift = bits == 16 ? 16 * (element % 2) : 0;
  const auto bytes = static_cast<std::size_t>(bits / 8);
  if constexpr (kStore) {
    const std::uint32_t value = lanes[lane] >> shift;
    std::memcpy(at, &value, bytes);
  } else {
    std::uint32_t value = 0;
    if (at != nullptr) std::memcpy(&value, at, bytes);
    const std::uint32_t of_element = bits == 32 ? ~0U : 0xffffU << shift;
    lanes[lane] = (lanes[lane] & ~of_element) | (value << shift);
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
  const int element_bytes = bits / 8;
  check_matrix_place(warp, operation, base, strides, element_bytes);
  const bool neighbours = by_columns ? fragment.pairs_lie_in_columns() : fragment.pairs_lie_in_rows();
  const int step = neighbours ? 2 : 1;
  for (int element = 0; element < fragment.distinct_elements(); element += step) {
    Addresses addresses;
    for (int lane = 0; lane < kLanes; ++lane) {
      const auto row = static_cast<std::uint64_t>(fragment.row(lane, element));
      const auto column = static_cast<std::uint64_t>(fragment.column(lane, element));
      const std::uint64_t place = by_columns ? column * strides[lane] + row : row * strides[lane] + column;
      addresses[lane] = base[lane] + place * static_cast<std::uint64_t>(element_bytes);
    }
    fill_inactive(addresses, warp.mask);
    const LanePlaces places =
        reach<kSpace>(warp, operation, addresses, step * element_bytes, kStore ? AccessKind::store : AccessKind::load);
    for (int part = element; part < element + step; ++part) {
      for (int copy = part; copy < fragment.elements(); copy += fragment.distinct_elements()) {
        auto* const lanes = warp.write<std::uint32_t>(registers[bits == 16 ? copy / 2 : copy]);
        for (LaneMask left = kStore ? places.mask : warp.mask; left != 0; left &= left - 1) {
          const int lane = std::countr_zero(left);
          const bool right = ((places.mask >> lane) & 1U) != 0;
          move_element<kStore>(fragment, lanes, copy, lane,
                               right ? places.at[lane] + (part - element) * element_bytes : nullptr);
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
  const std::vector<std::string_view> parts = split_opcode(text);
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
  return opcode;
}

bool decode_move(InstructionDecoder& decoder) {
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
    slots.push_back(decoder.write(element, 32));
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

}  // namespace

bool decode_matrix_load(InstructionDecoder& decoder) { return decode_ldmatrix(decoder) || decode_move(decoder); }

}  // namespace convladder::simulated

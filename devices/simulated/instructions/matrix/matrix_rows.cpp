// Matrices of 8 by 8 elements of 16 bits, from shared memory and back by rows that lanes point to, and transposed
// between lanes: ldmatrix, stmatrix, movmatrix (PTX ISA 9.0, 9.7.15.5.15 to 17).
//
// Lane 8i + r has the address of row r of matrix i, and every lane has two elements of each matrix: of row lane / 4,
// the elements 2 (lane % 4) and the next, of the transposed matrix if that is asked for.

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>

#include "devices/simulated/instructions/instruction_decoder.hpp"
#include "devices/simulated/instructions/matrix/matrix_fragment.hpp"
#include "devices/simulated/memory/device_memory.hpp"
#include "devices/simulated/state/lane_access.hpp"

namespace convladder::simulated {
namespace {

using ptx::Space;

constexpr int kRowBytes = 16;
enum RowsDetail { kTransposed = 1, kWideAddress = 2 };

/// Row 8i + r is row r of matrix i.
using Rows = std::array<std::array<std::uint16_t, 8>, kLanes>;

/// Where the element of a lane is, the lower or the upper half of its register.
std::uint16_t& element_of(Rows& rows, int matrix, int lane, int half, bool transposed) {
  const int row = lane / 4;
  const int column = 2 * (lane % 4) + half;
  const int in_matrix = transposed ? column : row;
  return rows.at(8 * matrix + in_matrix).at(transposed ? row : column);
}

/// The rows in shared memory, for the lanes that have the address of one.
template <typename Visit>
void visit_rows(WarpState& warp, const Operation& operation, int matrices, AccessKind kind, const Visit& visit) {
  const LaneMask all = warp.mask;
  warp.mask &= matrices == 4 ? kAllLanes : (LaneMask{1} << (8 * matrices)) - 1;
  if (warp.mask != 0) {
    const Addresses addresses =
        lane_addresses(warp, operation, operation.operands[matrices], (operation.detail & kWideAddress) != 0);
    const LanePlaces places = reach<Space::shared>(warp, operation, addresses, kRowBytes, kind);
    for (LaneMask left = places.mask; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      visit(lane, places.at[lane]);
    }
  }
  warp.mask = all;
}

void load_matrices(WarpState& warp, const Operation& operation) {
  check_all_lanes(warp, operation);
  const int matrices = operation.vector_elements;
  const bool transposed = (operation.detail & kTransposed) != 0;
  Rows rows{};  // of faulty lanes zero
  visit_rows(warp, operation, matrices, AccessKind::load,
             [&](int lane, const std::byte* at) { std::memcpy(rows[lane].data(), at, kRowBytes); });
  for (int matrix = 0; matrix < matrices; ++matrix) {
    write_lanes(warp.write<std::uint32_t>(operation.operands[matrix]), warp.mask, [&](int lane) {
      return element_of(rows, matrix, lane, 0, transposed) |
             (std::uint32_t{element_of(rows, matrix, lane, 1, transposed)} << 16);
    });
  }
}

void store_matrices(WarpState& warp, const Operation& operation) {
  check_all_lanes(warp, operation);
  const int matrices = operation.vector_elements;
  const bool transposed = (operation.detail & kTransposed) != 0;
  Rows rows{};
  for (int matrix = 0; matrix < matrices; ++matrix) {
    const auto* const elements = warp.read<std::uint32_t>(operation.operands[matrix]);
    for (int lane = 0; lane < kLanes; ++lane) {
      element_of(rows, matrix, lane, 0, transposed) = static_cast<std::uint16_t>(elements[lane]);
      element_of(rows, matrix, lane, 1, transposed) = static_cast<std::uint16_t>(elements[lane] >> 16);
    }
  }
  visit_rows(warp, operation, matrices, AccessKind::store,
             [&](int lane, std::byte* at) { std::memcpy(at, rows[lane].data(), kRowBytes); });
}

void transpose_matrix(WarpState& warp, const Operation& operation) {
  check_all_lanes(warp, operation);
  const auto* const elements = warp.read<std::uint32_t>(operation.operands[1]);
  Rows rows{};
  for (int lane = 0; lane < kLanes; ++lane) {
    element_of(rows, 0, lane, 0, false) = static_cast<std::uint16_t>(elements[lane]);
    element_of(rows, 0, lane, 1, false) = static_cast<std::uint16_t>(elements[lane] >> 16);
  }
  write_lanes(warp.write<std::uint32_t>(operation.operands[0]), warp.mask, [&](int lane) {
    return element_of(rows, 0, lane, 0, true) | (std::uint32_t{element_of(rows, 0, lane, 1, true)} << 16);
  });
}

/// "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16" in what it says.
struct RowsOpcode {
  bool is_store = false;
  bool transposed = false;
  bool generic = false;  ///< no state space is named
  std::size_t matrices = 1;
};
std::optional<RowsOpcode> parse_rows(std::string_view text) {
  const std::vector<std::string_view> parts = split_opcode(text);
  if (parts.size() < 6 || (parts[0] != "ldmatrix" && parts[0] != "stmatrix") || parts[1] != "sync" ||
      parts[2] != "aligned" || parts[3] != "m8n8" || parts.back() != "b16") {
    return std::nullopt;
  }
  if (parts[4] != "x1" && parts[4] != "x2" && parts[4] != "x4") return std::nullopt;
  RowsOpcode opcode{parts[0] == "stmatrix", parts[5] == "trans", false, static_cast<std::size_t>(parts[4][1] - '0')};
  const std::size_t space = opcode.transposed ? 6 : 5;
  opcode.generic = parts.size() == space + 1;
  if (opcode.generic) return opcode;
  if (parts.size() != space + 2 || (parts[space] != "shared" && parts[space] != "shared::cta")) return std::nullopt;
  return opcode;
}

}  // namespace

bool decode_matrix_rows(InstructionDecoder& decoder) {
  const ptx::Instruction& instruction = decoder.instruction();
  if (instruction.opcode == "movmatrix.sync.aligned.m8n8.trans.b16") {
    decoder.expect_operands(2);
    const Slot from = decoder.read(instruction.operands[1], 32);
    decoder.emit(transpose_matrix, {decoder.write(instruction.operands[0], 32), from});
    return true;
  }
  const std::optional<RowsOpcode> opcode = parse_rows(instruction.opcode);
  if (!opcode) return false;
  decoder.expect_operands(2);
  const ptx::Operand& registers = instruction.operands[opcode->is_store ? 1 : 0];
  const std::vector<ptx::Operand> single{registers};
  const auto& elements = registers.kind == ptx::OperandKind::vector ? registers.elements : single;
  if (elements.size() != opcode->matrices) {
    decoder.fail(fmt::format("expected {} registers, found {}", opcode->matrices, elements.size()));
  }
  Operation operation;
  operation.handler = opcode->is_store ? store_matrices : load_matrices;
  operation.vector_elements = static_cast<std::uint8_t>(opcode->matrices);
  for (std::size_t i = 0; i < opcode->matrices; ++i) {
    operation.operands[i] = opcode->is_store ? decoder.read(elements[i], 32) : decoder.write(elements[i], 32);
  }
  const auto [slot, wide] = decoder.address(instruction.operands[opcode->is_store ? 0 : 1],
                                            opcode->generic ? Space::generic : Space::shared, operation);
  if (opcode->generic) operation.offset -= static_cast<std::int64_t>(kSharedWindow);  // only shared memory is meant
  operation.operands[opcode->matrices] = slot;
  operation.detail = (opcode->transposed ? kTransposed : 0) | (wide ? kWideAddress : 0);
  decoder.emit(operation);
  return true;
}

}  // namespace convladder::simulated

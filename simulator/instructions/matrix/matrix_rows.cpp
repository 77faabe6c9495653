// Matrices of 8 by 8 elements of 16 bits, moved from and to shared memory by rows that lanes point to, and
// transposed between lanes: ldmatrix, stmatrix, movmatrix (PTX ISA 9.0, 9.7.15.5.15 to 17).
//
// Lane 8i + r has the address of row r of matrix i, and every lane has two elements of each matrix: of row lane / 4,
// the elements 2 (lane % 4) and the next, of the transposed matrix if that is asked for.
//
// ldmatrix of sm_100 also loads elements of 8 bits, which may be stored as 4 or 6 bits with a gap after each 16
// elements: each becomes the lower bits of a byte. A matrix of 8 by 16 fills one register; a lane holds elements 4
// (lane % 4) to 4 (lane % 4) + 3 of row lane / 4. A matrix of 16 by 16, which is transposed, has 16 rows in memory, and
// a second register for the rows from 8 on.

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>

#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/instructions/matrix/matrix_fragment.hpp"
#include "simulator/memory/device_memory.hpp"
#include "simulator/state/lane_access.hpp"

namespace convladder::simulated {
namespace {

using ptx::Space;

constexpr int kRowBytes = 16;
enum RowsDetail { kTransposed = 1, kWideAddress = 2, kOf4Bits = 4, kOf6Bits = 8 };

/// All rows: row 8i + r is row r of matrix i.
using Rows = std::array<std::array<std::uint16_t, 8>, kLanes>;

/// The element that a lane holds in the lower or the upper half of its register.
std::uint16_t& element_of(Rows& rows, int matrix, int lane, int half, bool transposed) {
  const int row = lane / 4;
  const int column = 2 * (lane % 4) + half;
  const int in_matrix = transposed ? column : row;
  return rows.at(8 * matrix + in_matrix).at(transposed ? row : column);
}

/// Visits the rows in shared memory, for the lanes that have the address of one.
template <typename Visit>
void visit_rows(WarpState& warp, const Operation& operation, int matrices, AccessKind kind, const Visit& visit,
                StoredData data = {}) {
  const LaneMask all = warp.mask;
  warp.mask &= matrices == 4 ? kAllLanes : (LaneMask{1} << (8 * matrices)) - 1;
  if (warp.mask != 0) {
    const Addresses addresses =
        lane_addresses(warp, operation, operation.operands[matrices], (operation.detail & kWideAddress) != 0);
    const LanePlaces places = reach<Space::shared>(warp, operation, addresses, kRowBytes, kind, data);
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
  Rows rows{};  // zero for faulty lanes
  visit_rows(warp, operation, matrices, AccessKind::load,
             [&](int lane, const std::byte* at) { std::memcpy(rows[lane].data(), at, kRowBytes); });
  for (int matrix = 0; matrix < matrices; ++matrix) {
    write_lanes(warp.write<std::uint32_t>(operation.operands[matrix]), warp.mask, [&](int lane) {
      return element_of(rows, matrix, lane, 0, transposed) |
             (std::uint32_t{element_of(rows, matrix, lane, 1, transposed)} << 16);
    });
  }
}

/// The 16 elements of a row, read from memory.
std::array<std::uint8_t, 16> bytes_of_row(const std::byte* at, int bits) {
  std::array<std::uint8_t, kRowBytes> packed;
  std::memcpy(packed.data(), at, kRowBytes);
  if (bits == 8) return packed;
  std::array<std::uint8_t, 16> elements{};
  for (int i = 0; i < 16; ++i) {
    const int first = i * bits;
    const unsigned both = packed.at(first / 8) | static_cast<unsigned>(packed.at(first / 8 + 1)) << 8;
    elements.at(i) = static_cast<std::uint8_t>(both >> (first % 8) & ((1U << bits) - 1));
  }
  return elements;
}

void load_byte_matrices(WarpState& warp, const Operation& operation) {
  check_all_lanes(warp, operation);
  const int registers = operation.vector_elements;
  const bool transposed = (operation.detail & kTransposed) != 0;
  const int bits = (operation.detail & kOf4Bits) != 0 ? 4 : (operation.detail & kOf6Bits) != 0 ? 6 : 8;
  std::array<std::array<std::uint8_t, 16>, kLanes> rows{};  // zero for faulty lanes
  visit_rows(warp, operation, registers, AccessKind::load,
             [&](int lane, const std::byte* at) { rows.at(lane) = bytes_of_row(at, bits); });
  for (int r = 0; r < registers; ++r) {
    write_lanes(warp.write<std::uint32_t>(operation.operands[r]), warp.mask, [&](int lane) {
      std::uint32_t value = 0;
      for (int i = 0; i < 4; ++i) {
        const int column = 4 * (lane % 4) + i;
        const std::uint32_t element = transposed ? rows.at(16 * (r / 2) + column).at(lane / 4 + 8 * (r % 2))
                                                 : rows.at(8 * r + lane / 4).at(column);
        value |= element << (8 * i);
      }
      return value;
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
             [&](int lane, std::byte* at) { std::memcpy(at, rows[lane].data(), kRowBytes); },
             {reinterpret_cast<const std::byte*>(rows.data()), kRowBytes});
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

/// The meaning of "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16".
struct RowsOpcode {
  bool is_store = false;
  bool transposed = false;
  bool generic = false;      ///< no state space is named
  std::size_t matrices = 1;  ///< of 8 by 8 elements of 16 bits, or registers
  bool has_bytes = false;    ///< elements of 8 bits
  int format = 0;            ///< kOf4Bits, kOf6Bits: how elements of fewer than 8 bits are stored
};

/// Parses "ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8x16.b4x16_p64".
std::optional<RowsOpcode> parse_byte_rows(const std::vector<std::string_view>& parts) {
  const bool is_square = parts[3] == "m16n16";
  if (parts[0] != "ldmatrix" || (!is_square && parts[3] != "m8n16")) return std::nullopt;
  const bool is_number = parts[4] == "x1" || parts[4] == "x2" || (parts[4] == "x4" && !is_square);
  if (!is_number || (parts[5] == "trans") != is_square) return std::nullopt;
  RowsOpcode opcode;
  opcode.transposed = is_square;
  opcode.has_bytes = true;
  opcode.matrices = static_cast<std::size_t>(parts[4][1] - '0') * (is_square ? 2 : 1);
  std::size_t next = is_square ? 6 : 5;
  opcode.generic = next < parts.size() && !parts[next].starts_with("shared");
  if (!opcode.generic) ++next;
  if (parts.size() == next + 1) return is_square && parts[next] == "b8" ? std::optional(opcode) : std::nullopt;
  if (parts.size() != next + 2 || parts[next] != "b8x16") return std::nullopt;
  opcode.format = parts[next + 1] == "b4x16_p64" ? kOf4Bits : parts[next + 1] == "b6x16_p32" ? kOf6Bits : 0;
  return opcode.format != 0 ? std::optional(opcode) : std::nullopt;
}

std::optional<RowsOpcode> parse_rows(std::string_view text) {
  const std::vector<std::string_view> parts = ptx::split_opcode(text);
  if (parts.size() > 6 && parts[1] == "sync" && parts[2] == "aligned" && parts[3].ends_with("n16")) {
    return parse_byte_rows(parts);
  }
  if (parts.size() < 6 || (parts[0] != "ldmatrix" && parts[0] != "stmatrix") || parts[1] != "sync" ||
      parts[2] != "aligned" || parts[3] != "m8n8" || parts.back() != "b16") {
    return std::nullopt;
  }
  if (parts[4] != "x1" && parts[4] != "x2" && parts[4] != "x4") return std::nullopt;
  RowsOpcode opcode;
  opcode.is_store = parts[0] == "stmatrix";
  opcode.transposed = parts[5] == "trans";
  opcode.matrices = static_cast<std::size_t>(parts[4][1] - '0');
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
  operation.handler = opcode->is_store ? store_matrices : opcode->has_bytes ? load_byte_matrices : load_matrices;
  operation.vector_elements = static_cast<std::uint8_t>(opcode->matrices);
  for (std::size_t i = 0; i < opcode->matrices; ++i) {
    operation.operands[i] = opcode->is_store ? decoder.read(elements[i], 32) : decoder.write(elements[i], 32);
  }
  const auto [slot, wide] = decoder.address(instruction.operands[opcode->is_store ? 0 : 1],
                                            opcode->generic ? Space::generic : Space::shared, operation);
  if (opcode->generic) operation.offset -= static_cast<std::int64_t>(kSharedWindow);  // only shared memory is meant
  operation.operands[opcode->matrices] = slot;
  operation.detail = (opcode->transposed ? kTransposed : 0) | (wide ? kWideAddress : 0) | opcode->format;
  decoder.emit(operation);
  return true;
}

}  // namespace convladder::simulated

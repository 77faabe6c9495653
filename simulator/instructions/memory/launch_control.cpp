// Requests of blocks for the work of others that have not begun (PTX ISA 9.0, 9.7.13.17: clusterlaunchcontrol). A
// request may always fail, and here it does: every block of a grid runs and does its own work.

#include <cstring>

#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/instructions/memory/bulk_write.hpp"
#include "simulator/state/lane_access.hpp"

namespace convladder::simulated {

using ptx::Space;

namespace {

constexpr std::uint64_t kResponseBytes = 16;  // zero: the request has failed

void respond(WarpState& warp, const Operation& operation, int lane, std::uint64_t to, std::uint64_t mbarrier) {
  std::byte* const at =
      reach_region(warp, operation, lane, {Space::shared, to, kResponseBytes, kResponseBytes}, AccessKind::store);
  if (at == nullptr) return;
  BulkWrite write{warp,
                  &operation,
                  lane,
                  ++warp.block->bulk_copies,
                  Space::shared,
                  {{to, at, 0, kResponseBytes}},
                  std::vector<std::byte>(kResponseBytes),
                  bulk_combine(0, false)};
  announce(write, Space::shared, {});
  begin_arrival(std::move(write), mbarrier);
}

/// Operands: place of the response, mbarrier. `detail` is 1 if all blocks of the cluster get the response.
void request(WarpState& warp, const Operation& operation) {
  for_each_lane(warp.mask, [&](int lane) {
    const std::uint64_t to = warp.read<std::uint64_t>(operation.operands[0])[lane];
    const std::uint64_t mbarrier = warp.read<std::uint64_t>(operation.operands[1])[lane];
    ++warp.block->counters[operation.instruction].requests;
    if (operation.detail == 0) return respond(warp, operation, lane, to, mbarrier);
    for_each_receiver(*warp.block, all_of_cluster(*warp.block), to, mbarrier, [&](auto receiver, auto its_mbarrier) {
      respond(warp, operation, lane, receiver, its_mbarrier);
    });
  });
}

/// Operands: predicate, lower half of the response. Anything but a failed response counts as success.
void is_canceled(WarpState& warp, const Operation& operation) {
  LaneMask canceled = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    canceled |= LaneMask{warp.read<std::uint64_t>(operation.operands[1])[lane] != 0} << lane;
  }
  write_predicate(warp.write<LaneMask>(operation.operands[0]), warp.mask, canceled);
}

/// The block of a failed request is undefined: here it is zeros.
void first_block(WarpState& warp, const Operation& operation) {
  for (int i = 0; i < operation.vector_elements; ++i) {
    write_lanes(warp.write<std::uint32_t>(operation.operands[i]), warp.mask, [](int /*lane*/) { return 0U; });
  }
}

}  // namespace

bool decode_launch_control(InstructionDecoder& decoder) {
  std::string_view opcode = decoder.instruction().opcode;
  constexpr std::string_view kTry = "clusterlaunchcontrol.try_cancel.async";
  constexpr std::string_view kQuery = "clusterlaunchcontrol.query_cancel.";
  const auto& operands = decoder.instruction().operands;
  if (opcode.starts_with(kTry)) {
    opcode.remove_prefix(kTry.size());
    const bool names_space = opcode.starts_with(".shared::cta");
    if (names_space) opcode.remove_prefix(std::string_view(".shared::cta").size());
    const bool is_multicast = opcode == ".mbarrier::complete_tx::bytes.multicast::cluster::all.b128";
    if (!is_multicast && opcode != ".mbarrier::complete_tx::bytes.b128") return false;
    decoder.expect_operands(2);
    const Space space = names_space ? Space::shared : Space::generic;
    Operation operation;
    operation.handler = request;
    operation.operands[0] = decoder.shared_address(operands[0], space);
    operation.operands[1] = decoder.shared_address(operands[1], space);
    operation.detail = is_multicast ? 1 : 0;
    decoder.emit(operation);
    return true;
  }
  if (!opcode.starts_with(kQuery)) return false;
  opcode.remove_prefix(kQuery.size());
  if (opcode == "is_canceled.pred.b128") {
    decoder.expect_operands(2);
    const Slot response = decoder.read_128_bits(operands[1])[0];
    decoder.emit(is_canceled, {decoder.write(operands[0], 1), response});
    return true;
  }
  const bool is_vector = opcode == "get_first_ctaid.v4.b32.b128";
  const bool is_single = opcode == "get_first_ctaid::x.b32.b128" || opcode == "get_first_ctaid::y.b32.b128" ||
                         opcode == "get_first_ctaid::z.b32.b128";
  if (!is_vector && !is_single) return false;
  decoder.expect_operands(2);
  static_cast<void>(decoder.read_128_bits(operands[1]));
  const std::vector<ptx::Operand> single{operands[0]};
  const auto& elements = is_vector ? operands[0].elements : single;
  if (elements.size() != (is_vector ? 4U : 1U)) decoder.fail("four registers are expected as destination");
  Operation operation;
  operation.handler = first_block;
  operation.vector_elements = static_cast<std::uint8_t>(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) operation.operands[i] = decoder.write(elements[i], 32);
  decoder.emit(operation);
  return true;
}

}  // namespace convladder::simulated

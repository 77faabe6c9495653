// Barriers of the block and of the warp (PTX ISA 9.0, 9.7.13: barrier, bar.warp.sync; 9.7.19: nanosleep). The
// interpreter carries out the block's barriers: see BlockRunner.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <string_view>

#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/instructions/warp_members.hpp"
#include "simulator/state/block_barriers.hpp"
#include "simulator/state/block_context.hpp"

namespace convladder::simulated {
namespace {

bool contains(const std::vector<std::string_view>& parts, std::string_view part) {
  return std::ranges::find(parts, part) != parts.end();
}

/// The action of "bar" or "barrier", with ".cta" or without: the rest of the opcode without ".aligned".
std::optional<std::string> barrier_action(const std::vector<std::string_view>& parts) {
  if (parts[0] != "bar" && parts[0] != "barrier") return std::nullopt;
  std::string action;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (i == 1 && parts[i] == "cta") continue;
    if (parts[0] == "barrier" && parts[i] == "aligned") continue;
    action += fmt::format("{}{}", action.empty() ? "" : ".", parts[i]);
  }
  return action;
}

/// A barrier's operands in the text: {d,} a {, b} {, c}.
struct BarrierForm {
  std::string_view name;
  BarrierAction action;
  int least_operands;
  int most_operands;
  int result_bits;  // 0: none
};
constexpr BarrierForm kBarrierForms[] = {
    {"sync", BarrierAction::wait, 1, 2, 0},           {"arrive", BarrierAction::arrive, 2, 2, 0},
    {"red.popc.u32", BarrierAction::count, 3, 4, 32}, {"red.and.pred", BarrierAction::all, 3, 4, 1},
    {"red.or.pred", BarrierAction::any, 3, 4, 1},
};

void decode_block_barrier(InstructionDecoder& decoder, const BarrierForm& form, bool is_aligned) {
  const auto& operands = decoder.instruction().operands;
  const auto count = static_cast<int>(operands.size());
  if (count < form.least_operands || count > form.most_operands) {
    decoder.fail(fmt::format("expected {} to {} operands, found {}", form.least_operands, form.most_operands, count));
  }
  const std::size_t number = form.result_bits > 0 ? 1 : 0;
  const bool has_threads = count == form.most_operands;
  const auto check = [&](const ptx::Operand& operand, bool right, const char* what) {
    if (operand.kind == ptx::OperandKind::immediate && !right) decoder.fail(what);
  };
  check(operands[number], operands[number].bits < BlockBarriers::kCount, "barriers are numbered from 0 to 15");
  Operation operation;
  operation.kind = OperationKind::barrier;
  operation.detail = static_cast<int>(form.action);
  operation.target = is_aligned ? 0 : Operation::kEachThread;
  operation.operands[0] = decoder.read(operands[number], 32);
  if (has_threads) {
    const ptx::Operand& threads = operands[number + 1];
    check(threads, threads.bits > 0 && threads.bits % kLanes == 0, "the number of threads must be a multiple of 32");
    operation.operands[1] = decoder.read(threads, 32);
  } else {
    operation.operands[1] = decoder.constant(0, 32);
  }
  operation.vector_elements = has_threads ? 1 : 0;
  if (form.result_bits > 0) {
    operation.operands[2] = decoder.write(operands[0], form.result_bits);
    operation.operands[3] = decoder.read(operands.back(), 1);
  }
  decoder.emit(operation);
}

void synchronize_warp(WarpState& warp, const Operation& operation) {
  const auto* const masks = warp.read<LaneMask>(operation.operands[0]);
  for_each_group(warp, operation, operation.operands[0], [&](LaneMask members) {
    const LaneMask absent = warp.elsewhere | ~warp.live;  // named lanes that have exited have done their work
    const LaneMask met = members | (masks[std::countr_zero(members)] & absent);
    for (AccessObserver* const observer : warp.block->observers) observer->warp_synchronized(warp, met);
  });
}

/// No thread sleeps, but a loop that sleeps is waiting: others run at once.
void sleep(WarpState& warp, const Operation& /*operation*/) { warp.block->waits_in_vain = true; }

}  // namespace

bool decode_barrier(InstructionDecoder& decoder) {
  const std::vector<std::string_view> parts = ptx::split_opcode(decoder.instruction().opcode);
  if (parts[0] == "nanosleep" && parts.size() == 2 && parts[1] == "u32") {
    decoder.expect_operands(1);
    decoder.emit(sleep, {decoder.read(decoder.instruction().operands[0], 32)});
    return true;
  }
  const std::optional<std::string> action = barrier_action(parts);
  if (!action || contains(parts, "cluster")) return false;
  if (*action == "warp.sync") {
    decoder.expect_operands(1);
    decoder.emit_meeting(synchronize_warp, {decoder.read(decoder.instruction().operands[0], 32)}, 0).detail =
        Operation::kWarpBarrier;
    return true;
  }
  const auto form = std::ranges::find(kBarrierForms, *action, &BarrierForm::name);
  if (form == std::end(kBarrierForms)) return false;
  decode_block_barrier(decoder, *form, parts[0] == "bar" || contains(parts, "aligned"));
  return true;
}

}  // namespace convladder::simulated

#include "simulator/instructions/register_allocation.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <string_view>

#include "simulator/instructions/forms.hpp"

namespace convladder::simulated {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;

/// Whether the first operand of the instruction is known to be written in every active lane and not read. An unknown
/// instruction counts as reading and writing it, which only makes live ranges longer.
bool writes_first_operand(const Instruction& instruction) {
  if (instruction.predicate >= 0) return false;
  constexpr std::string_view bases[] = {"ld",  "ldu",      "mov",        "shfl", "vote", "atom",
                                        "mma", "ldmatrix", "activemask", "tex",  "tld4", "suld"};
  const std::string_view base = std::string_view(instruction.opcode).substr(0, instruction.opcode.find('.'));
  return std::ranges::find(bases, base) != std::end(bases) || forms().find(instruction.opcode) != nullptr;
}

template <typename Function>
void for_each_register(const Operand& operand, const Function& function) {
  const bool has_register = operand.kind == OperandKind::register_ || operand.kind == OperandKind::address;
  if (has_register && operand.index >= 0) function(static_cast<std::size_t>(operand.index));
  for (const Operand& element : operand.elements) for_each_register(element, function);
}

/// Calls used(register) for each register that the instruction reads, then defined(register) for those it surely
/// writes.
template <typename Used, typename Defined>
void for_each_operand(const Instruction& instruction, const Used& used, const Defined& defined) {
  const bool writes = writes_first_operand(instruction);
  if (instruction.predicate >= 0) used(static_cast<std::size_t>(instruction.predicate));
  for (std::size_t i = writes ? 1 : 0; i < instruction.operands.size(); ++i) {
    for_each_register(instruction.operands[i], used);
  }
  if (writes && !instruction.operands.empty()) for_each_register(instruction.operands[0], defined);
}

/// The registers whose value is still needed, at the beginning and the end of each block.
struct Liveness {
  std::vector<std::vector<bool>> in;
  std::vector<std::vector<bool>> out;
};

Liveness liveness(const ptx::Kernel& kernel, const std::vector<ptx::BasicBlock>& blocks) {
  const std::size_t count = kernel.registers.size();
  Liveness live{std::vector(blocks.size() + 1, std::vector<bool>(count)),
                std::vector(blocks.size() + 1, std::vector<bool>(count))};
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = blocks.size(); b-- > 0;) {
      std::vector<bool>& out = live.out[b];
      for (const int successor : blocks[b].successors) {
        const std::vector<bool>& in = live.in[static_cast<std::size_t>(successor)];
        for (std::size_t r = 0; r < count; ++r) out[r] = out[r] || in[r];
      }
      std::vector<bool> now = out;
      for (int i = blocks[b].end; i-- > blocks[b].first;) {
        const Instruction& instruction = kernel.instructions[static_cast<std::size_t>(i)];
        for_each_operand(
            instruction, [](std::size_t) {}, [&now](std::size_t r) { now[r] = false; });
        for_each_operand(
            instruction, [&now](std::size_t r) { now[r] = true; }, [](std::size_t) {});
      }
      if (now == live.in[b]) continue;
      live.in[b] = std::move(now);
      changed = true;
    }
  }
  return live;
}

/// The first and the last instruction at which a register matters.
struct Range {
  int first = -1;
  int last = -1;
  void extend(int at) {
    first = first < 0 ? at : std::min(first, at);
    last = std::max(last, at);
  }
};

}  // namespace

RegisterAllocation allocate_registers(const ptx::Kernel& kernel, const std::vector<ptx::BasicBlock>& blocks,
                                      const std::vector<int>& widths) {
  const std::size_t count = kernel.registers.size();
  const Liveness live = liveness(kernel, blocks);
  std::vector<Range> ranges(count);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (std::size_t r = 0; r < count; ++r) {
      if (live.in[b][r]) ranges[r].extend(blocks[b].first);
      if (live.out[b][r]) ranges[r].extend(blocks[b].end - 1);
    }
    for (int i = blocks[b].first; i < blocks[b].end; ++i) {
      const auto touch = [&ranges, i](std::size_t r) { ranges[r].extend(i); };
      for_each_operand(kernel.instructions[static_cast<std::size_t>(i)], touch, touch);
    }
  }

  std::vector<std::size_t> order(count);
  for (std::size_t r = 0; r < count; ++r) order[r] = r;
  std::ranges::stable_sort(order, {}, [&ranges](std::size_t r) { return ranges[r].first; });
  using Ending = std::pair<int, int>;  // last instruction, slot
  struct SlotsOfWidth {
    std::priority_queue<Ending, std::vector<Ending>, std::greater<>> taken;
    std::vector<int> free;  // the slot needed last is at the end and taken first, from the host's cache
    int count = 0;
  };
  std::map<int, SlotsOfWidth> slots;
  RegisterAllocation result{std::vector<int>(count), live.in[0]};
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (!blocks[b].begins_function) continue;
    for (std::size_t r = 0; r < count; ++r) result.from_before[r] = result.from_before[r] || live.in[b][r];
  }
  for (const std::size_t r : order) {
    SlotsOfWidth& of_width = slots[widths[r]];
    while (!of_width.taken.empty() && of_width.taken.top().first < ranges[r].first) {
      of_width.free.push_back(of_width.taken.top().second);
      of_width.taken.pop();
    }
    if (of_width.free.empty()) of_width.free.push_back(of_width.count++);
    result.slot[r] = of_width.free.back();
    of_width.free.pop_back();
    of_width.taken.emplace(ranges[r].last, result.slot[r]);
  }
  return result;
}

}  // namespace convladder::simulated

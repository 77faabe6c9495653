#include "devices/simulated/ptx/control_flow.hpp"

#include <algorithm>
#include <string_view>

namespace convladder::ptx {
namespace {

bool is_branch(const Instruction& instruction) {
  return instruction.opcode == "bra" || instruction.opcode.starts_with("bra.");
}

bool ends_thread(const Instruction& instruction) {
  return instruction.opcode == "ret" || instruction.opcode == "ret.uni" || instruction.opcode == "exit" ||
         instruction.opcode == "trap";
}

/// First instructions of blocks: the kernel's first, branch targets, and what follows a branch or an exit.
std::vector<bool> leaders(const Kernel& kernel, const std::string& file) {
  const std::size_t count = kernel.instructions.size();
  std::vector<bool> leader(count + 1, false);
  leader[0] = true;
  for (std::size_t i = 0; i < count; ++i) {
    const Instruction& instruction = kernel.instructions[i];
    if (is_branch(instruction)) {
      if (instruction.operands.size() != 1 || instruction.operands[0].kind != OperandKind::label) {
        throw PtxError(file, instruction.position, "a branch must have one label as its target");
      }
      leader[static_cast<std::size_t>(instruction.operands[0].index)] = true;
      leader[i + 1] = true;
    } else if (ends_thread(instruction)) {
      leader[i + 1] = true;
    }
  }
  return leader;
}

/// Immediate post-dominators by the iteration of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm",
/// 2001) on the reversed graph, whose root is the kernel's end.
class PostDominators {
 public:
  explicit PostDominators(const std::vector<BasicBlock>& blocks)
      : blocks_(blocks), end_(static_cast<int>(blocks.size())) {
    predecessors_.resize(blocks.size() + 1);
    for (int block = 0; block < end_; ++block) {
      for (const int successor : blocks[block].successors) predecessors_[successor].push_back(block);
    }
    number_postorder();
    immediate_.assign(blocks.size() + 1, kUnknown);
    immediate_[end_] = end_;
    for (bool changed = true; changed;) {
      changed = false;
      // Reverse postorder of the reversed graph, without its root.
      std::for_each(postorder_.rbegin(), postorder_.rend(), [&](int block) {
        if (block != end_) changed = update(block) || changed;
      });
    }
  }

  /// A block from which the end cannot be reached (an endless loop) meets at the end.
  int immediate(int block) const { return immediate_[block] == kUnknown ? end_ : immediate_[block]; }

 private:
  static constexpr int kUnknown = -1;

  void number_postorder() {
    number_.assign(blocks_.size() + 1, kUnknown);
    std::vector<bool> visited(blocks_.size() + 1, false);
    std::vector<std::pair<int, std::size_t>> stack{{end_, 0}};
    visited[end_] = true;
    while (!stack.empty()) {
      auto& [block, next] = stack.back();
      if (next < predecessors_[block].size()) {
        const int predecessor = predecessors_[block][next++];
        if (visited[predecessor]) continue;
        visited[predecessor] = true;
        stack.emplace_back(predecessor, 0);
      } else {
        number_[block] = static_cast<int>(postorder_.size());
        postorder_.push_back(block);
        stack.pop_back();
      }
    }
  }

  bool update(int block) {
    int found = kUnknown;
    for (const int successor : blocks_[block].successors) {
      if (immediate_[successor] == kUnknown) continue;
      found = found == kUnknown ? successor : meet(found, successor);
    }
    if (found == immediate_[block]) return false;
    immediate_[block] = found;
    return true;
  }

  int meet(int a, int b) const {
    while (a != b) {
      while (number_[a] < number_[b]) a = immediate_[a];
      while (number_[b] < number_[a]) b = immediate_[b];
    }
    return a;
  }

  const std::vector<BasicBlock>& blocks_;
  int end_;
  std::vector<std::vector<int>> predecessors_;
  std::vector<int> number_;
  std::vector<int> postorder_;
  std::vector<int> immediate_;
};

}  // namespace

std::vector<BasicBlock> control_flow(const Kernel& kernel, const std::string& file) {
  const auto count = static_cast<int>(kernel.instructions.size());
  if (count == 0) throw PtxError(file, kernel.position, "the kernel '" + kernel.name + "' has no instructions");
  const std::vector<bool> leader = leaders(kernel, file);
  std::vector<BasicBlock> blocks;
  std::vector<int> block_of(static_cast<std::size_t>(count) + 1);
  for (int i = 0; i < count; ++i) {
    if (leader[i]) blocks.push_back({i, i, {}, 0});
    block_of[i] = static_cast<int>(blocks.size()) - 1;
    blocks.back().end = i + 1;
  }
  const auto end = static_cast<int>(blocks.size());
  block_of[count] = end;

  for (BasicBlock& block : blocks) {
    const Instruction& last = kernel.instructions[block.end - 1];
    if (is_branch(last)) block.successors.push_back(block_of[last.operands[0].index]);
    const bool can_go_on = last.predicate >= 0 || (!is_branch(last) && !ends_thread(last));
    if (can_go_on && block.end == count) {
      throw PtxError(file, last.position, "execution can run past the kernel's last instruction: 'ret' is missing");
    }
    if (can_go_on) block.successors.push_back(block_of[block.end]);
    if (ends_thread(last)) block.successors.push_back(end);
  }
  for (const BasicBlock& block : blocks) {
    if (is_branch(kernel.instructions[block.end - 1]) && block.successors.front() == end) {
      throw PtxError(file, kernel.instructions[block.end - 1].position,
                     "the branch's label is after the last instruction");
    }
  }
  const PostDominators dominators(blocks);
  for (int i = 0; i < end; ++i) blocks[i].reconvergence = dominators.immediate(i);
  return blocks;
}

}  // namespace convladder::ptx

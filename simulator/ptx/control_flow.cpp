#include "simulator/ptx/control_flow.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "simulator/ptx/dominators.hpp"
#include "simulator/ptx/linking.hpp"

namespace convladder::ptx {
namespace {

bool is_branch(const Instruction& instruction) {
  return instruction.opcode == "bra" || instruction.opcode.starts_with("bra.");
}

/// A branch that takes one of several labels.
bool is_table_branch(const Instruction& instruction) {
  return instruction.opcode == "brx.idx" || instruction.opcode == "brx.idx.uni";
}

bool is_trap(const Instruction& instruction) { return instruction.opcode == "trap" || instruction.opcode == "brkpt"; }

bool ends_thread(const Instruction& instruction) {
  return instruction.opcode == "ret" || instruction.opcode == "ret.uni" || instruction.opcode == "exit" ||
         is_trap(instruction);
}

/// Whether lanes wait there for others, or may do so in a called function.
bool is_meeting(const Instruction& instruction) {
  if (is_call(instruction)) return !is_provided(instruction.operands.at(0).name);
  const std::string_view opcode = instruction.opcode;
  return opcode.starts_with("bar") || opcode.find(".sync") != std::string_view::npos;
}

/// First instructions of blocks: the kernel's first, branch targets, and instructions after a branch or an exit.
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
    } else if (is_table_branch(instruction)) {
      if (instruction.operands.size() != 2 || instruction.operands[1].kind != OperandKind::vector) {
        throw PtxError(file, instruction.position, "a branch through a table must have a register and a table");
      }
      for (const Operand& label : instruction.operands[1].elements) {
        if (label.kind != OperandKind::label) throw PtxError(file, instruction.position, "the table must have labels");
        leader[static_cast<std::size_t>(label.index)] = true;
      }
      leader[i + 1] = true;
    } else if (ends_thread(instruction) || is_call(instruction)) {
      leader[i + 1] = true;  // lanes that return from a call may be others than those that called
    }
  }
  return leader;
}

/// The block that all ways from a block go through on their way to the end.
class PostDominators {
 public:
  /// `successors` of each block; the number of blocks stands for the end.
  explicit PostDominators(std::vector<std::vector<int>> successors) : end_(static_cast<int>(successors.size())) {
    successors.emplace_back();
    immediate_ = immediate_dominators(reversed(successors), end_);
  }

  /// A block from which the end cannot be reached (an endless loop) meets at the end.
  int immediate(int block) const { return immediate_[block] == kNoDominator ? end_ : immediate_[block]; }

 private:
  int end_;
  std::vector<int> immediate_;
};

/// The blocks at which lanes meet that part at the end of each block.
///
/// All returns of a kernel are its end, so ways of which one returns early would meet only there, and lanes that have
/// returned would wait there as if alive. So one return is taken for the kernel's natural end and the others are
/// ignored; where ways meet follows from post-dominators. Blocks that do not lead to it have a natural end of their
/// own, and so on. A choice that differs from the author's intent costs time, not results: lanes wait in the wrong
/// place until others wait for them.
class MeetingPoints {
 public:
  /// `meetings` is the number of barriers and exchanges of each block.
  MeetingPoints(std::vector<BasicBlock>& blocks, std::vector<int> meetings)
      : blocks_(blocks), meetings_(std::move(meetings)), end_(static_cast<int>(blocks.size())) {
    for (int block = 0; block < end_; ++block) {
      left_.push_back(!blocks[block].returns);
      blocks[block].reconvergence = end_;
    }
    predecessors_.resize(blocks.size());
    for (int block = 0; block < end_; ++block) {
      for (const int successor : blocks[block].successors) {
        if (successor != end_) predecessors_[successor].push_back(block);
      }
    }
  }

  void find() {
    for (int natural = natural_end(); natural != end_; natural = natural_end()) {
      const std::vector<bool> leads = leading_to(natural);
      std::vector<std::vector<int>> successors(blocks_.size());
      for (int block = 0; block < end_; ++block) {
        if (!leads[block]) continue;
        for (const int successor : blocks_[block].successors) {
          if (successor != end_ && leads[successor]) successors[block].push_back(successor);
        }
      }
      successors[natural].push_back(end_);
      const PostDominators dominators(std::move(successors));
      for (int block = 0; block < end_; ++block) {
        if (!leads[block]) continue;
        blocks_[block].reconvergence = dominators.immediate(block);
        blocks_[block].round = round_;
        left_[block] = false;
      }
      ++round_;
    }
    for (int block = 0; block < end_; ++block) {
      if (left_[block] || blocks_[block].returns) blocks_[block].round = round_;
    }
  }

 private:
  bool can_return(int block) const {
    const auto returns = [this](int successor) { return successor == end_ || blocks_[successor].returns; };
    return std::ranges::any_of(blocks_[block].successors, returns);
  }
  /// The natural end among the remaining returns: the one to which the most barriers and exchanges lead, or else the
  /// last.
  int natural_end() const {
    int natural = end_;
    int most = 0;
    bool any_meets = false;  // kernels can have thousands of returns, such as those that trap
    for (int block = 0; block < end_; ++block) any_meets = any_meets || (left_[block] && meetings_[block] > 0);
    for (int block = 0; block < end_; ++block) {
      if (!left_[block] || !can_return(block)) continue;
      if (!any_meets) {
        natural = block;
        continue;
      }
      const std::vector<bool> leads = leading_to(block);
      int meetings = 0;
      for (int from = 0; from < end_; ++from) meetings += leads[from] ? meetings_[from] : 0;
      if (meetings < most) continue;
      natural = block;
      most = meetings;
    }
    return natural;
  }
  /// The remaining blocks that lead to a block.
  std::vector<bool> leading_to(int block) const {
    std::vector<bool> leads(blocks_.size(), false);
    std::vector<int> open{block};
    leads[block] = true;
    while (!open.empty()) {
      const int at = open.back();
      open.pop_back();
      for (const int predecessor : predecessors_[at]) {
        if (!left_[predecessor] || leads[predecessor]) continue;
        leads[predecessor] = true;
        open.push_back(predecessor);
      }
    }
    return leads;
  }

  std::vector<BasicBlock>& blocks_;
  std::vector<int> meetings_;  // of each block
  int end_;
  int round_ = 0;
  std::vector<bool> left_;  // blocks whose meeting point is not known yet
  std::vector<std::vector<int>> predecessors_;
};

/// Finds the blocks that are only an unconditional return, and those that only jump to one.
void mark_returns(const Kernel& kernel, std::vector<BasicBlock>& blocks) {
  const auto end = static_cast<int>(blocks.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (BasicBlock& block : blocks) {
      const Instruction& only = kernel.instructions[block.first];
      if (block.returns || block.end != block.first + 1 || only.predicate >= 0 || is_trap(only)) continue;
      const int next = block.successors.front();
      block.returns = ends_thread(only) || (is_branch(only) && next != end && blocks[next].returns);
      changed = changed || block.returns;
    }
  }
}

}  // namespace

std::vector<BasicBlock> control_flow(const Kernel& kernel, const std::string& file) {
  const auto count = static_cast<int>(kernel.instructions.size());
  if (count == 0) throw PtxError(file, kernel.position, "the kernel '" + kernel.name + "' has no instructions");
  const std::vector<bool> leader = leaders(kernel, file);
  std::vector<BasicBlock> blocks;
  std::vector<int> block_of(static_cast<std::size_t>(count) + 1);
  for (int i = 0; i < count; ++i) {
    if (leader[i]) blocks.push_back({.first = i, .end = i, .successors = {}});
    block_of[i] = static_cast<int>(blocks.size()) - 1;
    blocks.back().end = i + 1;
  }
  const auto end = static_cast<int>(blocks.size());
  block_of[count] = end;

  for (BasicBlock& block : blocks) {
    const Instruction& last = kernel.instructions[block.end - 1];
    if (is_branch(last)) block.successors.push_back(block_of[last.operands[0].index]);
    if (is_table_branch(last)) {
      for (const Operand& label : last.operands[1].elements) {
        const int target = block_of[static_cast<std::size_t>(label.index)];
        if (std::ranges::find(block.successors, target) == block.successors.end()) block.successors.push_back(target);
      }
    }
    const bool is_any_branch = is_branch(last) || is_table_branch(last);
    const bool can_go_on = last.predicate >= 0 || (!is_any_branch && !ends_thread(last));
    if (can_go_on && block.end == count) {
      throw PtxError(file, last.position, "execution can run past the kernel's last instruction: 'ret' is missing");
    }
    if (can_go_on) block.successors.push_back(block_of[block.end]);
    if (ends_thread(last)) block.successors.push_back(end);
  }
  for (const BasicBlock& block : blocks) {
    const Instruction& last = kernel.instructions[block.end - 1];
    const auto beyond = std::ranges::find(block.successors, end);
    if ((is_branch(last) || is_table_branch(last)) && beyond != block.successors.end()) {
      throw PtxError(file, last.position, "the branch's label is after the last instruction");
    }
  }
  mark_returns(kernel, blocks);
  std::vector<int> meetings;
  meetings.reserve(blocks.size());
  for (const BasicBlock& block : blocks) {
    meetings.push_back(static_cast<int>(
        std::count_if(kernel.instructions.begin() + block.first, kernel.instructions.begin() + block.end, is_meeting)));
  }
  MeetingPoints(blocks, std::move(meetings)).find();
  return blocks;
}

}  // namespace convladder::ptx

// Where threads of a block part, and where they meet again: loops, and what lies between a branch and its end.
#pragma once

#include <vector>

#include "simulator/ptx/control_flow.hpp"
#include "simulator/ptx/linking.hpp"

namespace convladder::simulated {

/// The blocks of a kernel and of the functions behind it.
class Flow {
 public:
  /// A natural loop: all blocks from which its head is reached without leaving it.
  struct Loop {
    int head = 0;
    std::vector<bool> has;  ///< by block
  };

  /// Throws PtxError as ptx::control_flow does.
  Flow(const ptx::LinkedKernel& linked, const ptx::Kernel& kernel, const std::string& file);

  const std::vector<ptx::BasicBlock>& blocks() const { return blocks_; }
  int end() const { return static_cast<int>(blocks_.size()); }  ///< stands for the kernel's end
  int block_of(int instruction) const { return block_of_[static_cast<std::size_t>(instruction)]; }
  const std::vector<Loop>& loops() const { return loops_; }
  /// The loops that the block lies in.
  int depth(int block) const;

  /// The blocks that threads may go through between the end of this one and the block at which they meet again.
  std::vector<bool> region(int block) const;
  /// Those of them behind one of its successors.
  std::vector<bool> side(int block, int successor) const;
  /// Whether a way leads from `from` to where the threads that part behind `branch` meet again, and passes none of
  /// `without`.
  bool can_pass(int from, int branch, const std::vector<bool>& without) const;
  /// The innermost loop that has both blocks, but not the one at which threads meet that part behind `branch`; -1 if
  /// there is none.
  int left_loop(int branch, int block) const;

 private:
  std::vector<bool> reached(const std::vector<int>& from, int stop, const std::vector<bool>& without) const;
  /// The blocks that ways from these go through before they come to `meeting`.
  std::vector<bool> between(const std::vector<int>& from, int meeting) const;
  void find_loops();

  std::vector<ptx::BasicBlock> blocks_;
  std::vector<int> block_of_;
  std::vector<Loop> loops_;
};

}  // namespace convladder::simulated

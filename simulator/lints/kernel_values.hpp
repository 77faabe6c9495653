// The values of a kernel's registers in the threads of a block, as far as they follow from its instructions, and the
// branches behind which threads part.
//
// Where several assignments of a register meet, its value is what they have in common and an unknown number: a loop's
// counter is one that all threads in the same trip have alike.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "devices/device.hpp"
#include "simulator/lints/flow.hpp"
#include "simulator/lints/thread_value.hpp"
#include "simulator/ptx/module.hpp"

namespace convladder::simulated {

/// The block of threads for which a kernel is looked at.
struct BlockShape {
  Dim3 threads{256, 1, 1};
  bool is_given = false;  ///< by the user or by the kernel; otherwise nothing is said of the last threads
};

/// Between which threads something differs.
enum class Parting : std::uint8_t { none, between_warps, within_warps };

/// The address of an access to memory.
struct AccessAddress {
  ThreadValue bytes;
  ptx::Space space = ptx::Space::generic;
  std::string variable;  ///< of shared or local memory, by its name in the PTX; empty where it is not known
};

class KernelValues {
 public:
  /// Throws PtxError as ptx::control_flow does.
  KernelValues(const ptx::Module& module, const ptx::Kernel& kernel, const BlockShape& shape);

  const ptx::Module& module() const { return module_; }
  /// With the functions that it calls.
  const ptx::Kernel& kernel() const { return linked_.kernel; }
  const Flow& flow() const { return flow_; }
  const BlockShape& shape() const { return shape_; }
  const Unknowns& unknowns() const { return unknowns_; }
  std::size_t threads() const { return threads_; }

  /// A variable of the kernel or of its module; null if there is none of that name.
  const ptx::Symbol* find_symbol(const std::string& name) const;
  /// The value of an operand that this instruction reads.
  ThreadValue value(const ptx::Operand& operand, int instruction) const;
  /// The address of an operand [register + offset]; `space` as the opcode says it.
  AccessAddress address(const ptx::Operand& operand, int instruction, ptx::Space space) const;

  /// How threads part at the end of a block.
  Parting parting(int block) const { return partings_[static_cast<std::size_t>(block)]; }
  /// How the predicate of an instruction parts threads.
  Parting predicate_parting(int instruction) const;
  /// The threads that may execute the instruction, by what is known of the conditions before it.
  std::vector<bool> active(int instruction) const;
  /// The blocks whose branches part threads, and between which and their meeting points the instruction lies.
  std::vector<int> parting_branches(int instruction) const;
  /// Whether it is known of every thread where it goes behind a block.
  bool is_known_branch(int block) const;
  /// Whether threads part behind a block by their places in the block, not by data: two of them differ, whatever the
  /// kernel is called with or for nearly all that it can be called with.
  bool parts_by_place(int block) const;
  /// As `parts_by_place`, for the predicate's register that an instruction reads.
  bool is_of_place(int predicate, int instruction) const;

 private:
  void find_definitions();
  void find_reads();
  void find_pointers();
  void propagate();
  void find_partings();
  bool mark_meetings();
  void find_active();

  /// The value of an operand, or of a register, that the instruction reads.
  ThreadValue read(const ptx::Operand& operand, int index) const;
  ThreadValue register_value(int reg, int index) const;
  ThreadValue special(const std::string& name) const;
  ThreadValue symbol_value(const std::string& name) const;
  int unknown(const std::string& key, Unknown what) const { return unknowns_.find_or_add(key, std::move(what)); }
  std::vector<ThreadValue> results(int index) const;
  ThreadValue result(const ptx::Instruction& instruction, int index) const;
  ThreadValue integer_result(const ptx::Instruction& instruction, int index,
                             const std::vector<std::string_view>& parts) const;
  ThreadValue compared(const ptx::Instruction& instruction, int index,
                       const std::vector<std::string_view>& parts) const;
  ThreadValue loaded(const ptx::Instruction& instruction, int index, const std::vector<std::string_view>& parts) const;
  ThreadValue collapsed(int index, const std::vector<ThreadValue>& from, std::uint64_t multiple = 1) const;
  ThreadValue joined(int meeting) const;
  Parting parting_of(const ThreadValue& predicate) const;

  const ptx::Module& module_;
  ptx::LinkedKernel linked_;
  Flow flow_;
  BlockShape shape_;
  std::size_t threads_;
  mutable Unknowns unknowns_;

  /// Assignments of one register of which an instruction reads one, by the way that led to it.
  struct Meeting {
    int reg = 0;
    std::vector<int> definitions;  ///< instructions, ascending
    ThreadValue value{};
    // How the ways to them differ between threads.
    bool within_warps = false;
    bool between_warps = false;
    std::vector<int> loops{};  ///< that threads leave after different numbers of trips
  };
  std::vector<std::vector<int>> definitions_;  // of each register: instructions
  std::vector<bool> is_pointer_;               // of each register: it becomes an address of global memory
  std::vector<Meeting> meetings_;
  std::vector<std::vector<int>> meetings_of_;            // of each instruction: those that its result is part of
  std::vector<std::vector<std::pair<int, int>>> reads_;  // of each instruction: registers with several assignments, and
                                                         // the meeting of those that it may read; -1 if there is none
  std::vector<std::vector<ThreadValue>> assigned_;       // of each instruction: its results
  std::vector<Parting> partings_;                        // of each block
  std::vector<std::vector<bool>> regions_;               // of each block that parts threads
  std::vector<std::vector<bool>> active_;                // of each block: threads that may come to it
};

}  // namespace convladder::simulated

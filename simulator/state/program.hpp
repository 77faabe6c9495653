// A kernel ready to run: operations, blocks, and the places of registers, constants and parameters.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/ptx/linking.hpp"
#include "simulator/ptx/module.hpp"
#include "simulator/state/operation.hpp"
#include "simulator/state/warps_in_lockstep.hpp"

namespace convladder::simulated {

/// The ways of adding the products of mma and wgmma. `rounding` adds one after the other, in ascending order of k, and
/// rounds each sum to float32. The others do what these GPUs do, as far as it is known:
/// instructions/matrix/tensor_sum.hpp.
enum class TensorCores : std::uint8_t { rounding, a100, h100 };

inline constexpr const char* kTensorCoreNames[] = {"rounding", "a100", "h100"};

/// Finds a value by its name in `kTensorCoreNames`.
inline std::optional<TensorCores> find_tensor_cores(std::string_view name) {
  for (const TensorCores one : {TensorCores::rounding, TensorCores::a100, TensorCores::h100}) {
    if (name == kTensorCoreNames[static_cast<int>(one)]) return one;
  }
  return std::nullopt;
}

/// A basic block, in terms of operations instead of instructions.
struct ProgramBlock {
  int first = 0;
  int end = 0;
  bool returns = false;   ///< consists only of a return, or of a jump to one
  int round = 0;          ///< see ptx::BasicBlock
  int reconvergence = 0;  ///< operation at which lanes that part at its end meet again; the number of operations for
                          ///< the kernel's end
};

/// The system software's part of a block's shared memory in a kernel that asks for its place (%reserved_smem_offset_1):
/// cooperative groups of several warps synchronise there.
inline constexpr std::uint32_t kReservedSharedBytes = 1024;

/// Slots that are set when a block or a warp starts. Those that the kernel does not use are not set.
struct SpecialSlots {
  std::array<Slot, 3> thread_index;      ///< %tid.{x,y,z}: of the warp, one value per lane
  Slot lane_index;                       ///< %laneid
  Slot warp_index;                       ///< %warpid
  std::array<Slot, 3> block_index;       ///< %ctaid.{x,y,z}: constants of the block
  std::array<Slot, 3> block_size;        ///< %ntid
  std::array<Slot, 3> grid_size;         ///< %nctaid
  std::array<Slot, 3> place_in_cluster;  ///< %cluster_ctaid: constants of the block, like the next three
  Slot rank;                             ///< %cluster_ctarank
  std::array<Slot, 3> cluster_index;     ///< %clusterid
  std::array<Slot, 3> clusters;          ///< %nclusterid
  std::array<Slot, 3> cluster_size;      ///< %cluster_nctaid
  Slot cluster_blocks;                   ///< %cluster_nctarank
  Slot is_explicit_cluster;              ///< 0 or 1
  std::array<Slot, 2> workspace;         ///< the address of the grid's workspace, lower half first: %envreg2, %envreg1
  Slot multiprocessor;                   ///< %smid: constant of the block
  Slot multiprocessors;                  ///< %nsmid
  Slot most_warps;                       ///< %nwarpid: the warps that a multiprocessor of the simulated GPU can hold
  Slot dynamic_shared_bytes;             ///< %dynamic_smem_size
  Slot total_shared_bytes;               ///< %total_smem_size
};

/// The place of a `.param` variable of a body in a frame: `stride` bytes for each lane, one after the other.
struct ParameterPlace {
  std::uint32_t offset = 0;
  std::uint32_t stride = 0;
  std::uint32_t bytes = 0;
};

/// A function that the kernel calls.
struct ProgramFunction {
  const ptx::Kernel* function = nullptr;
  int first = 0;              ///< its first operation
  std::uint64_t address = 0;  ///< see `function_address`
  std::vector<ParameterPlace> parameters;
  std::vector<ParameterPlace> results;
  std::uint32_t local_bytes = 0;  ///< for its own variables, per thread
};

/// The callee, arguments and results of an operation that calls.
struct CallSite {
  int function = -1;  ///< index into Program::functions; -1: the function that the operation's first operand points to
  std::vector<ParameterPlace> arguments;
  std::vector<ParameterPlace> results;
};

struct Program {
  const ptx::Module* module = nullptr;
  const ptx::Kernel* kernel = nullptr;              ///< with the instructions of called functions after its own
  std::shared_ptr<const ptx::LinkedKernel> linked;  ///< contains `kernel` if that calls any functions
  std::shared_ptr<const ptx::Kernel> mutant;        ///< of a mutant: the body that is not as in the module
  std::vector<ProgramFunction> functions;
  std::vector<CallSite> calls;  ///< by Operation::detail
  bool calls_functions() const { return !functions.empty(); }
  std::vector<std::vector<int>> branch_tables;  ///< operations, by Operation::detail of `brx`
  std::optional<Slot> local_base;               ///< where the local variables of a frame begin, one value per lane
  std::vector<Operation> operations;
  std::vector<LockstepHandler> lockstep;  ///< by operation, for several warps; none: each warp does it alone
  bool may_run_in_lockstep = false;       ///< its warps meet only at barriers, so that their order does not matter
  std::vector<Slot> operand_lists;        ///< operands of operations that have more than an Operation holds
  std::vector<bool> is_point;             ///< by instruction: whether others may see what it does (is_seen_by_others)
  std::vector<bool> stores_by_lane;  ///< by instruction: whether its lanes write each for itself, in no defined order
  std::vector<ProgramBlock> blocks;
  std::vector<int> block_of_operation;
  std::uint32_t register_bytes = 0;                             ///< per warp and frame: the kernel's or that of a call
  std::vector<std::pair<std::uint32_t, std::uint32_t>> zeroed;  ///< offset and bytes of registers that begin as zero
  std::vector<std::byte> constants;  ///< immediates and addresses, broadcast to all lanes, and room for the block's
  /// A constant that is an address in the block's own shared memory: in a cluster the block's rank is added to it.
  struct SharedAddress {
    Slot slot;
    std::uint64_t value = 0;  ///< without a rank
    int bits = 32;
  };
  std::vector<SharedAddress> shared_addresses;
  SpecialSlots special;
  std::uint32_t special_bytes =
      0;  ///< of a warp's registers, from the first on: those that are the same in every frame
  std::uint32_t parameter_bytes = 0;
  std::vector<std::uint32_t> parameter_offsets;  ///< for each parameter, aligned as declared
  std::uint32_t static_shared_bytes = 0;         ///< dynamic shared memory begins after these bytes
  std::uint32_t reserved_shared_bytes = 0;       ///< the first of these bytes: the system's, zero when a block begins
  std::uint32_t local_bytes = 0;                 ///< per thread, with those of all calls
  std::uint32_t own_local_bytes = 0;             ///< per thread, for the kernel itself
  bool needs_block_order = false;  ///< blocks communicate through global memory, so they run in order, on one
                                   ///< host thread, so that results are the same in every run
  TensorCores tensor_cores = TensorCores::rounding;

  /// Whether lanes at `from` should meet others at the block that begins at `meet`, from which they parted at `branch`:
  /// a way leads there without the branch, or every way does. Otherwise they may have left for good.
  bool should_meet(int from, int meet, int branch) const;
};

}  // namespace convladder::simulated

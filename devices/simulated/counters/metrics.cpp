#include "devices/simulated/counters/metrics.hpp"

#include <string_view>

#include "devices/simulated/execution/memory_access.hpp"

namespace convladder::simulated {
namespace {

using ptx::Instruction;

bool begins_with_word(std::string_view opcode, std::string_view word) {
  return opcode.starts_with(word) && (opcode.size() == word.size() || opcode[word.size()] == '.');
}

bool is_branch(const Instruction& i) { return begins_with_word(i.opcode, "bra"); }
bool is_barrier(const Instruction& i) {
  return begins_with_word(i.opcode, "bar") || begins_with_word(i.opcode, "barrier");
}
bool is_conversion(const Instruction& i) {
  return begins_with_word(i.opcode, "cvt") || begins_with_word(i.opcode, "cvta");
}
bool is_fp32(const Instruction& i) {
  const bool arithmetic = !begins_with_word(i.opcode, "mov") && !begins_with_word(i.opcode, "selp") &&
                          !begins_with_word(i.opcode, "ld") && !begins_with_word(i.opcode, "st") && !is_conversion(i);
  return arithmetic && i.opcode.ends_with(".f32");
}
bool is_fp32_fma(const Instruction& i) { return begins_with_word(i.opcode, "fma") && i.opcode.ends_with(".f32"); }
bool is_integer(const Instruction& i) {
  constexpr std::string_view words[] = {"add", "sub", "mul", "mad", "div", "rem", "min", "max", "neg",
                                        "abs", "and", "or",  "xor", "not", "shl", "shr", "setp"};
  for (const std::string_view word : words) {
    if (begins_with_word(i.opcode, word)) {
      return !i.opcode.ends_with(".f32") && !i.opcode.ends_with(".f64") && !i.opcode.ends_with(".pred");
    }
  }
  return false;
}

template <ptx::Space kSpace, bool kStore>
bool is_access(const Instruction& i) {
  const auto access = parse_memory_access(i.opcode);
  if (!access || access->is_store != kStore) return false;
  // The module's constants are read through the same path as global memory here.
  return access->space == kSpace || (kSpace == ptx::Space::global && access->space == ptx::Space::constant);
}
bool is_any(const Instruction& /*i*/) { return true; }

std::uint64_t warps(const InstructionCounters& c) { return c.warps; }
std::uint64_t lanes(const InstructionCounters& c) { return c.lanes; }
std::uint64_t divergent(const InstructionCounters& c) { return c.divergent_branches; }
std::uint64_t requests(const InstructionCounters& c) { return c.requests; }
std::uint64_t sectors(const InstructionCounters& c) { return c.sectors; }
std::uint64_t wavefronts(const InstructionCounters& c) { return c.wavefronts; }
std::uint64_t bytes(const InstructionCounters& c) { return c.bytes; }

/// A sum over the instructions that `counts` accepts.
struct Sum {
  const char* name;
  const char* definition;
  bool (*accepts)(const Instruction&);
  std::uint64_t (*event)(const InstructionCounters&);
};

/// A ratio of two sums, by their names.
struct Ratio {
  const char* name;
  const char* definition;
  const char* numerator;
  const char* denominator;
};

constexpr auto kGlobal = ptx::Space::global;
constexpr auto kShared = ptx::Space::shared;
constexpr auto kLocal = ptx::Space::local;

constexpr Sum kSums[] = {
    {"smsp__inst_executed.sum", "Instructions executed by warps, of any kind.", is_any, warps},
    {"smsp__thread_inst_executed_pred_on.sum", "Instructions executed by threads whose predicate was true.", is_any,
     lanes},
    {"smsp__sass_thread_inst_executed_op_fp32_pred_on.sum",
     "Single precision arithmetic and comparisons executed by threads.", is_fp32, lanes},
    {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "Single precision fused multiply-adds executed by threads.",
     is_fp32_fma, lanes},
    {"smsp__sass_thread_inst_executed_op_integer_pred_on.sum",
     "Integer arithmetic, logic and comparisons executed by threads.", is_integer, lanes},
    {"smsp__sass_thread_inst_executed_op_conversion_pred_on.sum",
     "Conversions between types and address spaces executed by threads.", is_conversion, lanes},
    {"smsp__sass_inst_executed_op_branch.sum", "Branches executed by warps.", is_branch, warps},
    {"smsp__sass_branch_targets_threads_divergent.sum", "Branches in which the threads of a warp went both ways.",
     is_branch, divergent},
    {"smsp__inst_executed_op_barrier.sum", "Barriers that warps arrived at.", is_barrier, warps},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "Loads from global memory by warps.", is_access<kGlobal, false>,
     requests},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "32-byte sectors touched by them, summed over requests.",
     is_access<kGlobal, false>, sectors},
    {"smsp__sass_data_bytes_mem_global_op_ld.sum", "Bytes that threads asked for in loads from global memory.",
     is_access<kGlobal, false>, bytes},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "Stores to global memory by warps.", is_access<kGlobal, true>,
     requests},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "32-byte sectors touched by them, summed over requests.",
     is_access<kGlobal, true>, sectors},
    {"smsp__sass_data_bytes_mem_global_op_st.sum", "Bytes that threads stored to global memory.",
     is_access<kGlobal, true>, bytes},
    {"smsp__sass_inst_executed_op_shared_ld.sum", "Loads from shared memory by warps.", is_access<kShared, false>,
     requests},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
     "Passes over the banks of shared memory that those loads needed.", is_access<kShared, false>, wavefronts},
    {"smsp__sass_inst_executed_op_shared_st.sum", "Stores to shared memory by warps.", is_access<kShared, true>,
     requests},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
     "Passes over the banks of shared memory that those stores needed.", is_access<kShared, true>, wavefronts},
    {"smsp__inst_executed_op_local_ld.sum", "Loads from local memory (spills, indexed arrays) by warps.",
     is_access<kLocal, false>, requests},
    {"smsp__inst_executed_op_local_st.sum", "Stores to local memory by warps.", is_access<kLocal, true>, requests},
};

constexpr Ratio kRatios[] = {
    {"smsp__thread_inst_executed_pred_on_per_inst_executed.ratio",
     "Threads that took part in an instruction, on average: 32 if no lane is ever idle.",
     "smsp__thread_inst_executed_pred_on.sum", "smsp__inst_executed.sum"},
    {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
     "Sectors per load from global memory: 4 where 32 threads read 32 neighbouring floats.",
     "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
    {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", "Sectors per store to global memory.",
     "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
};

}  // namespace

const std::vector<Metric>& metrics() {
  static const std::vector<Metric> all = [] {
    std::vector<Metric> list;
    for (const Sum& sum : kSums) list.push_back({sum.name, sum.definition});
    for (const Ratio& ratio : kRatios) list.push_back({ratio.name, ratio.definition});
    return list;
  }();
  return all;
}

std::vector<std::pair<std::string, double>> metric_values(const ptx::Kernel& kernel,
                                                          const std::vector<InstructionCounters>& counters) {
  std::vector<std::pair<std::string, double>> values;
  for (const Sum& sum : kSums) {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < counters.size(); ++i) {
      if (sum.accepts(kernel.instructions[i])) total += sum.event(counters[i]);
    }
    values.emplace_back(sum.name, static_cast<double>(total));
  }
  const auto value_of = [&values](std::string_view name) {
    for (const auto& [known, value] : values) {
      if (known == name) return value;
    }
    return 0.0;
  };
  for (const Ratio& ratio : kRatios) {
    const double denominator = value_of(ratio.denominator);
    if (denominator > 0) values.emplace_back(ratio.name, value_of(ratio.numerator) / denominator);
  }
  return values;
}

}  // namespace convladder::simulated

#include "simulator/counters/metrics.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "simulator/instructions/matrix/matrix_fragment.hpp"
#include "simulator/instructions/memory/memory_access.hpp"
#include "simulator/instructions/textures/texture_opcode.hpp"

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
                          !begins_with_word(i.opcode, "ld") && !begins_with_word(i.opcode, "st") && !is_conversion(i) &&
                          !is_texture_fetch(i.opcode);
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
  return access && access->is_store == kStore && access->space == kSpace;
}
bool is_any(const Instruction& /*i*/) { return true; }
bool is_in(const Instruction& i, std::string_view space) { return i.opcode.find(space) != std::string::npos; }
bool is_global_atomic(const Instruction& i) { return begins_with_word(i.opcode, "atom") && !is_in(i, ".shared"); }
bool is_global_reduction(const Instruction& i) { return begins_with_word(i.opcode, "red") && !is_in(i, ".shared"); }
bool is_shared_atomic(const Instruction& i) {
  return (begins_with_word(i.opcode, "atom") || begins_with_word(i.opcode, "red")) && is_in(i, ".shared");
}
bool is_asynchronous_copy(const Instruction& i) { return is_in(i, "cp.async.c") && is_in(i, ".shared.global"); }
bool is_bulk_load(const Instruction& i) {
  return i.opcode.starts_with("cp.async.bulk") && (is_in(i, "::cluster.global") || is_in(i, "::cta.global"));
}
bool is_bulk_store(const Instruction& i) {
  const bool copies = i.opcode.starts_with("cp.async.bulk") || i.opcode.starts_with("cp.reduce.async.bulk");
  return copies && is_in(i, ".global.shared::cta");
}
bool is_matrix_load(const Instruction& i) { return begins_with_word(i.opcode, "ldmatrix"); }

bool is_texture(const Instruction& i) { return is_texture_fetch(i.opcode); }
bool is_surface_load(const Instruction& i) { return begins_with_word(i.opcode, "suld"); }
bool is_surface_store(const Instruction& i) { return begins_with_word(i.opcode, "sust"); }
bool is_surface_reduction(const Instruction& i) { return begins_with_word(i.opcode, "sured"); }

std::uint64_t warps(const InstructionCounters& c) { return c.warps; }
std::uint64_t lanes(const InstructionCounters& c) { return c.lanes; }
std::uint64_t divergent(const InstructionCounters& c) { return c.divergent_branches; }
std::uint64_t requests(const InstructionCounters& c) { return c.requests; }
std::uint64_t sectors(const InstructionCounters& c) { return c.sectors; }
std::uint64_t wavefronts(const InstructionCounters& c) { return c.wavefronts; }
std::uint64_t conflicts(const InstructionCounters& c) { return c.wavefronts - c.ideal_wavefronts; }
std::uint64_t bytes(const InstructionCounters& c) { return c.bytes; }

/// Notes that several metrics share.
constexpr const char* kOfCode = "PTX instructions: ptxas merges, removes and adds some on the way to machine code.";
constexpr const char* kOfThreads =
    "PTX instructions; arithmetic that a kernel needs survives ptxas, address arithmetic may not.";
constexpr const char* kOfAccesses =
    "Accesses in the PTX: hardware counts the same for the same access, but ptxas may merge accesses into wider ones "
    "or hoist them out of loops.";
constexpr const char* kOfSharedLoads =
    "Accesses in the PTX, which ptxas may merge into wider ones or hoist out of loops. Where lanes share addresses in "
    "pairs, a load of 8 or 16 bytes a lane takes half as many passes: NVIDIA's rule for compute capability 7.0 to 7.5, "
    "unproven for 9.0 until Nsight Compute has shown it.";
constexpr const char kOfModel[] =
    "From a model of the caches (caches/cache_hierarchy.hpp) in which a multiprocessor runs its blocks one after "
    "another.";

constexpr const char* kOfCopies =
    "Only for kernels with such instructions. A bulk copy's bytes count once, whatever the number of blocks that "
    "receive them; a box's bytes count outside of the tensor, too.";
constexpr const char* kOfTexels =
    "Only for kernels with such instructions. Texels lie in rows here; a GPU keeps arrays in blocks that NVIDIA does "
    "not "
    "describe, so the sectors of arrays are other ones there.";

/// A sum over the instructions that `accepts` takes.
struct Sum {
  const char* title;
  const char* name;
  const char* unit;
  const char* definition;
  const char* note;
  bool (*accepts)(const Instruction&);
  std::uint64_t (*event)(const InstructionCounters&);
};

/// Operations of the tensor cores on factors and sums of these types; given only for kernels that have any.
struct TensorSum {
  const char* title;
  const char* name;
  const char* definition;
  ElementType factors;
  ElementType sums;
};

/// A figure of the caches, times `scale`.
struct CacheSum {
  const char* title;
  const char* name;
  const char* unit;
  const char* definition;
  std::uint64_t CacheCounters::*sectors;
  std::uint64_t scale;
  bool below_l1;
};

/// A ratio of two sums, by their names, times `scale`.
struct Ratio {
  const char* title;
  const char* name;
  const char* unit;
  const char* definition;
  const char* note;
  const char* numerator;
  const char* denominator;
  double scale;
};

constexpr auto kGlobal = ptx::Space::global;
constexpr auto kShared = ptx::Space::shared;
constexpr auto kLocal = ptx::Space::local;
constexpr auto kConstant = ptx::Space::constant;
constexpr std::uint64_t kSectorBytes = 32;
constexpr const char* kConstantRequests = "idc__requests.sum";
constexpr const char* kTextureSectors = "l1tex__t_sectors_pipe_tex_mem_texture.sum";
constexpr const char* kTextureHits = "l1tex__t_sectors_pipe_tex_mem_texture_lookup_hit.sum";

constexpr Sum kSums[] = {
    {"instructions", "smsp__inst_executed.sum", "instructions", "Instructions executed by warps, of any kind.", kOfCode,
     is_any, warps},
    {"thread instructions", "smsp__thread_inst_executed_pred_on.sum", "instructions",
     "Instructions executed by threads whose predicate was true.", kOfCode, is_any, lanes},
    {"fp32 operations", "smsp__sass_thread_inst_executed_op_fp32_pred_on.sum", "instructions",
     "Single precision arithmetic and comparisons executed by threads.", kOfThreads, is_fp32, lanes},
    {"fused multiply-adds", "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "instructions",
     "Single precision fused multiply-adds executed by threads.", kOfThreads, is_fp32_fma, lanes},
    {"integer operations", "smsp__sass_thread_inst_executed_op_integer_pred_on.sum", "instructions",
     "Integer arithmetic, logic and comparisons executed by threads.", kOfCode, is_integer, lanes},
    {"conversions", "smsp__sass_thread_inst_executed_op_conversion_pred_on.sum", "instructions",
     "Conversions between types and address spaces executed by threads.", kOfCode, is_conversion, lanes},
    {"branches", "smsp__sass_inst_executed_op_branch.sum", "instructions", "Branches executed by warps.", kOfCode,
     is_branch, warps},
    {"divergent branches", "smsp__sass_branch_targets_threads_divergent.sum", "branches",
     "Branches in which the threads of a warp went both ways.",
     "Branches in the PTX: ptxas turns short ones into predicated instructions.", is_branch, divergent},
    {"barriers", "smsp__inst_executed_op_barrier.sum", "instructions", "Barriers that warps arrived at.", kOfCode,
     is_barrier, warps},
    {"global load requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "requests",
     "Loads from global memory by warps.", kOfAccesses, is_access<kGlobal, false>, requests},
    {"global load sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sectors",
     "32-byte sectors touched by them, summed over requests.", kOfAccesses, is_access<kGlobal, false>, sectors},
    {"global load bytes", "smsp__sass_data_bytes_mem_global_op_ld.sum", "bytes",
     "Bytes that threads asked for in loads from global memory.", kOfAccesses, is_access<kGlobal, false>, bytes},
    {"global store requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "requests",
     "Stores to global memory by warps.", kOfAccesses, is_access<kGlobal, true>, requests},
    {"global store sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sectors",
     "32-byte sectors touched by them, summed over requests.", kOfAccesses, is_access<kGlobal, true>, sectors},
    {"global store bytes", "smsp__sass_data_bytes_mem_global_op_st.sum", "bytes",
     "Bytes that threads stored to global memory.", kOfAccesses, is_access<kGlobal, true>, bytes},
    {"shared loads", "smsp__sass_inst_executed_op_shared_ld.sum", "instructions", "Loads from shared memory by warps.",
     kOfAccesses, is_access<kShared, false>, requests},
    {"shared load wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "wavefronts",
     "Passes over the banks of shared memory that those loads needed.", kOfSharedLoads, is_access<kShared, false>,
     wavefronts},
    {"shared load bank conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "wavefronts",
     "Those of them that conflicts between banks cost.", kOfAccesses, is_access<kShared, false>, conflicts},
    {"shared stores", "smsp__sass_inst_executed_op_shared_st.sum", "instructions", "Stores to shared memory by warps.",
     kOfAccesses, is_access<kShared, true>, requests},
    {"shared store wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "wavefronts",
     "Passes over the banks of shared memory that those stores needed.", kOfAccesses, is_access<kShared, true>,
     wavefronts},
    {"shared store bank conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "wavefronts",
     "Those of them that conflicts between banks cost.", kOfAccesses, is_access<kShared, true>, conflicts},
    {"global atomics", "smsp__inst_executed_op_global_atom.sum", "instructions",
     "Atomics on global memory that return a value, by warps. Atomics on generic addresses are counted here.", kOfCode,
     is_global_atomic, warps},
    {"global reductions", "smsp__inst_executed_op_global_red.sum", "instructions",
     "Atomics on global memory that return nothing, by warps.",
     "As written in the PTX: ptxas also turns an atomic whose result nobody uses into one of these.",
     is_global_reduction, warps},
    {"shared atomics", "smsp__inst_executed_op_shared_atom.sum", "instructions", "Atomics on shared memory by warps.",
     kOfCode, is_shared_atomic, warps},
    {"asynchronous copies", "smsp__inst_executed_op_ldgsts.sum", "instructions",
     "Copies from global to shared memory that bypass the registers (cp.async), by warps.", kOfCode,
     is_asynchronous_copy, warps},
    {"asynchronous copy sectors", "sm__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum", "sectors",
     "32-byte sectors of global memory touched by them, summed over requests.", kOfCopies, is_asynchronous_copy,
     sectors},
    {"bulk load bytes", "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum", "bytes",
     "Bytes that bulk copies (cp.async.bulk, tensor maps) brought from global to shared memory.", kOfCopies,
     is_bulk_load, bytes},
    {"bulk store bytes", "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum", "bytes",
     "Bytes that bulk copies and reductions brought from shared to global memory.", kOfCopies, is_bulk_store, bytes},
    {"matrix loads", "smsp__inst_executed_op_ldsm.sum", "instructions",
     "Loads of matrices from shared memory (ldmatrix) by warps.", kOfCode, is_matrix_load, warps},
    {"local loads", "smsp__inst_executed_op_local_ld.sum", "instructions",
     "Loads from local memory (indexed arrays) by warps.",
     "Local memory in the PTX: ptxas makes spills later, so they are not counted here.", is_access<kLocal, false>,
     requests},
    {"local stores", "smsp__inst_executed_op_local_st.sum", "instructions", "Stores to local memory by warps.",
     "Local memory in the PTX: ptxas makes spills later, so they are not counted here.", is_access<kLocal, true>,
     requests},
    {"constant requests", kConstantRequests, "requests",
     "Different addresses that warps requested from the constant cache: 1 for each load whose threads all use the same "
     "address.",
     "Only for kernels with constants, and for loads in the PTX: where ptxas knows the address it makes the constant "
     "an operand of the arithmetic. Misses of the constant cache are not modelled.",
     is_access<kConstant, false>, wavefronts},
    {"texture requests", "l1tex__t_requests_pipe_tex_mem_texture.sum", "requests", "Fetches from textures by warps.",
     kOfTexels, is_texture, requests},
    {"texture sectors", kTextureSectors, "sectors", "32-byte sectors touched by them, summed over requests.", kOfTexels,
     is_texture, sectors},
    {"surface load requests", "l1tex__t_requests_pipe_tex_mem_surface_op_ld.sum", "requests",
     "Loads from surfaces by warps.", kOfTexels, is_surface_load, requests},
    {"surface load sectors", "l1tex__t_sectors_pipe_tex_mem_surface_op_ld.sum", "sectors",
     "32-byte sectors touched by them, summed over requests.", kOfTexels, is_surface_load, sectors},
    {"surface store requests", "l1tex__t_requests_pipe_tex_mem_surface_op_st.sum", "requests",
     "Stores to surfaces by warps.", kOfTexels, is_surface_store, requests},
    {"surface store sectors", "l1tex__t_sectors_pipe_tex_mem_surface_op_st.sum", "sectors",
     "32-byte sectors touched by them, summed over requests.", kOfTexels, is_surface_store, sectors},
    {"surface reductions", "l1tex__t_requests_pipe_tex_mem_surface_op_red.sum", "requests",
     "Reductions on surfaces by warps.", kOfTexels, is_surface_reduction, requests},
};

constexpr const char* kTensorInstructions = "sm__inst_executed_pipe_tensor.sum";
constexpr TensorSum kTensorSums[] = {
    {"tensor operations, tf32", "sm__ops_path_tensor_src_tf32_dst_fp32.sum",
     "Multiplications and additions of products of matrices in tf32, summed in fp32.", ElementType::tf32,
     ElementType::f32},
    {"tensor operations, half", "sm__ops_path_tensor_src_fp16_dst_fp32.sum",
     "Multiplications and additions of products of matrices in half precision, summed in fp32.", ElementType::f16,
     ElementType::f32},
    {"tensor operations, half, sums too", "sm__ops_path_tensor_src_fp16_dst_fp16.sum",
     "Multiplications and additions of products of matrices in half precision, summed in half precision.",
     ElementType::f16, ElementType::f16},
    {"tensor operations, bfloat16", "sm__ops_path_tensor_src_bf16_dst_fp32.sum",
     "Multiplications and additions of products of matrices in bfloat16, summed in fp32.", ElementType::bf16,
     ElementType::f32},
};
constexpr const char* kOfTensorCores =
    "Only for kernels with matrix products (mma, wmma). Products in the PTX: ptxas may cut one into several "
    "instructions, with the same operations.";

constexpr CacheSum kCacheSums[] = {
    {"L1 hit sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", "sectors",
     "Sectors of global loads that were in the L1.", &CacheCounters::l1_load_hits, 1, false},
    {"texture hit sectors", kTextureHits, "sectors", "Sectors of textures that were in the L1.",
     &CacheCounters::l1_texture_hits, 1, false},
    {"L2 read sectors", "lts__t_sectors_op_read.sum", "sectors", "Sectors that loads requested from the L2.",
     &CacheCounters::l2_read_sectors, 1, true},
    {"L2 read hit sectors", "lts__t_sectors_op_read_lookup_hit.sum", "sectors",
     "The part of those sectors that were in the L2.", &CacheCounters::l2_read_hits, 1, true},
    {"L2 write sectors", "lts__t_sectors_op_write.sum", "sectors", "Sectors that stores and atomics sent to the L2.",
     &CacheCounters::l2_write_sectors, 1, true},
    {"DRAM bytes read", "dram__bytes_read.sum", "bytes", "Bytes read from device memory.",
     &CacheCounters::dram_read_sectors, kSectorBytes, true},
    {"DRAM bytes written", "dram__bytes_write.sum", "bytes",
     "Bytes written to device memory, including what is still in the L2 when the kernel ends.",
     &CacheCounters::dram_write_sectors, kSectorBytes, true},
};

constexpr Ratio kRatios[] = {
    {"threads per instruction", "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", "threads",
     "Threads that took part in an instruction, on average: 32 if no lane is ever idle.", kOfCode,
     "smsp__thread_inst_executed_pred_on.sum", "smsp__inst_executed.sum", 1},
    {"sectors per load", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "sectors",
     "Sectors per load from global memory: 4 where 32 threads read 32 neighbouring floats.", kOfAccesses,
     "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 1},
    {"sectors per store", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", "sectors",
     "Sectors per store to global memory.", kOfAccesses, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
     "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 1},
    {"L1 hit rate", "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct", "percent",
     "Sectors of global loads that were in the L1.", kOfModel,
     "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
     100},
    {"texture hit rate", "l1tex__t_sector_pipe_tex_mem_texture_hit_rate.pct", "percent",
     "Sectors of textures that were in the L1.", kOfModel, kTextureHits, kTextureSectors, 100},
    {"L2 read hit rate", "lts__t_sector_op_read_hit_rate.pct", "percent",
     "Share of the sectors requested from the L2 that were there.", kOfModel, "lts__t_sectors_op_read_lookup_hit.sum",
     "lts__t_sectors_op_read.sum", 100},
};

/// Adds instructions and operations of the tensor cores, for a kernel that has any.
void add_tensor_values(const ptx::Kernel& kernel, const LaunchResult& launch, MetricValues& values) {
  std::uint64_t instructions = 0;
  std::uint64_t operations[std::size(kTensorSums)] = {};
  bool has_products = false;
  for (std::size_t i = 0; i < launch.counters.size(); ++i) {
    const std::optional<MatrixProduct> product = matrix_product(kernel.instructions[i].opcode);
    if (!product) continue;
    has_products = true;
    instructions += launch.counters[i].warps;
    for (std::size_t sum = 0; sum < std::size(kTensorSums); ++sum) {
      const bool counts = kTensorSums[sum].factors == product->factors && kTensorSums[sum].sums == product->sums;
      if (counts) operations[sum] += product->operations * launch.counters[i].warps;
    }
  }
  if (!has_products) return;
  values.counted.emplace_back(kTensorInstructions, static_cast<double>(instructions));
  for (std::size_t sum = 0; sum < std::size(kTensorSums); ++sum) {
    values.counted.emplace_back(kTensorSums[sum].name, static_cast<double>(operations[sum]));
  }
}

/// Whether a sum is given only for kernels with such instructions.
bool only_where_used(const Sum& sum) {
  return sum.name == std::string_view(kConstantRequests) || sum.note == std::string_view(kOfTexels) ||
         sum.note == std::string_view(kOfCopies);
}

bool is_modelled(const Ratio& ratio) { return ratio.note == kOfModel; }

}  // namespace

const std::vector<Metric>& metrics() {
  static const std::vector<Metric> all = [] {
    std::vector<Metric> list;
    for (const Sum& sum : kSums) list.push_back({sum.title, sum.name, sum.unit, sum.definition, sum.note, false});
    list.push_back({"tensor instructions", kTensorInstructions, "instructions", "Products of matrices by warps.",
                    kOfTensorCores, false});
    for (const TensorSum& sum : kTensorSums) {
      list.push_back({sum.title, sum.name, "operations", sum.definition, kOfTensorCores, false});
    }
    for (const CacheSum& sum : kCacheSums)
      list.push_back({sum.title, sum.name, sum.unit, sum.definition, kOfModel, true});
    for (const Ratio& ratio : kRatios) {
      list.push_back({ratio.title, ratio.name, ratio.unit, ratio.definition, ratio.note, is_modelled(ratio)});
    }
    return list;
  }();
  return all;
}

MetricValues metric_values(const ptx::Kernel& kernel, const LaunchResult& launch) {
  MetricValues values;
  for (const Sum& sum : kSums) {
    std::uint64_t total = 0;
    bool has_any = false;
    for (std::size_t i = 0; i < launch.counters.size(); ++i) {
      if (!sum.accepts(kernel.instructions[i])) continue;
      total += sum.event(launch.counters[i]);
      has_any = true;
    }
    if (only_where_used(sum) && !has_any) continue;
    values.counted.emplace_back(sum.name, static_cast<double>(total));
  }
  add_tensor_values(kernel, launch, values);
  for (const CacheSum& sum : kCacheSums) {
    if (sum.name == std::string_view(kTextureHits) && std::ranges::none_of(kernel.instructions, is_texture)) continue;
    if (!launch.has_caches || (sum.below_l1 && !launch.caches.complete)) continue;
    values.modelled.emplace_back(sum.name, static_cast<double>(launch.caches.*sum.sectors * sum.scale));
  }
  const auto value_of = [&values](std::string_view name) -> std::optional<double> {
    for (const auto* list : {&values.counted, &values.modelled}) {
      const auto found = std::ranges::find(*list, name, &std::pair<std::string, double>::first);
      if (found != list->end()) return found->second;
    }
    return std::nullopt;
  };
  for (const Ratio& ratio : kRatios) {
    const auto numerator = value_of(ratio.numerator);
    const double denominator = value_of(ratio.denominator).value_or(0);
    if (!numerator || denominator <= 0) continue;
    (is_modelled(ratio) ? values.modelled : values.counted)
        .emplace_back(ratio.name, ratio.scale * *numerator / denominator);
  }
  return values;
}

std::vector<std::pair<std::string_view, std::uint64_t>> counted_of(const ptx::Instruction& instruction,
                                                                   const InstructionCounters& counters) {
  std::vector<std::pair<std::string_view, std::uint64_t>> values;
  const auto add = [&values](std::string_view name, std::uint64_t value) {
    if (value != 0) values.emplace_back(name, value);
  };
  for (const Sum& sum : kSums) {
    if (sum.accepts(instruction)) add(sum.name, sum.event(counters));
  }
  if (const std::optional<MatrixProduct> product = matrix_product(instruction.opcode)) {
    add(kTensorInstructions, counters.warps);
    for (const TensorSum& sum : kTensorSums) {
      if (sum.factors == product->factors && sum.sums == product->sums) {
        add(sum.name, product->operations * counters.warps);
      }
    }
  }
  return values;
}

std::string metric_title(std::string_view name) {
  const auto found = std::ranges::find(metrics(), name, &Metric::name);
  return found == metrics().end() ? std::string() : found->title;
}

}  // namespace convladder::simulated

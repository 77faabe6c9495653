// Lints of a kernel: what can be told of it without running it, from its control flow and its addresses: barriers that
// threads of a block do not reach together, accesses outside of shared memory or not aligned, and what costs time for
// no use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/gpus/gpu_facts.hpp"
#include "simulator/lints/kernel_values.hpp"
#include "simulator/ptx/module.hpp"
#include "simulator/state/finding.hpp"
#include "simulator/state/source_place.hpp"

namespace convladder::simulated {

enum class LintKind : std::uint8_t {
  barrier,
  lanes,
  bounds,
  alignment,
  sectors,
  banks,
  local_memory,
  float64,
  spills,
  occupancy,
  block_size
};

struct LintWords {
  std::string_view word;  ///< in records
  std::string_view text;
};

/// In the order of LintKind.
inline constexpr LintWords kLintKinds[] = {
    {"barrier", "A barrier that some threads of a block skip"},
    {"lanes", "An instruction of a whole warp that some of its lanes skip"},
    {"bounds", "An access outside of a variable in shared memory"},
    {"alignment", "An access whose address is not a multiple of its size"},
    {"sectors", "A request to global memory that touches more sectors than its bytes fill"},
    {"banks", "A request to shared memory that asks one bank for different words"},
    {"local-memory", "An array of a thread that cannot be in registers"},
    {"float64", "Arithmetic in float64 on values of float32"},
    {"spills", "Registers that are kept in memory"},
    {"occupancy", "A little less of a resource would let more blocks run at a time"},
    {"block-size", "Threads of a block that do not fill its warps, or a block that cannot be launched"}};

inline const LintWords& words_of(LintKind kind) { return kLintKinds[static_cast<std::size_t>(kind)]; }

/// Predicted from addresses and resources, in the unit of the kind: sectors a request, wavefronts a request, warps of a
/// multiprocessor.
struct LintCost {
  double found = 0;
  double possible = 0;
};

struct Lint {
  LintKind kind = LintKind::barrier;
  Severity severity = Severity::note;  ///< `finding`: it is wrong; `note`: it costs time, or is right only by chance
  std::string opcode{};                ///< empty: of the whole kernel
  int ptx_line = 0;
  std::vector<SourcePlace> places{};  ///< the line, and where its code was inlined, innermost first
  int loops = 0;                      ///< that the line lies in
  std::string problem{};
  std::optional<LintCost> cost{};
  std::uint64_t instructions = 1;  ///< of that line with that problem
};

struct LintSettings {
  std::optional<Dim3> block{};                   ///< of kernels that can have it; none: as they say, or 256
  std::optional<std::uint64_t> dynamic_bytes{};  ///< of shared memory; none: not known
  const GpuFacts* gpu = nullptr;                 ///< none: nothing of occupancy is told
  std::optional<int> registers{};                ///< a thread, as ptxas says
  int spill_bytes = 0;                           ///< a thread: stored and loaded, as ptxas says
};

/// A kernel that was looked at: its lints, and how much of it could be followed.
struct LintedKernel {
  std::string name;  ///< as in the PTX
  BlockShape shape;
  std::vector<Lint> lints{};     ///< findings first; then by the lines of the source
  std::uint64_t accesses = 0;    ///< instructions that access global or shared memory
  std::uint64_t understood = 0;  ///< of them: how far apart the addresses of a warp's lanes are is known
  std::string not_looked_at{};   ///< why nothing could be told; otherwise empty
};

/// A kernel that cannot be followed is no error: `not_looked_at` says why.
LintedKernel lint(const ptx::Module& module, const ptx::Kernel& kernel, const LintSettings& settings);

/// Collects what is found; lints of one line that say the same are one.
class LintLog {
 public:
  explicit LintLog(const KernelValues& values) : values_(values) {}

  /// Adds a lint of an instruction.
  void add(int instruction, LintKind kind, Severity severity, std::string problem,
           std::optional<LintCost> cost = std::nullopt);
  /// Adds a lint of the whole kernel.
  void add_to_kernel(LintKind kind, Severity severity, std::string problem,
                     std::optional<LintCost> cost = std::nullopt);
  std::vector<Lint> take();

 private:
  const KernelValues& values_;
  std::vector<Lint> lints_;
};

/// "the condition of conv.cu line 12", "the condition of PTX line 40".
std::string branch_text(const KernelValues& values, int block);

void find_barrier_lints(const KernelValues& values, LintLog& log);
/// Counts the accesses in `kernel`.
void find_access_lints(const KernelValues& values, const LintSettings& settings, LintLog& log, LintedKernel& kernel);
void find_resource_lints(const KernelValues& values, const LintSettings& settings, LintLog& log);

}  // namespace convladder::simulated

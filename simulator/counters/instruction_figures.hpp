// The counts of a kernel instruction by instruction, in the profiler's vocabulary, with the lines of the source. Their
// sum over the instructions of a kernel is what metric_values says of the whole kernel, exactly.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "devices/device.hpp"
#include "simulator/execution/executor.hpp"
#include "simulator/state/program.hpp"
#include "simulator/state/source_place.hpp"

namespace convladder::simulated {

/// An instruction of a kernel, and its counts over launches.
struct InstructionFigures {
  int ptx_line = 0;
  std::string opcode;
  std::vector<SourcePlace> places;         ///< its line, and those of the calls that were inlined, innermost first
  std::map<std::string, double> counters;  ///< those that are sums and counted, by Nsight Compute's names; no zeros

  static void each_field(auto&& field, auto& its) {
    field("ptx_line", its.ptx_line, "opcode", its.opcode, "places", its.places, "counters", its.counters);
  }
};

/// The instructions of a kernel, in the order of its PTX.
struct KernelFigures {
  std::vector<InstructionFigures> instructions;
  std::map<std::string, std::string> files;  ///< the paths of the source files, by their base names
  std::uint64_t launches = 0;
  std::uint64_t blocks = 0;    ///< of all launches
  unsigned threads = 0;        ///< of a block, at most
  std::uint64_t left_out = 0;  ///< launches of other kernels of the same name, which are not in it

  /// Adds `scale` times the counts of a launch of the program. Another program than before is left out.
  void add(const Program& program, const std::vector<InstructionCounters>& counters, double scale, const Dim3& grid,
           const Dim3& block);
  /// Adds the counts of other launches of the same kernel; another one with its name is left out.
  void add(const KernelFigures& other);
  bool empty() const { return instructions.empty(); }

  static void each_field(auto&& field, auto& its) {
    field("instructions", its.instructions, "files", its.files, "launches", its.launches, "blocks", its.blocks,
          "threads", its.threads, "left_out", its.left_out);
  }
};

/// The counts by the line that each instruction was written at, or, of inlined code of the toolkit, where that was
/// called; by path and line.
std::vector<LineCounters> by_line(const KernelFigures& figures);
/// Those of several kernels, which may share lines.
std::vector<LineCounters> by_line(const std::map<std::string, KernelFigures>& kernels);

}  // namespace convladder::simulated

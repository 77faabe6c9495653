// The counts of kernels by line of their source: which line costs what, and how two builds or stages differ by line.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "simulator/counters/instruction_figures.hpp"
#include "simulator/gpus/gpu_facts.hpp"
#include "support/report.hpp"

namespace convladder {

/// A line of the source, with the instructions that were made of it.
struct KernelLine {
  std::string file;  ///< base name; empty: instructions of which nobody has told the source
  int line = 0;
  std::string text;  ///< of the source; empty where it could not be read
  int instructions = 0;
  std::map<std::string, double> counters;  ///< sums over these, by Nsight Compute's names
  double share = 0;                        ///< of the predicted time, 0 to 1: of what the kernel's time is bound by

  double counter(const std::string& name) const;
  /// "fill.cu:12"; "no line" where nothing is known.
  std::string place() const;
};

struct KernelLines {
  std::string kernel;                                       ///< as people write it
  std::string bound_by;                                     ///< the resource that the shares are of: "L2 bandwidth"
  std::vector<KernelLine> lines;                            ///< by file and line
  std::map<std::string, std::vector<std::string>> sources;  ///< by base name: the text of each file that could be read
  simulated::KernelFigures figures;

  double sum(const std::string& counter) const;
};

struct LabelledLines {
  std::string label;  ///< "A"
  const KernelLines& lines;
};

/// Sums the instructions up by the line that they were written at, or, of inlined code of the toolkit, where that was
/// called. Sources are read from the paths in the PTX, or beside the file that was simulated.
KernelLines kernel_lines(const std::string& kernel, const simulated::KernelFigures& figures, const GpuFacts& gpu,
                         const std::string& beside = {});

/// Adds the lines with the largest shares, with their source.
void add_lines(Report& report, const KernelLines& lines);
/// Adds the lines that differ between two kernels, those with the largest difference first. Lines are the same where
/// their text is, in the order of the files.
void add_line_differences(Report& report, const LabelledLines& one, const LabelledLines& other);
/// These lines as pairs of indices into the lines of both, null where one lacks the line.
nlohmann::ordered_json line_differences_json(const KernelLines& one, const KernelLines& other);

nlohmann::ordered_json kernel_lines_json(const KernelLines& lines);

/// The pairs of equal lines of two texts, as indices, in order: a longest common subsequence.
std::vector<std::pair<std::size_t, std::size_t>> common_lines(const std::vector<std::string>& one,
                                                              const std::vector<std::string>& other);

}  // namespace convladder

// The counts of kernels by line of their source: which line costs what.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/measure/cases/line_columns.hpp"
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

  /// The times that a warp has executed one of its instructions.
  double executed() const { return line_columns().front().of(counters).value_or(0); }
  /// "12.3 %"; empty for none.
  std::string share_text() const;
  /// "fill.cu:12"; "no line" where nothing is known.
  std::string place() const;
};

struct KernelLines {
  std::string kernel;                                       ///< as people write it
  std::string bound_by;                                     ///< the resource that the shares are of: "L2 bandwidth"
  std::vector<KernelLine> lines;                            ///< by file and line
  std::map<std::string, std::vector<std::string>> sources;  ///< by base name: the text of each file that could be read
  simulated::KernelFigures figures;

  double executed() const;
  /// The file that all lines are in that have counts; empty if they are in several, or in none.
  std::string only_file() const;
};

/// Sums the instructions up by the line that they were written at, or, of inlined code of the toolkit, where that was
/// called. Sources are read from the paths in the PTX, or beside the file that was simulated.
KernelLines kernel_lines(const std::string& kernel, const simulated::KernelFigures& figures, const GpuFacts& gpu,
                         const std::string& beside = {});

/// A table of lines: a share of the time, those of the columns of text that any of them has, the line and its source.
class LineTable {
 public:
  /// With `leaves_out_equal`, without ratios that are the same for all lines.
  explicit LineTable(const std::vector<const KernelLine*>& lines, bool leaves_out_equal = false);

  /// Adds a row. `text(figure)` is the cell for a function that gives a line's figure as text.
  template <typename Text>
  void add(const Text& text, const std::string& place, const std::string& source) {
    std::vector<std::string> row = {text([](const KernelLine& line) { return line.share_text(); })};
    for (const LineColumn* const column : columns_) {
      row.push_back(text([column](const KernelLine& line) { return column->text_of(line.counters); }));
    }
    finish(std::move(row), place, source);
  }
  void add_to(ReportSection& section);

 private:
  void finish(std::vector<std::string> row, const std::string& place, const std::string& source);

  std::vector<const LineColumn*> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Adds the lines with the largest shares, with their source.
void add_lines(Report& report, const KernelLines& lines);

nlohmann::ordered_json kernel_lines_json(const KernelLines& lines);

}  // namespace convladder

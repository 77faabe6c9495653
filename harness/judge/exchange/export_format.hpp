// A format that records are exported to: a file in this folder that registers itself.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/judge/exchange/exported.hpp"

namespace convladder {

/// What a format asks beside the record.
struct ExportOptions {
  std::string repository;  ///< "https://github.com/owner/name"; empty if not given
};

/// What is not in an export, and why: nothing is dropped without a word.
struct LeftOut {
  std::string name;        ///< a case
  std::string why;         ///< the same words for the same reason
  bool failed = false;     ///< it was run and went wrong
  bool is_figure = false;  ///< of a case that is there
};

struct ExportedText {
  std::string text;
  std::size_t written = 0;  ///< entries in it
  std::vector<LeftOut> left_out;
};

struct ExportFormat {
  const char* name;  ///< as it is typed
  /// Throws UserError for what the format cannot say at all.
  ExportedText (*write)(const ExportedRecord& record, const ExportOptions& options);
};

/// A static object of it makes the format known.
class ExportFormatRegistration {
 public:
  explicit ExportFormatRegistration(const ExportFormat& format);
};

/// By name.
const std::vector<ExportFormat>& export_formats();

/// "skipped: no CUDA device" of a case that has nothing to export; `otherwise` of one that is ok.
std::string why_left_out(const ExportedCase& one, std::string_view otherwise);

/// A line for each reason: "12 cases left out: skipped: no CUDA device; the first: cuda/…".
std::vector<std::string> left_out_lines(const std::vector<LeftOut>& left_out);

/// "median of 25 samples, 95% interval 1.2 to 1.4 ns, measured": what a figure is, in one line.
std::string figure_text(const ExportedFigure& figure);
/// "regressed: …"; empty without a verdict.
std::string verdict_text(const ExportedCase& one);

}  // namespace convladder

// A format that records are exported to. It registers itself.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/judge/exchange/exported.hpp"

namespace convladder {

/// The options of an export beside the record.
struct ExportOptions {
  std::string repository;    ///< "https://github.com/owner/name"; empty if not given
  std::string sources = {};  ///< the folder that paths of sources begin at; empty: the current one
  std::string at = {};       ///< the file at which a case is shown whose source nobody knows; empty if not given
};

/// A case or figure that is not in an export, and why: nothing is dropped silently.
struct LeftOut {
  std::string name;        ///< the case's
  std::string why;         ///< worded the same for the same reason
  bool failed = false;     ///< whether it was run and went wrong
  bool is_figure = false;  ///< whether it is a figure of a case that is exported
};

struct ExportedText {
  std::string text;
  std::size_t written = 0;  ///< the number of its entries, or of cases that it says nothing of because they passed
  std::vector<LeftOut> left_out;
};

struct ExportFormat {
  const char* name;  ///< the name as typed
  /// Writes the record. Throws UserError if the format cannot hold it at all.
  ExportedText (*write)(const ExportedRecord& record, const ExportOptions& options);
};

/// A static object of this type registers a format.
class ExportFormatRegistration {
 public:
  explicit ExportFormatRegistration(const ExportFormat& format);
};

/// All formats by name.
const std::vector<ExportFormat>& export_formats();

/// Why a case has nothing to export: "skipped: no CUDA device"; `otherwise` for a case that is ok.
std::string why_left_out(const ExportedCase& one, std::string_view otherwise);

/// A line for each reason: "12 cases left out: skipped: no CUDA device; the first: cuda/…".
std::vector<std::string> left_out_lines(const std::vector<LeftOut>& left_out);

/// A figure's description in one line: "median of 25 samples, 95% interval 1.2 to 1.4 ns, measured".
std::string figure_text(const ExportedFigure& figure);
/// A case's verdict: "regressed: …"; empty without one.
std::string verdict_text(const ExportedCase& one);

}  // namespace convladder

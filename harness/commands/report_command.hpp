// `convladder report`: records as one page, drawn by the Python scripts that came with the program.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace convladder {

/// The command line, not checked yet.
struct ReportArguments {
  std::vector<std::string> records;
  std::string base;
  std::string output;
  std::string markdown;
  std::string pdf;
};

void add_report_options(CLI::App& report, ReportArguments& arguments);

/// The nearest `scripts/report.py` in the program's folder or above it: a bundle has it beside the program, a source
/// tree two folders above build/release. Empty if there is none.
std::optional<std::filesystem::path> find_report_script(const std::filesystem::path& program);

/// Becomes the script, so the exit code is the script's: 0 written, 3 bad input or nothing could be written. Throws
/// UserError where the script or Python is missing.
int report_command(const ReportArguments& arguments);

}  // namespace convladder

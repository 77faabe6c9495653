// Where the script is that draws the report: it came with the program.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace convladder {

/// The nearest `scripts/report.py` in the program's folder or above it: a bundle has it beside the program, a source
/// tree two folders above build/release. Empty if there is none.
std::optional<std::filesystem::path> find_report_script(const std::filesystem::path& program);

/// The Python that runs it: /usr/bin/python3, or what the environment variable PYTHON names.
std::string report_python();

}  // namespace convladder

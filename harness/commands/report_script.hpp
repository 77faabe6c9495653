// The Python scripts that draw records: where they lie, and what draws a finished run.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace convladder {

/// The Python that the environment variable PYTHON names, or /usr/bin/python3.
std::string python();

/// `name` in the folder scripts/ beside the program, in a folder above it, or in share/convladder of one of them, as in
/// an installed tree. Only where our packages of Python lie beside it: others have a scripts/report.py as well.
std::optional<std::filesystem::path> find_script(const std::filesystem::path& program, const std::string& name);

/// Draws a record's charts and its report beside it and prints where they are; one line says why not, where Python
/// lacks something. Nothing that goes wrong here is the run's fault.
void draw_record(const std::filesystem::path& record);

}  // namespace convladder

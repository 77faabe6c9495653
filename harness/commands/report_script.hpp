// The Python scripts that draw records: where they lie, and how a finished run is drawn.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace convladder {

/// `name` in the folder scripts/ beside the program, in a folder above it, or in share/convladder of one of them, as in
/// an installed tree. Only where our Python packages lie beside it: other projects have a scripts/report.py as well.
std::optional<std::filesystem::path> find_script(const std::filesystem::path& program, const std::string& name);

/// Replaces this process by one of the scripts, run by Python with `words`. Throws UserError: "COMMAND: …" where it
/// cannot be started, with `needs` at the end.
[[noreturn]] void become_script(const std::string& command, const std::string& name, std::vector<std::string> words,
                                const std::string& needs);

/// Has a script that came with the program write a page of a document. Throws UserError that begins with the option and
/// the page.
void draw_page(const std::string& option, const std::string& page, const std::string& script,
               std::vector<std::string> words, const std::filesystem::path& document);

/// Draws a record's charts and its report beside it and prints where they are; where Python lacks something, one line
/// says so. A failure here is not the run's fault.
void draw_record(const std::filesystem::path& record);

}  // namespace convladder

// The output of a command, in the format that was asked for, and the files that it is asked to write.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "support/report.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace convladder {

/// Where the answer of a read-only command goes.
struct Printed {
  std::string format = "text";
  std::string file{};                  ///< empty: the standard output
  std::size_t columns = kTextColumns;  ///< of text
  bool verbose = true;                 ///< every row of long tables and lists, as a file always has
};

/// Adds --format, one of `formats`, of which the first is the default.
void add_format_option(CLI::App& command, std::string& format, const std::vector<std::string>& formats);
/// Adds --format, and --output for a file instead of the standard output.
void add_printed_options(CLI::App& command, Printed& printed, const std::vector<std::string>& formats);

/// Adds --verbose: without it a terminal gets the first rows of long tables and lists, and how many more there are.
CLI::Option* add_verbose(CLI::App& command, bool& verbose);

/// Throws UserError, before any work, if --output could not be written.
void check_printed(const Printed& printed);
/// Prints the text, or writes it to the file. Throws UserError.
void print_as(const Printed& printed, const std::string& text);
/// Prints the report in the format that was asked for; `json` makes the document for --format json. Throws UserError.
void print_as(const Printed& printed, const Report& report, const std::function<std::string()>& json = {});

/// Throws UserError, before anything is measured, if the file could not be written. An empty name is fine.
void check_output_file(const std::string& option, const std::string& file);

}  // namespace convladder

#include "harness/commands/printed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "harness/commands/option_checks.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/nearest_name.hpp"

namespace convladder {

void add_format_option(CLI::App& command, std::string& format, const std::vector<std::string>& formats) {
  format = formats.front();
  const auto error = [formats](const std::string& text) -> std::string {
    if (std::ranges::find(formats, text) != formats.end()) return {};
    return unknown_name_message("format", text, formats);
  };
  const std::vector<std::string> others(formats.begin() + 1, formats.end());
  command.add_option("--format", format, fmt::format("{} (default), {}", formats.front(), fmt::join(others, ", ")))
      ->check(one_of(formats, error));
}

void add_printed_options(CLI::App& command, Printed& printed, const std::vector<std::string>& formats) {
  add_format_option(command, printed.format, formats);
  command.add_option("--output", printed.file, "file to write it to (default: the standard output)");
}

CLI::Option* add_verbose(CLI::App& command, bool& verbose) {
  verbose = false;
  return command.add_flag("--verbose", verbose, "every row of long tables and lists");
}

void check_printed(const Printed& printed) { check_output_file("--output", printed.file); }

void print_as(const Printed& printed, const std::string& text) {
  if (printed.file.empty()) {
    fmt::print("{}", text);
  } else {
    write_file_atomically(printed.file, text);
  }
}

void print_as(const Printed& printed, const Report& report, const std::function<std::string()>& json) {
  const bool is_whole = printed.verbose || !printed.file.empty();
  print_as(printed, printed.format == "json" ? json()
                    : printed.format == "markdown"
                        ? as_markdown(report)
                        : as_text(report, printed.columns, is_whole ? kAllShown : kMostShown));
}

void check_output_file(const std::string& option, const std::string& file) {
  if (file.empty()) return;
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  if (!std::filesystem::is_directory(folder, error)) {
    throw UserError(fmt::format("{} {}: {} is not a folder", option, file, folder.string()));
  }
  if (std::filesystem::is_directory(file, error)) {
    throw UserError(fmt::format("{} {}: expected a file name, found a folder", option, file));
  }
  require_writable(file);
}

}  // namespace convladder

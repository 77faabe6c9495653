#include "harness/commands/report_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "support/errors.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReportFooter = R"(examples:
  convladder report results/tonight/run.json              report.html beside it
  convladder report run.json network.json --output all.html
  convladder report run.json --base old/run.json          with what changed, by 'convladder compare'
  convladder report run.json --markdown docs/run          also report.md with an SVG file for each figure
  convladder report run.json --pdf report.pdf             also as PDF (needs Chromium)

One self-contained file, readable without network and JavaScript. It is drawn by /usr/bin/python3, or by the
Python that the environment variable PYTHON names, with matplotlib and Jinja2. docs/report.md says what it contains.
exit codes: 0 written - 3 a record could not be read, nothing could be written, or Python lacks a module)";

constexpr const char* kPython = "/usr/bin/python3";

std::string python() {
  const char* const chosen = std::getenv("PYTHON");
  return chosen != nullptr && *chosen != '\0' ? chosen : kPython;
}

}  // namespace

void add_report_options(CLI::App& report, ReportArguments& a) {
  report.footer(kReportFooter);
  report.add_option("RECORD.json", a.records, "records of 'run' and 'network'")->required();
  report.add_option("--base", a.base, "a run.json to compare the first run among the records with");
  report.add_option("--output", a.output, "the page (default: report.html beside the first record)");
  report.add_option("--markdown", a.markdown, "also report.md and SVG files, into this folder");
  report.add_option("--pdf", a.pdf, "also write this PDF (needs Chromium)");
}

std::optional<fs::path> find_report_script(const fs::path& program) {
  for (fs::path folder = program.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    const fs::path script = folder / "scripts" / "report.py";
    std::error_code none;
    if (fs::is_regular_file(script, none)) return script;
    if (folder == folder.root_path()) break;
  }
  return std::nullopt;
}

int report_command(const ReportArguments& arguments) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const std::optional<fs::path> script = error ? std::nullopt : find_report_script(program);
  if (!script) {
    throw UserError(fmt::format("scripts/report.py was not found beside {} or in a folder above it", program.string()));
  }
  // -B: the program may lie where nothing can be written.
  std::vector<std::string> words = {python(), "-B", script->string(), "--program", program.string()};
  const auto add = [&words](const char* name, const std::string& value) {
    if (!value.empty()) words.push_back(fmt::format("{}={}", name, value));
  };
  add("--base", arguments.base);
  add("--output", arguments.output);
  add("--markdown", arguments.markdown);
  add("--pdf", arguments.pdf);
  words.emplace_back("--");  // a record may be called --help
  words.insert(words.end(), arguments.records.begin(), arguments.records.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execvp(pointers.front(), pointers.data());
  throw UserError(fmt::format("report: cannot start {}: {}; it needs Python 3 with matplotlib and Jinja2",
                              words.front(), std::strerror(errno)));
}

}  // namespace convladder

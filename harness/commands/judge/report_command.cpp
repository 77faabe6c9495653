// `convladder report`: records as one page or as a site, drawn by the Python scripts that came with the program.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/commands/command.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/commands/report_script.hpp"
#include "harness/measure/records/recorded_run.hpp"
#include "ladders/compilers.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

struct ReportArguments {
  std::vector<std::string> records;
  std::string base;
  std::string output;
  std::string site;
  std::vector<std::string> formats;
};

const std::vector<std::string> kFormats = {"html", "markdown", "pdf"};

constexpr const char* kReportFooter = R"(examples:
  convladder report results/tonight/run.json              report.html beside it
  convladder report run.json network.json --output all.html
  convladder report run.json --base old/run.json          with what changed, by 'convladder compare'
  convladder report run.json --format markdown --output docs/run    also report.md with an SVG file for each figure
  convladder report run.json --format markdown,pdf        also as PDF (needs Chromium)
  convladder report results/tonight                       of a folder: the records in it, or else below it
  convladder report --site pages results                  a site: an index, a page for each record, history, comparisons

Takes any record that convladder writes, and what its commands print with --format json. A page is one self-contained
file, readable without network and JavaScript. It is drawn by /usr/bin/python3, or by the
Python that the environment variable PYTHON names, with matplotlib and Jinja2. docs/use/report.md says what it contains.
exit codes: 0 written - 2 written, but a file of a folder could not be read - 3 a record could not be read, nothing could be written, or Python lacks a module)";

/// The default place of pages: beside a record, and in a folder of records.
fs::path folder_of(const std::string& record) {
  std::error_code none;
  return fs::is_directory(record, none) ? fs::path(record) : fs::absolute(record).parent_path();
}

void check_report_arguments(const ReportArguments& a) {
  if (a.site.empty() && a.records.empty()) throw UserError("report: RECORD.json is required; or --site DIR");
  if (!a.site.empty() && !(a.base.empty() && a.output.empty() && a.formats.empty())) {
    throw UserError("report: --site makes a folder of pages and goes without --base, --output and --format");
  }
}

/// The script's words for formats and places.
std::vector<std::string> output_words(const ReportArguments& a) {
  require_known("--format", a.formats, kFormats);
  const auto wanted = [&a](const char* format) { return std::ranges::find(a.formats, format) != a.formats.end(); };
  const bool markdown = wanted("markdown");
  const bool pdf = wanted("pdf");
  if (!markdown && !pdf) {
    return a.output.empty() ? std::vector<std::string>() : std::vector<std::string>{"--output=" + a.output};
  }
  const fs::path folder = a.output.empty() ? folder_of(a.records.front()) : fs::path(a.output);
  std::vector<std::string> words = {"--output=" + (folder / "report.html").string()};
  if (markdown) words.push_back("--markdown=" + folder.string());
  if (pdf) words.push_back("--pdf=" + (folder / "report.pdf").string());
  return words;
}

void add_report_options(CLI::App& report, ReportArguments& a) {
  report.add_option("RECORD.json", a.records, "records of any command, or folders of them");
  report.add_option("--base", a.base, "a run.json to compare the first run among the records with");
  add_list(report, "--format", a.formats,
           "html (default); markdown: also report.md and SVG files; pdf: also report.pdf (needs Chromium)")
      ->check(one_of(kFormats));
  report.add_option("--output", a.output,
                    "the page; with markdown or pdf a folder (default: report.html beside the first record)");
  report.add_option(
      "--site", a.site,
      "a folder for a site of all records: made, or brought up to date (default of the records: results)");
}

int report_command(ReportArguments& arguments, const CommandLine& /*command_line*/) {
  check_report_arguments(arguments);
  for (const std::string& record : arguments.records) refuse_folder_as_record(record);
  std::vector<std::string> words;
  if (!arguments.base.empty()) words.push_back("--base=" + arguments.base);
  if (!arguments.site.empty()) words.push_back("--site=" + arguments.site);
  for (const std::string& word : output_words(arguments)) words.push_back(word);
  words.emplace_back("--");  // a record may be called --help
  words.insert(words.end(), arguments.records.begin(), arguments.records.end());
  become_script("report", "report.py", std::move(words), "it needs Python 3 with matplotlib and Jinja2");
}

const CommandRegistration report_registration({.name = "report",
                                               .group = CommandGroup::judge,
                                               .help = "one HTML page of records, or a site of many",
                                               .footer = kReportFooter,
                                               .add = command_of<ReportArguments, add_report_options, report_command>});

}  // namespace
}  // namespace convladder

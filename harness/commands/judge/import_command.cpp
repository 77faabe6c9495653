// `convladder import`: turns another program's measurements into a run.json that every command here reads.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

#include "harness/commands/command.hpp"
#include "harness/commands/printed.hpp"
#include "harness/judge/exchange/imported_run.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/printable.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

/// The command line, not checked yet.
struct ImportArguments {
  std::string file;
  std::string output;
  std::string date;
  std::string commit;
};

constexpr const char* kImportFooter = R"(examples:
  ./my_benchmark --benchmark_repetitions=25 --benchmark_out=mine.json && convladder import mine.json --output mine
  convladder import nvbench.json --date 2026-01-31T12:00:00Z --commit 0123abc --output nightly/7
  convladder compare old.json new.json       compare, history and report read such files themselves

docs/use/exchange.md says what of such a file is read, and what it cannot say.
exit codes: 0 written - 3 bad input: one line says what)";

void add_import_options(CLI::App& command, ImportArguments& a) {
  command.add_option("FILE.json", a.file, "the JSON of Google Benchmark or nvbench")->required();
  command.add_option("--output", a.output, "folder for run.json (default: the standard output)");
  command.add_option("--date", a.date, "when it was measured: 2026-01-31T12:00:00Z (default: what the file says)");
  command.add_option("--commit", a.commit, "what was measured (default: what the file says)");
}

int import_command(ImportArguments& arguments, const CommandLine& /*command_line*/) {
  const ImportedFile imported = import_file(arguments.file, arguments.date, arguments.commit);
  if (arguments.output.empty()) {
    fmt::print("{}", imported.text);
    return kExitOk;
  }
  const std::filesystem::path folder = arguments.output;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw UserError(fmt::format("--output {}: {}", printable(arguments.output), error.message()));
  create_file_atomically(folder / "run.json", imported.text);
  for (const std::string& note : imported.notes) fmt::print("{}\n", note);
  fmt::print("{}: {}\n", printable((folder / "run.json").string()), plural(imported.cases, "case"));
  return kExitOk;
}

const CommandRegistration import_registration({.name = "import",
                                               .group = CommandGroup::judge,
                                               .help = "what Google Benchmark or nvbench measured, as a run.json",
                                               .footer = kImportFooter,
                                               .add = command_of<ImportArguments, add_import_options, import_command>});

}  // namespace
}  // namespace convladder

// `convladder import-problems`: problem sets of others as ladder folders, made by a Python script that came with the
// program.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/commands/command.hpp"
#include "harness/commands/report_script.hpp"
#include "support/errors.hpp"
#include "support/own_program.hpp"

namespace convladder {
namespace {

struct ImportArguments {
  std::vector<std::string> sources;
  std::string output = "problems";
  std::string small_bytes = "4GiB";
  std::string memory = "4GiB";
  int seconds = 300;
  int jobs = 1;
  bool audit = false;
};

constexpr const char* kImportFooter = R"(examples:
  convladder import-problems KernelBench/KernelBench/level1 --output kernelbench
  convladder import-problems definition.json --output problems       with workload.jsonl beside it
  convladder import-problems problems/pmpp_v2 --output tasks --audit  and which wrong answers their own checks accept

SOURCE is a KernelBench module, a definition.json of FlashInfer-Trace or SOL-ExecBench, a task.yml of GPU MODE, or a folder
of them. Their code is run on the CPU by the Python that the environment variable CONVLADDER_PYTHON names, which needs
torch. Then add a stage to a folder, and 'convladder run FOLDER' measures it. docs/use/import_problems.md says more.
exit codes: 0 all are imported - 2 some are, and a line for each other one says why - 3 none is, bad input, or nothing could be written)";

void add_import_options(CLI::App& command, ImportArguments& a) {
  command.add_option("SOURCE", a.sources, "modules, definitions, tasks, or folders of them")->required();
  command.add_option("--output", a.output, "where a folder for each problem is made")->capture_default_str();
  command
      .add_option("--small-bytes", a.small_bytes,
                  "the memory that a size may take which is run by default, such as 512MiB")
      ->capture_default_str();
  command.add_option("--memory", a.memory, "the memory that importing one problem may take")->capture_default_str();
  command.add_option("--seconds", a.seconds, "the time that importing one problem may take")->capture_default_str();
  command.add_option("--jobs", a.jobs, "problems that are imported at a time")->capture_default_str();
  command.add_flag("--audit", a.audit, "print which wrong answers the problems' own checks accept, and which ours");
}

int import_command(ImportArguments& a, const CommandLine& /*command_line*/) {
  const std::filesystem::path program = own_program();
  const std::optional<std::filesystem::path> script = find_script(program, "import_problems.py");
  if (!script) {
    throw UserError(
        fmt::format("scripts/import_problems.py was not found beside {} or in a folder above it", program.string()));
  }
  // -B: the program's folder may be read-only.
  std::vector<std::string> words = {python(),
                                    "-B",
                                    script->string(),
                                    "--output=" + a.output,
                                    "--small-bytes=" + a.small_bytes,
                                    "--memory=" + a.memory,
                                    fmt::format("--seconds={}", a.seconds),
                                    fmt::format("--jobs={}", a.jobs)};
  if (a.audit) words.emplace_back("--audit");
  words.emplace_back("--");  // a source may be called --help
  words.insert(words.end(), a.sources.begin(), a.sources.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execvp(pointers.front(), pointers.data());
  throw UserError(fmt::format("import-problems: cannot start {}: {}", words.front(), std::strerror(errno)));
}

const CommandRegistration import_registration({.name = "import-problems",
                                               .group = CommandGroup::measure,
                                               .help = "make ladder folders of KernelBench, FlashInfer-Trace, SOL-ExecBench and GPU MODE",
                                               .footer = kImportFooter,
                                               .add = command_of<ImportArguments, add_import_options, import_command>});

}  // namespace
}  // namespace convladder

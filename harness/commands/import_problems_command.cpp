// `convladder import-problems`: problem sets of others as ladder folders, made by a Python script that came with the
// program.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "harness/commands/command.hpp"
#include "harness/commands/report_script.hpp"
#include "harness/measure/isolation/case_confinement.hpp"
#include "harness/measure/isolation/served_process.hpp"
#include "ladders/compiler_settings.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

// For the process that confines itself and becomes Python's, which imports problems: the Python, its script, and
// folders that it may read and write, with ':' between them. scripts/convladder_problems/importers.py sets them.
constexpr const char* kPythonVariable = "CONVLADDER_IMPORT_PYTHON";
constexpr const char* kScriptVariable = "CONVLADDER_IMPORT_SCRIPT";
constexpr const char* kReadableVariable = "CONVLADDER_IMPORT_READABLE";
constexpr const char* kWritableVariable = "CONVLADDER_IMPORT_WRITABLE";

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
of them. Their code is run on the CPU by the Python that the environment variable PYTHON names, which needs
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
  std::vector<std::string> words = {"--output=" + a.output, "--small-bytes=" + a.small_bytes, "--memory=" + a.memory,
                                    fmt::format("--seconds={}", a.seconds), fmt::format("--jobs={}", a.jobs)};
  if (a.audit) words.emplace_back("--audit");
  words.emplace_back("--");  // a source may be called --help
  words.insert(words.end(), a.sources.begin(), a.sources.end());
  become_script("import-problems", "import_problems.py", std::move(words), "it needs Python 3 with torch");
}

std::vector<std::string> listed(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr || *value == '\0' ? std::vector<std::string>() : split(value, ':');
}

/// Confines this process, and then runs Python in it. Unlike a case, it starts processes: one for each problem.
int serve_confined_import(int /*socket*/, int /*memory*/, int /*window*/) {
  const char* const python_program = std::getenv(kPythonVariable);
  const char* const script = std::getenv(kScriptVariable);
  if (python_program == nullptr || script == nullptr) return kExitError;
  ConfinementWish wish = case_confinement({});
  wish.calls.may_start_programs = true;
  wish.calls.may_start_processes = true;
  wish.is_shut_to_others = false;  // a program that is started anew is open again anyway
  wish.files.start = program_folders();
  for (std::string& one : listed(kReadableVariable)) wish.files.start.push_back(std::move(one));
  wish.files.write = listed(kWritableVariable);
  const Confinement confinement = confine(wish);
  for (const std::string& missing : confinement.missing) {
    if (missing.starts_with("limit of threads")) continue;  // root has none, which keeps nothing from anybody
    fmt::print(stderr, "convladder: import-problems: others' code is confined less here: {}\n", missing);
  }
  std::vector<std::string> words{python_program, "-B", script};
  execv(python_program, null_terminated(words).data());
  return kExitError;
}

const ServedRegistration confined_import_registration("serve-confined-import", serve_confined_import);

const CommandRegistration import_registration(
    {.name = "import-problems",
     .group = CommandGroup::folders,
     .help = "make ladder folders of KernelBench, FlashInfer-Trace, SOL-ExecBench and GPU MODE",
     .footer = kImportFooter,
     .add = command_of<ImportArguments, add_import_options, import_command>});

}  // namespace
}  // namespace convladder

#include "harness/commands/simulate_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include "harness/commands/line_page.hpp"
#include "harness/measure/simulation/checkers_argument.hpp"
#include "harness/measure/simulation/launch_limit.hpp"
#include "harness/measure/simulation/program_environment.hpp"
#include "harness/measure/simulation/program_file.hpp"
#include "harness/measure/simulation/program_report.hpp"
#include "harness/measure/simulation/program_run.hpp"
#include "harness/measure/simulation/simulation_json.hpp"
#include "simulator/gpus/gpu_facts.hpp"
#include "simulator/stand_in/libraries.hpp"
#include "simulator/stand_in/report/libraries_without_ptx.hpp"
#include "simulator/stand_in/visible_device.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/nearest_name.hpp"
#include "support/temporary_file.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestReport = std::uint64_t{1} << 30;
constexpr std::array<std::string_view, 9> kOfPrograms = {"--gpu",    "--gpu-count",      "--driver-version",
                                                         "--memory", "--error-exitcode", "--leak-check",
                                                         "--sample", "--estimate",       "--env"};
/// Blocks of a launch that run for an estimate.
constexpr std::uint64_t kEstimateBlocks = 32;
constexpr std::array<std::string_view, 13> kOfFiles = {
    "--list",   "--no-counters", "--entry",    "--grid",           "--block", "--shared", "--arg",
    "--buffer", "--set",         "--compiler", "--compiler-flags", "--save",  "--expect"};

/// The words before "--", by the names of their options, and the words after it.
struct SplitWords {
  std::vector<std::string> options;
  std::vector<std::string> program;
  bool has_program = false;
};

SplitWords split_words(const CommandLine& words) {
  SplitWords parts;
  const auto mark = std::ranges::find(words, "--");
  for (auto word = words.begin(); word != mark; ++word) {
    if (word->starts_with("--")) parts.options.push_back(word->substr(0, word->find('=')));
  }
  parts.has_program = mark != words.end();
  if (parts.has_program) parts.program.assign(mark + 1, words.end());
  return parts;
}

template <typename Names>
std::string first_of(const std::vector<std::string>& options, const Names& names) {
  const auto found = std::ranges::find_first_of(options, names);
  return found == options.end() ? "" : *found;
}

/// Parses "8G", "512M", "1000000".
std::uint64_t parse_memory(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const auto& [name, shift] :
       std::initializer_list<std::pair<std::string_view, int>>{{"", 0}, {"K", 10}, {"M", 20}, {"G", 30}, {"T", 40}}) {
    if (error != std::errc() || (unit != name && unit != std::string(name) + "B") || !(number > 0)) continue;
    const double bytes = number * static_cast<double>(std::uint64_t{1} << shift);
    if (bytes >= 1 && bytes < 1e15) return static_cast<std::uint64_t>(bytes);
  }
  throw UserError(fmt::format("--memory {}: expected a size such as 512M or 16G", text));
}

/// Parses "12.4": 12040, as cudaDriverGetVersion gives it.
int parse_driver_version(const std::string& text) {
  int major = 0;
  int minor = 0;
  const char* const end = text.data() + text.size();
  const auto [dot, major_error] = std::from_chars(text.data(), end, major);
  if (major_error == std::errc() && dot != end && *dot == '.') {
    const auto [rest, minor_error] = std::from_chars(dot + 1, end, minor);
    if (minor_error == std::errc() && rest == end && major >= 9 && major < 100 && minor >= 0 && minor < 10) {
      return major * 1000 + minor * 10;
    }
  }
  throw UserError(fmt::format("--driver-version {}: expected the CUDA version of a driver, such as 12.4", text));
}

stand_in::Settings settings_of(const ProgramArguments& given) {
  stand_in::Settings settings;
  settings.gpu = given.options.gpu;
  require_gpu(settings.gpu);
  if (!given.options.gpu_count.empty()) {
    settings.gpu_count = parse_whole_number("--gpu-count", given.options.gpu_count, 1, stand_in::kMostGpus);
  }
  if (!given.options.driver_version.empty())
    settings.driver_version = parse_driver_version(given.options.driver_version);
  if (given.options.estimate) settings.sample_blocks = kEstimateBlocks;
  if (!given.options.sample.empty()) {
    settings.sample_blocks =
        static_cast<std::uint64_t>(parse_whole_number("--sample", given.options.sample, 2, stand_in::kMostSampled));
  }
  settings.checkers = parse_checkers(given.checkers);
  settings.schedules = given.schedules;
  settings.lines = given.lines;
  if (settings.schedules.count > 0 && settings.sample_blocks > 0) {
    throw UserError(fmt::format("--schedules compares whole launches, and {} runs some of their blocks",
                                given.options.estimate ? "--estimate" : "--sample"));
  }
  settings.leaks = given.options.leak_check;
  if (!given.threads.empty()) settings.host_threads = parse_whole_number("--threads", given.threads, 1, 1024);
  if (!given.options.memory.empty()) settings.memory_bytes = parse_memory(given.options.memory);
  const LimitValues limits = parse_limits(given.limits);
  settings.launch_seconds = limits.seconds.value_or(0);
  settings.launch_operations = limits.operations;
  settings.idle_operations = limits.operations_without_change;
  return settings;
}

int print_environment(const ProgramArguments& given, int error_exitcode) {
  stand_in::Settings settings = settings_of(given);
  settings.print = true;
  settings.error_exitcode = error_exitcode;
  if (!given.output.empty()) settings.report = fs::absolute(given.output).string();
  fmt::print("{}", shell_text(program_variables(settings)));
  return kExitOk;
}

/// Reasons why no process of a program reported anything.
std::vector<std::string> why_nothing_was_seen(const ProgramFile& program) {
  std::vector<std::string> remarks;
  for (const std::string& library : needed_without_ptx(program)) {
    if (fs::exists(stand_in::libraries() / library)) continue;  // it has a stand-in
    remarks.push_back(stand_in::without_ptx_text(library));
  }
  const bool has_runtime =
      program.has_static_runtime || std::ranges::any_of(program.needed, [](const std::string& library) {
        return library.starts_with("libcudart.so");
      });
  remarks.emplace_back(has_runtime ? "no process has called CUDA: it ended before that"
                                   : "nothing of it has called CUDA");
  return remarks;
}

int exit_code_of(const ProgramReport& report, int error_exitcode) {
  if (report.end.exit_code != 0) return report.end.exit_code;
  if (report.listed(simulated::Severity::finding) > 0) return error_exitcode;
  return report.processes.empty() || report.is_incomplete() ? kExitInconclusive : kExitOk;
}

}  // namespace

void add_program_options(CLI::App& simulate, ProgramOptions& options) {
  simulate.add_option(
      "--gpu", options.gpu,
      fmt::format("of a program: the GPU that it sees: {} (default h100)", fmt::join(gpu_names(), ", ")));
  simulate.add_option("--gpu-count", options.gpu_count,
                      "of a program: how many of it there are (default 1, at most 16)");
  simulate.add_option("--driver-version", options.driver_version,
                      "of a program: CUDA version of its driver, such as 12.4 (default: the newest)");
  simulate.add_option("--memory", options.memory, "of a program: device memory, such as 16G (default: what is there)");
  simulate.add_flag("--leak-check", options.leak_check, "of a program: memory that is never freed is a finding");
  simulate.add_option("--error-exitcode", options.error_exitcode,
                      "of a program that exits with 0, if something was found (default 1)");
  simulate.add_option("--sample", options.sample,
                      "of a program: only so many blocks of a launch run, for a quick look; its results are wrong");
  simulate.add_flag("--estimate", options.estimate, "of a program: run a sample and say how long the whole would take");
  simulate.add_flag("--env", options.environment, "print what a shell is to set for programs that are started later");
}

bool asks_for_program(const CommandLine& words) {
  const SplitWords parts = split_words(words);
  if (std::ranges::find(parts.options, "--env") != parts.options.end()) return true;
  if (!parts.has_program) return false;
  const std::string first = parts.program.empty() ? "" : parts.program[0];
  if (first.ends_with(".ptx") || first.ends_with(".cu")) return false;  // a file whose name may begin with '-'
  return first_of(parts.options, kOfFiles).empty() || ::access(first.c_str(), X_OK) == 0;
}

void refuse_program_options(const CommandLine& words) {
  if (const std::string option = first_of(split_words(words).options, kOfPrograms); !option.empty()) {
    throw UserError(fmt::format("{} is for a program: convladder simulate [options] -- ./program", option));
  }
}

void refuse_program_as_file(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    if (::access(file.c_str(), X_OK) != 0 || fs::is_directory(file)) continue;
    if (find_program_file(fs::path(file).has_parent_path() ? file : "./" + file).is_elf) {
      throw UserError(fmt::format("{} is a program: convladder simulate [options] -- {}", file, file));
    }
  }
}

int simulate_program(const CommandLine& words, const ProgramArguments& given) {
  const SplitWords parts = split_words(words);
  if (const std::string option = first_of(parts.options, kOfFiles); !option.empty()) {
    throw UserError(fmt::format("{} is for a kernel of a PTX or CUDA file, not for a program", option));
  }
  const int error_exitcode = parse_whole_number("--error-exitcode", given.options.error_exitcode, 0, 255);
  if (given.options.environment) {
    if (parts.has_program) throw UserError("--env prints what to set, and runs no program");
    if (given.options.estimate) throw UserError("--estimate runs a program, and --env runs none");
    if (given.lines) throw UserError("--lines shows a report at the end of a program, and --env runs none");
    try {
      return print_environment(given, error_exitcode);
    } catch (const UserError&) {
      fmt::print("false\n");  // for eval, which does not see our exit code
      throw;
    }
  }
  if (given.options.estimate && given.lines)
    throw UserError("--lines counts whole launches, and --estimate runs a part of them");
  if (parts.program.empty()) throw UserError("-- is followed by the program and its arguments");
  stand_in::Settings settings = settings_of(given);
  const ProgramFile program = find_program_file(parts.program[0]);
  if (const std::string why = why_not_simulated(program, stand_in::libraries()); !why.empty()) throw UserError(why);
  const TemporaryFile file("convladder-report");
  settings.report = file.path();
  settings.begin = true;
  ProgramReport report;
  report.command = parts.program;
  report.settings = settings;
  report.end = run_program(program, parts.program, settings);
  const std::string lines = read_file_text(file.path(), kLargestReport);
  if (lines.empty()) report.remarks = why_nothing_was_seen(program);
  read_processes(lines, report);
  const std::string json = program_report_json(report);
  if (!given.output.empty()) write_file_atomically(given.output, json);
  // The standard output is the program's.
  fmt::print(stderr, "{}",
             given.format == "json"
                 ? json
                 : as_text(given.options.estimate ? program_estimate(report) : program_report(report), kTextColumns,
                           given.verbose ? kAllShown : kMostShown));
  if (!given.html.empty()) write_line_page(given.html, json);
  if (given.options.estimate) return report.processes.empty() ? kExitInconclusive : kExitOk;
  return exit_code_of(report, error_exitcode);
}

}  // namespace convladder

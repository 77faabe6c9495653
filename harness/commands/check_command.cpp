// `convladder check`: the CUDA variants of every problem on the simulated device under the checkers, from every
// compiler's PTX; or files of kernels, without running them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "devices/ptx_images.hpp"
#include "harness/commands/case_filter.hpp"
#include "harness/commands/check_files.hpp"
#include "harness/commands/check_selection.hpp"
#include "harness/commands/command.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/commands/printed.hpp"
#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/plan.hpp"
#include "harness/measure/simulation/check_cases.hpp"
#include "harness/measure/simulation/checkers_argument.hpp"
#include "harness/measure/simulation/simulation_json.hpp"
#include "network/layer_operators.hpp"
#include "simulator/device/simulated_device.hpp"
#include "support/errors.hpp"
#include "support/printable.hpp"
#include "support/progress.hpp"
#include "support/reasons.hpp"
#include "support/text.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

/// The command line, not checked yet.
struct CheckArguments {
  std::vector<std::string> words;  ///< a ladder, or files of kernels
  CheckSelection selection;
  CheckFileArguments files;
  std::string checkers = "all";
  simulated::SchedulesWanted schedules;
  std::string tensor_cores = simulated::kTensorCoreNames[0];
  std::string case_filter;
  bool dry_run = false;
  Printed printed;
};

constexpr const char* kCheckFooter = R"(examples:
  convladder check                                    every CUDA kernel of ours, every layer, batches 1 and 3
  convladder check --variant shared-memory --layer lenet72.conv2
  convladder check --shape 96,27,27,256,5,1,2 --batch 1 --checkers memory,race
  convladder check --variant tensor-3xtf32 --layer alexnet.conv3 --batch 1 --tensor-cores h100
  convladder check --problem softmax,max-pooling --network alexnet --batch 1
  convladder check my-ladder                          the CUDA stages of a folder of yours
  convladder check my-ladder --schedules 100          and whether other orders of warps and blocks give the same
  convladder check --format json --output findings.json
  convladder check kernel.cu --block 128              kernels of a .cu or .ptx file, looked at without running them

Of files it says which barriers some threads skip, what is out of bounds or not aligned, and what costs time for no use:
uncoalesced accesses, bank conflicts, arrays in local memory, float64, occupancy. docs/use/check_files.md has the rules.
exit codes: 0 every case is correct and nothing was found - 1 something was found, or a result is wrong - 2 of files: no
kernel could be looked at - 3 bad input: one line says what)";

/// Shows the cases as they are checked, and counts.
class Results {
 public:
  Results(const CheckArguments& arguments, int all)
      : arguments_(arguments), progress_(arguments.dry_run ? nullptr : lines_of(arguments), all) {}

  void begin(const std::string& what, int batch) { progress_.show(fmt::format("{} batch {}", what, batch)); }
  void add(std::vector<CheckedCase> cases) {
    for (CheckedCase& checked : cases) {
      ++checked_;
      if (!checked.reason.empty() && !checked.was_run()) not_run_.add(checked.reason, checked.id);
      if (arguments_.dry_run) {
        text_ += fmt::format("{} {}{}\n", checked.id, checked.compiler, checked.reason.empty() ? "" : ": not run");
        continue;
      }
      if (!checked.passed()) ++failed_;
      const std::string lines = case_lines(checked);
      progress_.finished(lines);
      text_ += lines + '\n';
      (checked.passed() ? passed_ : failures_).push_back(lines + '\n');
      cases_.push_back(std::move(checked));
    }
  }
  /// Prints the totals, or everything as JSON; returns the exit code. Throws UserError if there was no case.
  int finish() {
    if (checked_ == 0) {
      throw UserError(fmt::format("no case remains: --case '{}' matches none", arguments_.case_filter));
    }
    const Printed& printed = arguments_.printed;
    if (arguments_.dry_run) {
      fmt::print("{}{}{} case{}\n", text_, not_run_.text(), checked_, checked_ == 1 ? "" : "s");
    } else if (printed.format == "json") {
      print_as(printed, checked_cases_json(cases_));
    } else {
      const std::string sum =
          fmt::format("{} checked, {} failed\n", plural(static_cast<std::size_t>(checked_), "case"), failed_);
      const bool is_streamed = lines_of(arguments_) != nullptr;
      print_as(printed, is_streamed             ? not_run_.text() + sum
                        : !printed.file.empty() ? sum + not_run_.text() + text_
                                                : sum + not_run_.text() + first_lines());
    }
    return failed_ == 0 ? kExitOk : kExitCasesFailed;
  }

 private:
  /// The stream on which text shows each case as soon as it has ended; null for other output.
  static std::FILE* lines_of(const CheckArguments& arguments) {
    const Printed& printed = arguments.printed;
    return printed.format == "text" && printed.file.empty() && printed.verbose ? stdout : nullptr;
  }

  /// The first of the cases that failed, and those that passed if there are few; and how many more there are.
  std::string first_lines() const {
    std::string text;
    for (std::size_t i = 0; i < std::min(failures_.size(), kMostShown); ++i) text += failures_[i];
    if (failures_.size() > kMostShown) {
      text += fmt::format("  {} failed: --verbose\n", plural(failures_.size() - kMostShown, "more case"));
    }
    if (failures_.size() + passed_.size() <= kMostShown) {
      for (const std::string& lines : passed_) text += lines;
    } else if (!passed_.empty()) {
      text += fmt::format("  {} did not: --verbose\n", plural(passed_.size(), "case"));
    }
    return text;
  }

  const CheckArguments& arguments_;
  Progress progress_;
  std::vector<CheckedCase> cases_;  ///< without those that are only named
  std::string text_;
  std::vector<std::string> failures_;  ///< the lines of each
  std::vector<std::string> passed_;
  Reasons not_run_;
  int checked_ = 0;
  int failed_ = 0;
};

void add_check_options(CLI::App& check, CheckArguments& arguments) {
  check.add_option("LADDER", arguments.words, fmt::format("{}; or files of kernels, .cu and .ptx", kLadderHelp));
  add_check_selection(check, arguments.selection);
  check.add_option("--checkers", arguments.checkers, "memory,initialization,race,synchronization (default all)");
  add_schedule_options(check, arguments.schedules);
  check
      .add_option("--tensor-cores", arguments.tensor_cores,
                  "how mma adds products: rounding, each sum to float32 (default), or cut off as on an a100 or h100")
      ->check(CLI::IsMember(
          std::vector<std::string>(std::begin(simulated::kTensorCoreNames), std::end(simulated::kTensorCoreNames))));
  check.add_option("--case", arguments.case_filter, kCaseHelp);
  check.add_flag("--dry-run", arguments.dry_run, "only list the cases");
  add_check_file_options(check, arguments.files);
  add_printed_options(check, arguments.printed, {"text", "json", "markdown"});
  add_verbose(check, arguments.printed.verbose);
}

/// The first option for ladders that is given, "--batch"; empty if none is.
std::string ladder_option(const CheckArguments& a) {
  if (const std::string name = a.selection.given(); !name.empty()) return name;
  for (const auto& [name, given] :
       {std::pair("--checkers", a.checkers != "all"), std::pair("--schedules", a.schedules.count > 0),
        std::pair("--case", !a.case_filter.empty()),
        std::pair("--tensor-cores", a.tensor_cores != simulated::kTensorCoreNames[0]),
        std::pair("--dry-run", a.dry_run)}) {
    if (given) return name;
  }
  return "";
}

int check_command(CheckArguments& arguments, const CommandLine& /*command_line*/) {
  check_printed(arguments.printed);
  if (std::ranges::any_of(arguments.words, is_kernel_file)) {
    if (const std::string option = ladder_option(arguments); !option.empty()) {
      throw UserError(fmt::format("{} is for ladders: files of kernels are not run", option));
    }
    return check_files(arguments.words, arguments.files, arguments.printed);
  }
  if (const std::string option = arguments.files.given(); !option.empty()) {
    throw UserError(fmt::format("{} is for files of kernels, .cu and .ptx", option));
  }
  if (arguments.printed.format == "markdown") throw UserError("--format markdown is for files of kernels");
  if (arguments.words.size() > 1)
    throw UserError(fmt::format("{}: one ladder at a time", printable(arguments.words[1])));
  if (!arguments.words.empty()) arguments.selection.ladder = arguments.words.front();
  const CheckSettings settings{.checkers = parse_checkers(arguments.checkers),
                               .schedules = arguments.schedules,
                               .tensor_cores = *simulated::find_tensor_cores(arguments.tensor_cores),
                               .ids = case_pattern(arguments.case_filter),
                               .dry_run = arguments.dry_run};
  const std::vector<CaseGroup> groups = checked_groups(arguments.selection);
  const bool is_folder = groups.front().cases.front().variant.variant->compiled_stage() != nullptr;
  const std::string why =
      is_folder ? groups.front().cases.front().skipped : find_device_kind("simulated").unavailable();
  if (!why.empty()) throw UserError(fmt::format("the simulated device: {}", why));
  std::size_t all = 0;
  for (const CaseGroup& group : groups) all += group.cases.size();
  Results results(arguments, static_cast<int>(all * (is_folder ? 1 : ptx_images().size())));
  for (const CaseGroup& group : groups) {
    results.begin(group.work.name(), group.work.shape.batch);
    results.add(check_group(group, settings));
  }
  return results.finish();
}

const CommandRegistration check_registration(
    {.name = "check",
     .group = CommandGroup::without_a_gpu,
     .help = "run the CUDA variants under all checkers; or look at kernels of files, without running them",
     .footer = kCheckFooter,
     .add = command_of<CheckArguments, add_check_options, check_command>});

}  // namespace
}  // namespace convladder

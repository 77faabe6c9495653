#include "harness/commands/leave_one_out_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "harness/commands/run_command.hpp"
#include "variants/convolution/registry.hpp"

namespace convladder {
namespace {

constexpr const char* kLeaveOneOutFooter = R"(examples:
  convladder leave-one-out                        the best CUDA stage on lenet72.conv2 at batch 1000
  convladder leave-one-out --layer lenet28.conv1 --device simulated
  convladder leave-one-out --family cuda --device cuda --batch 100,1000

The record is that of an ordinary run, so charts, report and explain accept it. docs/leave_one_out.md says how to read the table.
exit codes: as for run)";

/// Stages that have variants without an idea, and these variants.
std::vector<std::string> names_of_leave_one_out() {
  std::vector<std::string> names;
  for (const RegisteredVariant& registered : registered_variants()) {
    if (registered.info.leaves_out.empty()) continue;
    const std::string best(registered.info.builds_on);
    if (std::ranges::find(names, best) == names.end()) names.push_back(best);
    names.emplace_back(registered.info.name);
  }
  return names;
}

}  // namespace

void add_leave_one_out_options(CLI::App& command, LeaveOneOutArguments& a) {
  command.footer(kLeaveOneOutFooter);
  add_case_selection(command, a.options, a.selection, "1000");
  command.add_option("--output", a.output, "folder for run.json (default results/<host>-<time>)")->group("Where");
  command.add_flag("--quiet", a.quiet, "no line for each case")->group("Where");
}

int leave_one_out_command(LeaveOneOutArguments& a, const std::vector<std::string>& command_line) {
  apply_case_selection(a.selection, a.options);
  RunOptions& options = a.options;
  if (options.variants.empty()) options.variants = names_of_leave_one_out();
  if (options.networks.empty() && options.layers.empty() && options.shapes.empty()) options.layers = {"lenet72.conv2"};
  if (options.batches.empty()) options.batches = {1000};
  RunInvocation invocation;
  invocation.output = a.output;
  invocation.quiet = a.quiet;
  invocation.command_line = command_line;
  return run_command(options, invocation);
}

}  // namespace convladder

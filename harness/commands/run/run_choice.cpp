#include "harness/commands/run/run_choice.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "harness/commands/case_filter.hpp"
#include "harness/commands/measuring_options.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/plan.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

/// Seconds of measuring for each case of a run without any choice: it has to end soon, on a busy machine too.
constexpr double kSelectionSeconds = 0.5;

/// Stages that have variants without an idea, and these variants. Throws UserError if the problem has none.
std::vector<std::string> names_of_leave_one_out(const Problem& problem) {
  std::vector<std::string> names;
  for (const ProblemVariant& registered : problem.variants()) {
    if (registered.info.leaves_out.empty()) continue;
    const std::string best(registered.info.builds_on);
    if (std::ranges::find(names, best) == names.end()) names.push_back(best);
    names.emplace_back(registered.info.name);
  }
  if (!names.empty()) return names;
  throw UserError(fmt::format("--leave-one-out: no variant of the problem {} leaves an idea out", problem.name()));
}

/// Chooses cases that show what each idea of the best stage is worth when all others are present.
void choose_leave_one_out(RunOptions& options) {
  const Problem& problem = problem_of(options);
  if (options.variants.empty()) options.variants = names_of_leave_one_out(problem);
  const bool sizes_named = !options.shapes.empty() || !options.sizes.empty();
  if (options.problem == RunOptions().problem && options.networks.empty() && options.layers.empty() && !sizes_named) {
    options.layers = {"lenet72.conv2"};
  }
  if (options.batches.empty()) options.batches = {1000};
}

/// Whether the choice of stages and layers is left to the program.
bool chooses_nothing(const RunOptions& o) {
  const bool stages = !o.variants.empty() || !o.with.empty() || !o.case_filter.empty();
  const bool sizes =
      !o.networks.empty() || !o.layers.empty() || !o.batches.empty() || !o.shapes.empty() || !o.sizes.empty();
  return !stages && !sizes && o.ladder.empty() && o.problem == RunOptions().problem;
}

}  // namespace

void add_run_choice(CLI::App& run, RunChoice& a) {
  add_case_selection(run, a.options, a.selection, "10,100,1000, while a call stays below 10 GFLOP");
  run.add_option("--case", a.options.case_filter, kCaseHelp)->group("Which cases");
  run.add_option(
         "--with", a.options.with,
         "a stage of your own, a .cu, .cpp or .ptx, beside those of the convolution or of the LADDER; may be repeated")
      ->allow_extra_args(false)
      ->group("Which cases");
  run.add_flag("--all", a.all, "every stage; without any choice: stages 1 to 6, the best one and the libraries")
      ->group("Which cases");
  run.add_flag("--leave-one-out", a.leave_one_out,
               "the best stage, and what lacks one of its ideas (default: lenet72.conv2, batch 1000)")
      ->group("Which cases");

  add_measuring_options(
      run, a.options,
      {.budget = "seconds of measuring for each case (default 1; 0.5 in a run without any choice)",
       .repetitions = "exactly this many samples of each case",
       .timeout = "seconds for each step of a case (default 60, and 5 for each GFLOP; on a GPU 30 and more)"});
  run.add_option("--precision", a.options.target_half_width,
                 "stop when the interval's half width is below this fraction of the median (default 0.01)")
      ->check(number_between(0.0, 1.0))
      ->group("How");
  add_isolation_option(run, a.options.isolate);
  add_checkers_options(run, a.options.checkers, a.options.schedules);
  run.add_option(
         "--profile-calls", a.options.profile_calls,
         "for profilers: exactly this many calls of the convolution in an NVTX range 'profile', before the samples")
      ->check(CLI::Range(1, kMostRepetitions))
      ->group("How");
  run.add_flag(
         "--untrusted", a.options.untrusted,
         "of a LADDER: its CPU stages are somebody else's and run apart from clock and messages; short calls take "
         "longer")
      ->group("How");
}

void apply_run_choice(const CLI::App& run, RunChoice& a) {
  if (run.get_option("--case")->count() > 0) static_cast<void>(case_pattern(a.options.case_filter));
  apply_case_selection(a.selection, a.options);
  make_absolute(a.options.with);
  a.options.default_selection = !a.all && !a.leave_one_out && chooses_nothing(a.options);
  if (a.options.default_selection && run.get_option("--budget")->count() == 0)
    a.options.budget_seconds = kSelectionSeconds;
  if (a.leave_one_out) choose_leave_one_out(a.options);
}

}  // namespace convladder

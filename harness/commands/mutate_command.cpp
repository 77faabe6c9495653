// `convladder mutate`: does a test notice when a kernel is wrong?
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "devices/cpu/cpu_facts.hpp"
#include "devices/device_registry.hpp"
#include "devices/kernel_resources.hpp"
#include "harness/commands/case_filter.hpp"
#include "harness/commands/check_selection.hpp"
#include "harness/commands/command.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/commands/printed.hpp"
#include "harness/judge/mutants/ladder_mutants.hpp"
#include "harness/judge/mutants/mutant_record.hpp"
#include "harness/judge/mutants/program_mutants.hpp"
#include "harness/measure/machine/build_information.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "ladders/ladder_folder.hpp"
#include "simulator/mutations/mutation.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/interruption.hpp"
#include "support/nearest_name.hpp"
#include "support/own_program.hpp"
#include "support/printable.hpp"
#include "support/progress.hpp"
#include "support/reasons.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

struct MutateArguments {
  std::vector<std::string> words;  ///< a ladder, or a program and its arguments
  CheckSelection selection;
  std::string case_filter;
  std::string gpu = kUsualGpu;
  OutputRules rules;
  std::vector<std::string> kinds;
  std::string kernels;
  std::uint64_t most = 0;
  double minutes = 0;
  double timeout = 0;
  int jobs = 0;
  std::uint64_t orders = 20;
  std::string output;
  std::string format = "text";
  bool verbose = false;
};

constexpr const char* kMutateFooter = R"(examples:
  convladder mutate -- ./test_reduction                  does this program's test notice a wrong kernel?
  convladder mutate --rejects 'Test.*FAILED' -- ./sample    it ends with 0 whatever it finds
  convladder mutate --kernel 'reduce.*' --kinds zeros,store-out -- python3 -m pytest -q tests/test_reduce.py
  convladder mutate --minutes 10 --output mutants.json -- ./test_gemm    the same command again goes on
  convladder mutate my-ladder                            the verification of the CUDA stages of a folder
  convladder mutate --problem convolution --variant shared-memory

One fault at a time is put into one kernel, as PTX, and the test runs with it. Mutants that change no result, also not in
other orders of the work, are left out. docs/use/mutate.md says what the faults and the verdicts are.
exit codes: 0 the test rejects every mutant that was tried and changes results - 1 it accepts some - 2 nothing can be
told: no kernel ran, or no mutant that was tried changes results - 3 bad input, or a test that fails without any mutant:
one line says what - 130 interrupted)";

std::vector<std::string> kind_words() {
  std::vector<std::string> words;
  for (const simulated::MutationWords& kind : simulated::kMutationKinds) words.emplace_back(kind.word);
  return words;
}

void add_mutate_options(CLI::App& mutate, MutateArguments& a) {
  mutate.add_option("TEST", a.words,
                    "a ladder: a folder, or a name from 'convladder list'; a program stands behind --");
  add_check_selection(mutate, a.selection);
  mutate.add_option("--case", a.case_filter, kCaseHelp);
  mutate.add_option("--gpu", a.gpu, "of a program: the GPU that it sees (default h100)");
  mutate.add_option("--rejects", a.rules.rejects,
                    "of a program: it has also failed if a line of its output matches this regular expression");
  mutate.add_option("--accepts", a.rules.accepts, "of a program: it has failed unless a line of its output matches");
  add_list(mutate, "--kinds", a.kinds, fmt::format("only these faults: {}", fmt::join(kind_words(), ", ")));
  mutate.add_option("--kernel", a.kernels, "only kernels whose names match this regular expression");
  mutate.add_option("--most", a.most, "try at most so many mutants: of every kernel and kind some first (default all)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000}));
  mutate.add_option("--minutes", a.minutes, "begin no mutant after so many minutes (default: no limit)")
      ->check(number_between(0.001, 100'000));
  mutate
      .add_option("--timeout", a.timeout,
                  "seconds after which a mutant has failed (default 20 times the test's own, at least 30)")
      ->check(number_between(0.1, 1e6));
  mutate.add_option("--jobs", a.jobs, "mutants at a time (default: one for each core)")->check(CLI::Range(1, 1024));
  mutate
      .add_option("--orders", a.orders,
                  "other orders of the work in which a left-out barrier, wait or fence may show (default 20)")
      ->check(CLI::Range(std::uint64_t{0}, simulated::kMostMutantOrders));
  mutate.add_option("--output", a.output, "a record of JSON; what it has already is not tried again");
  add_format_option(mutate, a.format, {"text", "markdown", "json"});
  add_verbose(mutate, a.verbose);
}

MutantSettings settings_of(const MutateArguments& a) {
  MutantSettings settings;
  for (const std::string& word : a.kinds) {
    const auto kind = simulated::find_mutation_kind(word);
    if (!kind) throw UserError(fmt::format("--kinds: {}", unknown_name_message("fault", word, kind_words())));
    settings.kinds.push_back(*kind);
  }
  settings.kernels = TextPattern("--kernel", a.kernels);
  settings.most = a.most;
  settings.minutes = a.minutes;
  settings.jobs = a.jobs > 0 ? a.jobs : usable_cores();
  settings.orders = a.orders;
  settings.timeout = a.timeout;
  return settings;
}

/// Tries the mutants, and prints what has come of it. Returns the exit code.
int try_and_print(const MutateArguments& a, MutantRecord& record, const MutantSettings& settings,
                  const std::vector<LeftOutCase>& left_out, const std::function<void(TriedMutant&)>& run) {
  order_fairly(record.mutants);
  const std::size_t known = take_known_verdicts(a.output, record);
  const auto keep = [&] {
    if (!a.output.empty()) write_file_atomically(a.output, mutant_record_json(record));
  };
  advise_on_interrupt(a.output.empty() ? "nothing is kept without --output FILE"
                                       : fmt::format("the same command goes on with {}", printable(a.output)));
  try_mutants(record.mutants, settings, run, keep);
  keep();
  if (a.format == "json") {
    print_as({.format = a.format}, mutant_record_json(record));
  } else {
    Report report = mutant_report(record, a.verbose);
    Reasons reasons;
    for (const LeftOutCase& one : left_out) reasons.add("not tested: " + one.reason, printable(one.id));
    report.section().notes(reasons.lines());
    if (known > 0) {
      report.section().note(fmt::format("{} of the verdicts were in {} already", known, printable(a.output)));
    }
    print_as({.format = a.format, .verbose = a.verbose}, report);
  }
  if (record.count(MutantVerdict::accepted) > 0) return kExitCasesFailed;
  return record.count(MutantVerdict::rejected) > 0 ? kExitOk : kExitInconclusive;
}

/// Throws UserError if the options select none of the mutants that there could be.
void require_some(const MutantRecord& record, const MutateArguments& a,
                  const std::map<std::string, std::vector<simulated::PossibleMutant>>& possible) {
  if (!record.mutants.empty()) return;
  std::vector<std::string> names;
  for (const auto& [kernel, mutants] : possible) names.push_back(printable(display_name(kernel)));
  throw UserError(fmt::format("no mutant remains: {} of the kernels {}",
                              a.kernels.empty() ? "there are none of these kinds" : "--kernel matches none",
                              fmt::join(names, ", ")));
}

int mutate_program(const MutateArguments& a, const std::vector<std::string>& words) {
  const std::string of_ladders = a.case_filter.empty() ? a.selection.given() : "--case";
  if (!of_ladders.empty()) throw UserError(fmt::format("{} is for a ladder, not for a program", of_ladders));
  MutantSettings settings = settings_of(a);
  stand_in::Settings stand_in;
  stand_in.gpu = a.gpu;
  require_gpu(a.gpu);
  stand_in.with_caches = false;
  stand_in.launch_seconds = 0;
  stand_in.host_threads = std::max(1, usable_cores() / settings.jobs);
  ProgramTest test(words, stand_in, a.rules);
  const auto possible = [&test] {
    Progress progress(nullptr, 1);
    progress.show("the test as it is, twice");
    return test.run_as_it_is();
  }();
  if (test.writes_files() && a.jobs == 0) {
    settings.jobs = 1;
    fmt::print(stderr, "convladder: {} changes files of this folder: one mutant at a time (--jobs)\n",
               printable(words.front()));
  }
  if (possible.empty()) {
    fmt::print(stderr, "convladder: nothing can be told: no kernel of {} has run\n", printable(words.front()));
    return kExitInconclusive;
  }
  MutantRecord record{.what = fmt::format("{}", fmt::join(words, " ")),
                      .material = test.material(),
                      .version = fmt::format("{} {}", build::version, build::commit),
                      .mutants = selected_mutants("", possible, settings)};
  require_some(record, a, possible);
  return try_and_print(a, record, settings, {}, [&](TriedMutant& one) { test.run(one, settings); });
}

int mutate_ladder(MutateArguments& a) {
  for (const auto& [name, given] :
       {std::pair("--rejects", !a.rules.rejects.empty()), std::pair("--accepts", !a.rules.accepts.empty()),
        std::pair("--gpu", a.gpu != kUsualGpu)}) {
    if (given) throw UserError(fmt::format("{} is for a program: convladder mutate [options] -- ./program", name));
  }
  const MutantSettings settings = settings_of(a);
  if (a.words.size() > 1) {
    throw UserError(fmt::format("{}: one ladder at a time; a program stands behind --", printable(a.words[1])));
  }
  if (!a.words.empty()) a.selection.ladder = a.words.front();
  if (a.selection.ladder.empty() && a.selection.problems.empty() && a.selection.variants.empty()) {
    throw UserError("what is to be tested: a program behind --, a LADDER, or --problem?");
  }
  const std::vector<CaseGroup> groups = checked_groups(a.selection, UnnamedSizes::one);
  const PlannedCase& first = groups.front().cases.front();
  const std::string why =
      first.variant.variant->compiled_stage() != nullptr ? first.skipped : find_device_kind("simulated").unavailable();
  if (!why.empty()) throw UserError(fmt::format("the simulated device: {}", why));
  const CheckSettings check{.checkers = simulated::CheckerSet::all(), .ids = case_pattern(a.case_filter)};
  const LadderTest test(groups, check, settings);
  if (test.mutants().empty() && test.left_out().empty()) {
    throw UserError("no mutant remains: --kernel, --kinds or --case leaves none");
  }
  std::vector<std::string> files{own_program().string()};  // with the stages that are built in, and their verification
  if (is_ladder_folder(a.selection.ladder)) {
    for (const auto& entry : std::filesystem::directory_iterator(a.selection.ladder))
      files.push_back(entry.path().string());
    std::ranges::sort(files);
  }
  std::string what = "the verification of";
  for (const CaseGroup& group : groups) what += fmt::format(" {}/{}", group.work.name(), group.work.shape.batch);
  MutantRecord record{.what = what,
                      .material = hash_of_files(files),
                      .version = fmt::format("{} {}", build::version, build::commit),
                      .mutants = test.mutants()};
  return try_and_print(a, record, settings, test.left_out(), [&](TriedMutant& one) { test.run(one, settings); });
}

int mutate_command(MutateArguments& a, const CommandLine& words) {
  check_output_file("--output", a.output);
  const auto mark = std::ranges::find(words, "--");
  if (mark == words.end()) return mutate_ladder(a);
  const std::vector<std::string> program(mark + 1, words.end());
  if (program.empty()) throw UserError("-- is followed by the program and its arguments");
  if (a.words.size() > program.size()) throw UserError("a ladder and a program: one of them is the test");
  return mutate_program(a, program);
}

const CommandRegistration mutate_registration({.name = "mutate",
                                               .group = CommandGroup::without_a_gpu,
                                               .help = "does your test notice a wrong kernel? One fault at a time",
                                               .footer = kMutateFooter,
                                               .add = command_of<MutateArguments, add_mutate_options, mutate_command>,
                                               .needs_proc = true});

}  // namespace
}  // namespace convladder

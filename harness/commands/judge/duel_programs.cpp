// The options of a duel between any two programs, and what follows from them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "harness/commands/judge/duel_setup.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/judge/duel/programs/benchmark_program.hpp"
#include "harness/judge/duel/programs/command_words.hpp"
#include "harness/judge/duel/programs/program_duel.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/printable.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

constexpr const char* kGroup = "Any two commands (docs/use/duel.md)";
constexpr std::size_t kMostCases = 10'000;

/// The lines of the file that are neither empty nor begin with "#", each a case.
std::vector<ProgramCase> cases_in(const std::string& file) {
  std::vector<ProgramCase> cases;
  for (const std::string& line : split(read_file_text(file), '\n')) {
    const std::string one(trimmed(line));
    if (one.empty() || one.starts_with('#')) continue;
    if (std::ranges::find(cases, one, &ProgramCase::name) != cases.end()) {
      throw UserError(fmt::format("{}: '{}' stands there twice", printable(file), printable(one)));
    }
    cases.push_back({one, one});
  }
  if (cases.empty()) throw UserError(fmt::format("{}: holds no case: expected one a line", printable(file)));
  if (cases.size() > kMostCases) throw UserError(fmt::format("{}: more than {} cases", printable(file), kMostCases));
  return cases;
}

void check_variables(const char* option, const std::vector<std::string>& variables) {
  for (const std::string& one : variables) {
    if (one.find('=') == std::string::npos || one.starts_with('=')) {
      throw UserError(fmt::format("{} {}: expected NAME=VALUE", option, printable(one)));
    }
  }
}

void check_place(const char* option, const std::string& folder) {
  std::error_code error;
  if (folder.empty() || std::filesystem::is_directory(folder, error)) return;
  throw UserError(fmt::format("{} {}: no such folder", option, printable(folder)));
}

}  // namespace

void add_program_options(CLI::App& duel, AnyCommandArguments& a) {
  const auto add = [&](const char* name, auto& value, const char* help) {
    return duel.add_option(name, value, help)->group(kGroup);
  };
  add("--base-command", a.duel.base.command, "the command to compare with; a slot is its best run of up to five");
  add("--new-command", a.duel.now.command, "the command to judge");
  add("--command", a.command, "the command of both sides, which differ in folder, environment or commit");
  add("--build", a.build, "builds --base-commit and --new-commit, of any repository, each in a folder of its own");
  add("--cases", a.cases_file, "a file with a case a line, which stands for {} in the commands");
  add("--metric", a.metrics,
      "wall (default), cpu, NAME=REGULAR-EXPRESSION over what is printed, or NAME=/JSON/POINTER; may be repeated. "
      "With {json} in the command, a file that it writes, the default is all times in it")
      ->allow_extra_args(false);
  add("--higher-is-better", a.higher, "the name of a metric for which that is so; may be repeated")
      ->allow_extra_args(false);
  duel.add_flag("--worker", a.duel.is_worker, "the commands are workers, which stay and answer line by line")
      ->group(kGroup);
  add("--check", a.duel.check,
      "a command that fails if the results differ; {base} and {new} are files of what both sides printed");
  duel.add_flag("--same-output", a.duel.same_output, "what both sides print has to be the same, in every run")
      ->group(kGroup);
  add("--base-folder", a.duel.base.folder, "the folder that the base runs in");
  add("--new-folder", a.duel.now.folder, "the folder that the new side runs in");
  add("--base-env", a.duel.base.variables, "NAME=VALUE for the base's environment; may be repeated")
      ->allow_extra_args(false);
  add("--new-env", a.duel.now.variables, "NAME=VALUE for the new side's environment; may be repeated")
      ->allow_extra_args(false);
  add("--setup", a.duel.setup, "a command that is run once for each side and case, before it");
  add("--teardown", a.duel.teardown, "a command that is run once for each side and case, after everything");
  add("--warmup", a.duel.warmup, "runs of each side before its first slot (default 1)")->check(CLI::Range(0, 1000));
  add("--benchmark-options", a.benchmark_options,
      "for --base and --new that are programs of Google Benchmark or nvbench: further options of theirs");
  duel.add_flag("--even-if-same", a.even_if_same, "measure also what is the same program on both sides")->group(kGroup);
}

bool take_benchmark_programs(DuelArguments& a) {
  const BenchmarkFramework framework = benchmark_framework_of(a.base);
  if (framework == BenchmarkFramework::none) return false;
  if (benchmark_framework_of(a.now) != framework) {
    throw UserError(fmt::format("--base {} holds benchmarks of {}, --new {} does not", printable(a.base),
                                framework == BenchmarkFramework::google ? "Google Benchmark" : "nvbench",
                                printable(a.now)));
  }
  ProgramDuelOptions& duel = a.programs.duel;
  const TextPattern wanted("--case", a.options.case_filter);
  const std::vector<std::string> base = benchmarks_of(a.base, framework, wanted);
  const std::vector<std::string> now = benchmarks_of(a.now, framework, wanted);
  for (const std::string& name : base) {
    if (std::ranges::find(now, name) == now.end()) {
      duel.of_base.push_back(name);
    } else {
      duel.cases.push_back({name, benchmark_argument(name, framework)});
    }
  }
  for (const std::string& name : now) {
    if (std::ranges::find(base, name) == base.end()) duel.of_new.push_back(name);
  }
  if (duel.cases.empty()) throw UserError("no benchmark is in both programs (--case chooses among them)");
  duel.base.command = benchmark_command(a.base, framework, a.programs.benchmark_options);
  duel.now.command = benchmark_command(a.now, framework, a.programs.benchmark_options);
  return true;
}

BuiltSides::BuiltSides(DuelArguments& a) {
  if (a.programs.build.empty()) return;
  repository_.emplace(a.repository);
  folder_.emplace();
  const auto build = [&](const char* option, const std::string& name, ProgramSide& side, const char* role,
                         std::optional<WorktreeBuild>& built) {
    if (name.empty()) return;
    const Commit commit = repository_->commit(option, name);
    built.emplace(*repository_, commit, a.programs.build, folder_->file(role));
    side.folder = (built->folder() / side.folder).string();
    a.notes.push_back(fmt::format("the {} is commit {} ({}): {}", role == std::string("base") ? "base" : "new side",
                                  commit.short_id(), commit.name, commit.subject));
  };
  try {
    build("--base-commit", a.base_commit, a.programs.duel.base, "base", base_);
  } catch (const CommitFailure& failure) {
    throw UserError(fmt::format("--base-commit: {}", failure.what()));
  }
  build("--new-commit", a.new_commit, a.programs.duel.now, "next", now_);  // a name as long as the other one
}

bool asks_for_programs(const AnyCommandArguments& a) {
  return !a.command.empty() || !a.duel.base.command.empty() || !a.duel.now.command.empty();
}

void check_program_arguments(DuelArguments& a) {
  AnyCommandArguments& programs = a.programs;
  ProgramDuelOptions& duel = programs.duel;
  if (!programs.command.empty()) {
    if (!duel.base.command.empty() || !duel.now.command.empty()) {
      throw UserError("--command: it is that of both sides: leave out --base-command and --new-command");
    }
    duel.base.command = duel.now.command = programs.command;
  }
  if (duel.base.command.empty() || duel.now.command.empty()) {
    throw UserError("--base-command and --new-command: expected both or neither");
  }
  if (a.bisect && !programs.build.empty() && a.new_commit.empty()) a.new_commit = "HEAD";
  if (a.bisect && a.command->count("--rounds") == 0) a.settings.limits.most_rounds = kBisectRounds;
  const bool of_commits = !a.base_commit.empty() || !a.new_commit.empty();
  if (of_commits == programs.build.empty()) {
    throw UserError(of_commits ? "--base-commit, --new-commit: expected --build, which makes the programs of a commit"
                               : "--build: expected --base-commit or --new-commit");
  }
  const bool of_benchmarks = a.command->count("--base-command") + a.command->count("--command") == 0;
  for (const CLI::Option* option : a.command->get_options([](const CLI::Option* one) { return one->count() > 0; })) {
    const std::string& group = option->get_group();
    static const std::vector<std::string> kept = {
        "--tau",        "--delta",     "--alpha",        "--rounds",   "--budget", "--output",
        "--format",     "--quiet",     "--verbose",      "--timeout",  "--seed",   "--wait-until-quiet",
        "--extra-work", "--dry-run",   "--bisect",       "--selftest", "--full",   "--levels",
        "--runs",       "--neighbour", "--even-if-same", "--help"};
    const bool is_of_commits = option->get_name() == "--base-commit" || option->get_name() == "--new-commit" ||
                               option->get_name() == "--repository";
    if (group == kGroup || is_of_commits || std::ranges::find(kept, option->get_name()) != kept.end()) continue;
    const bool is_of_benchmarks =
        option->get_name() == "--base" || option->get_name() == "--new" || option->get_name() == "--case";
    if (of_benchmarks && is_of_benchmarks) continue;
    throw UserError(fmt::format("{} cannot be used for {}", option->get_name(),
                                of_benchmarks ? "programs of benchmarks" : "commands"));
  }
  check_variables("--base-env", duel.base.variables);
  check_variables("--new-env", duel.now.variables);
  if (a.base_commit.empty()) check_place("--base-folder", duel.base.folder);
  if (a.new_commit.empty()) check_place("--new-folder", duel.now.folder);
  if (a.timeout > 0) duel.timeout_seconds = a.timeout;
  if (!programs.cases_file.empty()) duel.cases = cases_in(programs.cases_file);
  const bool takes_case = duel.base.command.find("{}") != std::string::npos ||
                          duel.now.command.find("{}") != std::string::npos || duel.is_worker;
  if (!programs.cases_file.empty() && !takes_case) throw UserError("--cases: neither command has {} in it");
  if (duel.cases.empty() && takes_case && !duel.is_worker) throw UserError("{} in a command: expected --cases FILE");
  if (a.settings.extra_percent > 0 && !duel.is_worker) {
    throw UserError("--extra-work: only a worker can be asked for more work (--worker)");
  }
  const bool writes_file = duel.base.command.find("{json}") != std::string::npos;
  if (writes_file != (duel.now.command.find("{json}") != std::string::npos)) {
    throw UserError("{json}: expected in both commands or in neither");
  }
  for (const std::string& one : programs.metrics) duel.metrics.push_back(parse_metric(one, duel.is_worker));
  if (duel.metrics.empty() && !writes_file) duel.metrics.push_back(parse_metric("wall", duel.is_worker));
  for (const std::string& name : programs.higher) {
    const auto wish = std::ranges::find(duel.metrics, name, [](const MetricWish& one) { return one.metric.name; });
    if (wish == duel.metrics.end() || wish->metric.is_time()) {
      throw UserError(fmt::format("--higher-is-better {}: no --metric has this name", printable(name)));
    }
    wish->metric.higher_is_better = true;
  }
  static_cast<void>(command_words("--base-command", duel.base.command));
  static_cast<void>(command_words("--new-command", duel.now.command));
}

std::vector<std::string> program_cases(const ProgramDuelOptions& duel) {
  std::vector<std::string> cases;
  for (const ProgramCase& one : duel.cases) cases.push_back(printable(one.name));
  if (cases.empty()) cases.emplace_back("command");
  for (const std::string& name : duel.of_base) cases.push_back(printable(name) + ": only the base has it");
  for (const std::string& name : duel.of_new) cases.push_back(printable(name) + ": only the new side has it");
  return cases;
}

std::vector<std::string> program_notes(const ProgramDuelOptions& duel) {
  std::vector<std::string> notes;
  if (duel.check.empty() && !duel.same_output) {
    notes.emplace_back("not verified: nobody has looked whether both sides compute the same (--check, --same-output)");
  }
  return notes;
}

}  // namespace convladder

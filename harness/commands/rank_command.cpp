// `convladder rank`: many people's stages for one problem, each beside the same baseline, in order of their speed.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "harness/commands/command.hpp"
#include "harness/commands/measuring_options.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/commands/printed.hpp"
#include "harness/commands/report_script.hpp"
#include "harness/judge/ranking/rank_output.hpp"
#include "harness/judge/ranking/rank_run.hpp"
#include "harness/measure/cases/google_engine.hpp"
#include "harness/measure/cases/stage_device.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/run_material.hpp"
#include "ladders/compilers.hpp"
#include "ladders/ladder_folder.hpp"
#include "ladders/program_output.hpp"
#include "simulator/gpus/gpu_facts.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/interruption.hpp"
#include "support/nearest_name.hpp"
#include "support/own_program.hpp"
#include "support/printable.hpp"
#include "support/progress.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

/// The command line, not checked yet.
struct RankArguments {
  RankOptions options;
  std::string ladder;
  std::optional<std::uint64_t> seed;
  std::string output;  ///< empty: below results/
  std::string format = "text";
  std::string csv;
  std::string html;
  bool medians = false;
  bool again = false;
  bool quiet = false;
  bool verbose = false;
  bool dry_run = false;
};

constexpr const char* kRankFooter = R"(examples:
  convladder rank softmax/ handed-in/                    alice.cpp, bob.cu, carol/solve.cpp, ... in handed-in/
  convladder rank softmax/ handed-in/ --medians          also the figure of each size
  convladder rank softmax/ handed-in/ --csv grades.csv --html grades.html
  convladder rank softmax/ handed-in/ --against naive    as a multiple of that stage of the ladder
  convladder rank softmax/ handed-in/ --size R64C1024 --format json

The same command again measures only what has changed, and goes on after a kill. docs/use/rank.md says who shares a rank,
and what becomes of who does not compile, is wrong, crashes or hangs.
exit codes: 0 every submission is verified and ranked - 1 one is incorrect, crashed, timed out, does not compile or was
refused (the others stand) - 2 nobody could be ranked here - 3 bad input, or nothing could be written - 130 interrupted)";

void add_rank_options(CLI::App& rank, RankArguments& a) {
  RankOptions& o = a.options;
  o.run.max_samples = kMostRounds;
  o.run.fewest_samples = kFewestRounds;
  o.run.target_half_width = 0;  // both of a pair take the same number of rounds
  rank.add_option("FOLDER", a.ladder, "the ladder: problem.json, a reference, and its own stages and libraries")
      ->required();
  rank.add_option("SUBMISSIONS", o.submissions, "a folder with an entry a person: NAME.cpp, NAME.cu, NAME.py, or NAME/")
      ->required();
  add_list(rank, "--size", o.run.sizes, "sizes of the problem (default: its own)")->group("What");
  add_list(rank, "--device", o.run.devices,
           "cpu, cuda, simulated (default: each family's own; cuda without a GPU: simulated)")
      ->group("What");
  rank.add_option("--against", o.against,
                  "the baseline: a library or stage of the ladder (default: its best library, else its best stage, "
                  "else the first submission that is right)")
      ->group("What");
  rank.add_option("--gpu", o.gpu, "where there is no GPU: rank by times predicted for k80, ..., h200 (default h100)")
      ->group("How");
  rank.add_option("--tau", o.tau, "who is faster by less than this part shares the rank (default 0.02)")
      ->check(number_between(0.0, 1.0))
      ->group("How");
  rank.add_option("--rounds", o.run.max_samples,
                  "samples of each submission and of the baseline beside it (default 30)")
      ->check(CLI::Range(kFewestRounds, kMostRepetitions))
      ->group("How");
  rank.add_option("--budget", o.run.budget_seconds,
                  "seconds of measuring for each submission on a size, but at least 10 rounds (default 1)")
      ->check(number_between(0.0, kMostOptionSeconds))
      ->group("How");
  rank.add_option("--timeout", o.run.timeout_seconds,
                  "seconds for each step of a submission (default 10, and 5 for each GFLOP; longer on a GPU)")
      ->check(number_between(kShortestTimeout, kMostOptionSeconds))
      ->group("How");
  rank.add_option("--limit", o.limit_seconds, "seconds for all steps of a submission on a size (default 120)")
      ->check(number_between(kShortestTimeout, kMostOptionSeconds))
      ->group("How");
  add_quiet_option(rank, o.run.wait_until_quiet_seconds);
  rank.add_option("--seed", a.seed,
                  "seed of the inputs and of the order of measuring (default: nobody knows it before)")
      ->check(seed_error)
      ->group("How");
  add_schedules_option(rank, o.run.schedules)->group("How");
  rank.add_flag("--again", a.again, "measure all of it, also what has not changed")->group("How");
  rank.add_option("--output", a.output, "folder for rank.json (default results/rank-PROBLEM-SUBMISSIONS)")
      ->group("Where");
  add_format_option(rank, a.format, {"text", "csv", "json"});
  rank.add_option("--csv", a.csv, "also write the table as CSV")->group("Where");
  rank.add_option("--html", a.html, "also write one page of HTML (needs Python with Jinja2)")->group("Where");
  rank.add_flag("--medians", a.medians, "also the figure of each size")->group("Where");
  rank.add_flag("--quiet", a.quiet, "no line for each submission")->group("Where");
  add_verbose(rank, a.verbose)->group("Where");
  rank.add_flag("--dry-run", a.dry_run, "only list who would be measured on what")->group("Where");
}

/// The name as that of a folder below results/.
std::string plain(const std::string& name) {
  std::string text;
  for (const char one : name) {
    const bool is_plain = (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') || (one >= '0' && one <= '9');
    text += is_plain || one == '-' || one == '_' ? one : '-';
  }
  return text.substr(0, 2 * kShortText);
}

void take_arguments(RankArguments& a) {
  if (!is_ladder_folder(a.ladder)) {
    throw UserError(fmt::format("{}: no folder with a problem.json", printable(a.ladder)));
  }
  choose_ladder(a.options.run, a.ladder);
  a.options.submissions = fs::absolute(a.options.submissions).lexically_normal().string();
  while (a.options.submissions.size() > 1 && a.options.submissions.ends_with('/')) a.options.submissions.pop_back();
  if (a.output.empty()) {
    const std::string name = fs::path(a.options.submissions).filename().string();
    a.output = fmt::format("results/rank-{}-{}", a.options.run.problem, plain(name));
  }
  std::vector<std::string> gpus;
  for (const GpuFacts& gpu : gpu_facts()) gpus.push_back(gpu.name);
  require_known("--gpu", std::string_view(a.options.gpu), gpus);
  check_output_file("--csv", a.csv);
  check_output_file("--html", a.html);
}

void check_against(const RankPlan& plan, const RankOptions& options) {
  if (options.against.empty()) return;
  std::vector<std::string> names;
  for (const RankingPlan& ranking : plan.rankings) {
    for (const RankEntry& entry : ranking.own) names.push_back(entry.name);
  }
  require_known("--against", std::string_view(options.against), names);
}

/// The seed that is asked for, or that of the ranking that goes on, or one that no submission can have been made for.
std::uint64_t seed_of(const RankArguments& a) {
  if (a.seed) return *a.seed;
  const std::optional<std::uint64_t> recorded = recorded_seed(a.output);
  return recorded ? *recorded : std::random_device()();
}

int dry_run(const RankPlan& plan) {
  std::size_t count = 0;
  for (const RankingPlan& ranking : plan.rankings) {
    for (const RankEntry& entry : ranking.submissions) {
      if (!entry.broken.empty()) {
        fmt::print("{}/{}: {}\n", ranking.device, entry.name, entry.broken);
        continue;
      }
      count += entry.cases.size();
      for (const PlannedCase& planned : entry.cases) fmt::print("{}\n", planned.id);
    }
  }
  fmt::print("{} case{} of submissions; nothing was measured\n", count, count == 1 ? "" : "s");
  return kExitOk;
}

/// The exit code of several rankings: a broken submission counts before a ranking without ranks.
int exit_code(const std::vector<RankResult>& results) {
  bool any_ranked = false;
  bool any_failed = false;
  for (const RankResult& result : results) {
    for (const RankRow& row : result.rows) {
      any_ranked = any_ranked || row.rank.has_value();
      any_failed = any_failed || is_failure(row.status);
    }
  }
  if (any_failed) return kExitCasesFailed;
  return any_ranked ? kExitOk : kExitInconclusive;
}

int rank_command(RankArguments& a, const CommandLine& command_line) {
  StageDevice::trust_nobody();
  take_arguments(a);
  a.options.run.seed = seed_of(a);
  initialize_google_benchmark({});
  RankPlan plan;
  {
    Progress progress(nullptr, 0);
    plan = make_rank_plan(a.options, [&](const std::string& file, int done, int all) {
      progress.show_part(fmt::format("compiling {}", file), static_cast<double>(done) / all, std::nullopt);
    });
  }
  check_against(plan, a.options);
  if (a.dry_run) return dry_run(plan);

  const ImageSet images = load_images("", a.options.run.seed, 1);
  RankRecord record(a.output, plan, a.options, command_line, images, a.again);
  advise_on_interrupt("the same command goes on");
  const bool is_text = a.format == "text";
  const RankOutcome outcome = run_ranking(plan, a.options, images, record, a.quiet || !is_text ? nullptr : stdout);

  if (!a.csv.empty()) write_file_atomically(a.csv, as_csv(ranking_table(outcome.results)));
  if (a.format == "csv") fmt::print("{}", as_csv(ranking_table(outcome.results)));
  if (a.format == "json") fmt::print("{}", record.text());
  if (is_text) {
    Report report = ranking_report(plan, outcome.results, a.options, a.medians);
    report.sections.back().notes(outcome.notes);
    fmt::print("{}{}{}\n", a.quiet ? "" : "\n", as_text(report, kTextColumns, a.verbose ? kAllShown : kMostShown),
               record.file().string());
  }
  std::fflush(stdout);
  if (!a.html.empty()) {
    draw_page("--html", a.html, "report.py", {"--program", own_program().string()}, record.file());
  }
  return exit_code(outcome.results);
}

const CommandRegistration rank_registration({.name = "rank",
                                             .group = CommandGroup::folders,
                                             .help = "many people's stages for one problem, in order of their speed",
                                             .footer = kRankFooter,
                                             .add = command_of<RankArguments, add_rank_options, rank_command>,
                                             .needs_proc = true});

}  // namespace
}  // namespace convladder

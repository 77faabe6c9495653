#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "harness/commands/judge/duel_setup.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/commands/printed.hpp"
#include "harness/judge/compare/change_text.hpp"
#include "harness/judge/duel/bursty_neighbour.hpp"
#include "harness/judge/duel/duel_output.hpp"
#include "harness/judge/duel/selftest.hpp"
#include "harness/measure/cases/google_engine.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/progress.hpp"

namespace convladder {

namespace {

constexpr double kShortSeconds = 90;  // no duel begins later; one takes seconds
constexpr const char* kSmallShape = "1,16,16,4,5";
constexpr int kLevels[] = {0, 1, 2, 3, 5, 10};
constexpr int kProofOfEqual = 300;  // 299 without a regression show at most 1 %
constexpr int kProofOfExtra = 59;   // 59 of 59 show at least 95 %
constexpr int kShortOfEqual = 60;
constexpr int kShortOfExtra = 12;

/// The number of duels for each level of extra work.
std::vector<std::pair<int, int>> wanted_runs(const DuelArguments& a) {
  std::vector<int> levels = a.levels;
  if (levels.empty()) levels.assign(std::begin(kLevels), std::end(kLevels));
  std::ranges::sort(levels);
  std::vector<std::pair<int, int>> wanted;
  for (const int level : levels) {
    if (!wanted.empty() && wanted.back().first == level) continue;
    const int runs =
        a.full ? (level == 0 ? kProofOfEqual : kProofOfExtra) : (level == 0 ? kShortOfEqual : kShortOfExtra);
    wanted.emplace_back(level, a.runs > 0 ? a.runs : runs);
  }
  return wanted;
}

/// The one case to measure: the one in the options, or a small one of the first stage, whose calls are so short that 1
/// % of a sub-run of about 1 ms is a whole call.
std::vector<KernelGroup> plan_one(DuelArguments& a, const OtherProgram& base, const OtherProgram& now) {
  apply_case_selection(a.selection, a.options);
  if (a.options.batches.empty()) a.options.batches = {1};
  if (a.options.families.empty() && a.options.devices.empty()) a.options.families = {"cpu"};
  if (a.options.networks.empty() && a.options.layers.empty() && a.options.shapes.empty()) {
    a.options.shapes = {parse_shape(kSmallShape)};
  }
  for (KernelGroup& group : plan_kernel_duel(a.options, base, now, "", "")) {
    for (KernelPair& pair : group.pairs) {
      if (pair.runs()) return {{group.work, group.device, {pair}}};
    }
  }
  throw UserError("no case can run here on both sides");
}

std::string share_text(const SelftestLevel& level) {
  return fmt::format("{:.1f} to {:.1f}", level.regressed_bounds.low * 100, level.regressed_bounds.high * 100);
}

ReportTable levels_table(const std::vector<SelftestLevel>& levels) {
  std::vector<std::vector<std::string>> rows;
  for (const SelftestLevel& level : levels) {
    rows.push_back({fmt::format("{}", level.extra_percent), fmt::format("{}", level.runs),
                    fmt::format("{}", level.regressed), fmt::format("{}", level.inconclusive),
                    fmt::format("{}", level.passed), fmt::format("{}", level.improved),
                    fmt::format("{}", level.contaminated), fmt::format("{:.1f}", 100.0 * level.regressed / level.runs),
                    share_text(level)});
  }
  return {{right("extra work", "%"), right("duels"), right("regressed"), right("inconclusive"), right("pass"),
           right("improved"), right("contaminated"), right("regressed", "%"), right("exact bounds", "%")},
          std::move(rows)};
}

std::string claim_text(Claim claim) {
  constexpr const char* texts[] = {"shown", "too few duels to show or refute it", "REFUTED"};
  return texts[static_cast<int>(claim)];
}

struct Claims {
  std::optional<Claim> false_alarms;
  std::optional<Claim> power;
  std::vector<std::string> texts;

  bool any(Claim claim) const { return false_alarms == claim || power == claim; }
};

Claims claims_of(const std::vector<SelftestLevel>& levels, const VerdictLimits& limits) {
  Claims claims;
  for (const SelftestLevel& level : levels) {
    if (level.extra_percent == 0) {
      claims.false_alarms = few_false_alarms(level, limits.alpha);
      claims.texts.push_back(fmt::format(
          "equal sides: {} of {} reported as a regression, at most {:.2f} % with 95 % confidence; claimed: at most "
          "{:g} %: {}",
          level.regressed, level.runs, level.regressed_bounds.high * 100, limits.alpha * 100,
          claim_text(*claims.false_alarms)));
    } else if (level.extra_percent == static_cast<int>(std::lround(limits.delta * 100))) {
      claims.power = finds(level);
      claims.texts.push_back(
          fmt::format("+{} %: {} of {} found, at least {:.1f} % with 95 % confidence; claimed: 95 %, 56 of 59: {}",
                      level.extra_percent, level.regressed, level.runs, level.regressed_bounds.low * 100,
                      claim_text(*claims.power)));
    }
  }
  return claims;
}

SelftestResult measure(const DuelArguments& a, const MakePlan& plan, const DuelSettings& settings) {
  const std::unique_ptr<BurstyNeighbour> neighbour =
      a.neighbour == "bursty" ? std::make_unique<BurstyNeighbour>(settings.seed) : nullptr;
  const std::vector<int> order = selftest_order(wanted_runs(a), settings.seed);
  std::optional<double> budget;
  if (!a.full && a.runs == 0) budget = kShortSeconds;
  if (a.budget > 0) budget = a.budget;
  Progress progress(stderr, 0);
  return run_selftest(plan, settings, order, budget, [&](const SelftestResult& so_far) {
    const double runs_done = static_cast<double>(so_far.runs.size()) / static_cast<double>(order.size());
    double seconds_left = so_far.seconds * (1 / runs_done - 1);
    if (budget) seconds_left = std::min(seconds_left, std::max(0.0, *budget - so_far.seconds));
    progress.show_part(fmt::format("{} duels", so_far.runs.size()), so_far.seconds / (so_far.seconds + seconds_left),
                       seconds_left);
  });
}

/// A selftest, ready to be run.
struct PlannedSelftest {
  MakePlan plan;
  DuelSettings settings;
  std::string id;  ///< of the case
  std::string base;
  std::string now;
  const ImageSet* images;  ///< null where none are used
  std::string note;        ///< empty for none
};

/// Runs the selftest, and writes and prints its result. Returns the exit code.
int tell_selftest(const DuelArguments& a, const CommandLine& command_line, const PlannedSelftest& planned) {
  const DuelSettings& settings = planned.settings;
  const SelftestResult result = measure(a, planned.plan, settings);
  const std::vector<SelftestLevel> levels = result.levels();
  const Claims claims = claims_of(levels, settings.limits.verdict);
  if (!a.output.empty()) {
    const SelftestReport report{result, settings, planned.id, planned.base, planned.now, a.neighbour, a.threads};
    write_file_atomically(a.output, selftest_json_text(report, command_line, planned.images));
  }
  Report printed;
  const std::string threads = planned.images == nullptr ? "" : plural(a.threads, "thread") + ", ";
  printed.section(fmt::format("{}, {}{} duels in {:.0f} s, measured; neighbour: {}", planned.id, threads,
                              result.runs.size(), result.seconds, a.neighbour));
  printed.section().blocks.emplace_back(levels_table(levels));
  ReportSection& section = printed.section();
  for (const std::string& text : claims.texts) section.paragraph(text);
  if (result.out_of_time) section.paragraph("time ran out before all duels were run: --full runs them all");
  if (!planned.note.empty()) section.note(planned.note);
  print_as({}, printed);
  if (claims.any(Claim::refuted)) return kExitCasesFailed;
  return a.full && claims.any(Claim::open) ? kExitInconclusive : kExitOk;
}

}  // namespace

void add_selftest_options(CLI::App& duel, DuelArguments& a) {
  const char* const group = kSelftestGroup;
  duel.add_flag("--selftest", a.selftest, "duels whose answer is known: how often is one wrong on this machine?")
      ->group("Selftest");
  duel.add_flag("--full", a.full, "the whole trial: 300 duels of equal sides, 59 for each amount of extra work")
      ->group(group);
  duel.add_option("--levels", a.levels, "extra work in percent (default 0,1,2,3,5,10)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(0, 1000))
      ->group(group);
  duel.add_option("--runs", a.runs, "exactly this many duels of each level")
      ->check(CLI::Range(1, 100000))
      ->group(group);
  duel.add_option(
          "--budget", a.budget,
          "seconds for the confirmation: as many rounds as fit; with --selftest, after which no new duel begins "
          "(default 90; no limit with --full or --runs)")
      ->check(number_between(0.1, 1e6))
      ->group("How");
  duel.add_option("--threads", a.threads, "OpenMP threads of the case (default 1)")
      ->check(CLI::Range(1, 1024))
      ->group(group);
  duel.add_option("--neighbour", a.neighbour, "none (default), or bursty: other threads that compute in bursts")
      ->check(CLI::IsMember({"none", "bursty"}))
      ->group(group);
}

int duel_selftest(DuelArguments& a, const CommandLine& command_line) {
  check_output_file("--output", a.output);
  initialize_google_benchmark({});
  const std::string note = make_idle_threads_sleep();
  // The method is under test, and even a busy machine has one core to spare.
  setenv("OMP_NUM_THREADS", std::to_string(a.threads).c_str(), 1);
  const OtherProgram base = ask_program(a.base);
  const OtherProgram now = ask_program(a.now);
  const std::vector<KernelGroup> plan = plan_one(a, base, now);
  const ImageSet images = duel_images(plan, a.options);
  DuelSettings settings;
  settings.seed = coin_seed(*a.command, a.options);
  const auto make_plan = [&](const DuelSettings& own) { return kernel_duel(plan, base, now, images, own); };
  return tell_selftest(a, command_line,
                       {make_plan, settings, plan.front().pairs.front().id, a.base, a.now, &images, note});
}

int selftest_of_programs(DuelArguments& a, const CommandLine& command_line) {
  const ProgramDuelOptions& options = a.programs.duel;
  const bool has_one_case = options.cases.size() <= 1 && options.metrics.size() == 1;
  if (!has_one_case) throw UserError("--selftest: expected one case and one metric");
  if (!options.is_worker) {
    if (std::ranges::any_of(a.levels, [](int level) { return level > 0; })) {
      throw UserError("--levels: only a worker can be asked for more work (--worker); of a command, 0 alone");
    }
    a.levels = {0};
  }
  DuelSettings settings = a.settings;
  settings.pilot_rounds = 0;
  settings.seed = coin_seed(*a.command, a.options);
  const auto make_plan = [&](const DuelSettings& own) { return program_duel(options, own); };
  const std::string id = options.cases.empty() ? "command" : options.cases.front().name;
  return tell_selftest(a, command_line,
                       {make_plan, settings, id, options.base.command, options.now.command, nullptr, ""});
}

}  // namespace convladder

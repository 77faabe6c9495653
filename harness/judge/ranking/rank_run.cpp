#include "harness/judge/ranking/rank_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "devices/cpu/cpu_facts.hpp"
#include "harness/measure/cases/case_loop.hpp"
#include "harness/measure/cases/cases_at_a_time.hpp"
#include "harness/measure/cases/stage_device.hpp"
#include "harness/measure/machine/quality.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/plan.hpp"
#include "harness/measure/records/recorded_case.hpp"
#include "harness/measure/statistics/statistics.hpp"
#include "support/errors.hpp"
#include "support/units.hpp"

namespace convladder {

using Clock = std::chrono::steady_clock;

namespace {

constexpr int kRoundsToChoose = 10;  // for stages that might be the baseline
constexpr int kMostAttempts = 3;     // where the machine, or the baseline, spoils a measurement
constexpr double kHostStepSeconds = 10;
constexpr double kHostSecondsPerFlop = 5e-9;

/// The outcomes of cases that were run side by side, by id.
using Outcomes = std::map<std::string, CaseOutcome>;

/// Thrown for a submission that answers each step in time and takes too long all the same.
struct OverTheLimit {};

double seconds_from(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// The number of groups that each device will measure; they share the time of its ceilings.
std::map<std::string, int> groups_of_devices(const RankPlan& plan) {
  std::map<std::string, int> groups;
  for (const RankingPlan& ranking : plan.rankings) {
    const std::size_t pairs = ranking.sizes.size() * (ranking.submissions.size() + 1);
    if (pairs > 0) groups[ranking.device] += static_cast<int>(pairs);
  }
  return groups;
}

class RankRun {
 public:
  RankRun(const RankPlan& plan, const RankOptions& options, const ImageSet& images, RankRecord& record,
          std::FILE* lines)
      : plan_(plan),
        options_(options),
        record_(record),
        loop_(options.run, images, {lines, count_left(), groups_of_devices(plan)}) {}

  RankOutcome run() {
    std::vector<std::optional<RankBaseline>> baselines;
    for (const RankingPlan& ranking : plan_.rankings) {
      leave_out_sizes(ranking);
      baselines.push_back(choose_baseline(ranking));
      if (baselines.back()) measure_submissions(ranking, *baselines.back());
    }
    RankOutcome outcome;
    for (std::size_t i = 0; i < plan_.rankings.size(); ++i) {
      outcome.results.push_back(result_of(plan_.rankings[i], baselines[i], record_.cases(), options_.tau));
    }
    record_.complete(outcome.results);
    outcome.notes = std::move(notes_);
    for (std::string& line : checker_lines(looks_)) outcome.notes.push_back(std::move(line));
    for (std::string& line : missing_protections()) outcome.notes.push_back(std::move(line));
    if (std::string line = processors_of_untrusted_stages(); !line.empty()) outcome.notes.push_back(std::move(line));
    std::vector<Quality> timed;
    for (const auto& [id, one] : record_.cases()) {
      if (one.quality) timed.push_back(*one.quality);
    }
    std::string line = quality_line(timed, usable_cores());
    if (const std::size_t at = line.find(kRunKind.file()); at != std::string::npos) {
      line.replace(at, kRunKind.file().size(), kRankKind.file());
    }
    if (!line.empty()) outcome.notes.push_back(line);
    return outcome;
  }

 private:
  int count_left() const {
    int count = 0;
    const auto add = [&](const RankEntry& entry) {
      for (const PlannedCase& planned : entry.cases) count += record_.has(planned.id) || !planned.runs() ? 0 : 1;
    };
    for (const RankingPlan& ranking : plan_.rankings) {
      const bool libraries = std::ranges::find(ranking.own, RankRole::library, &RankEntry::role) != ranking.own.end();
      for (const RankEntry& entry : ranking.own) {
        if ((entry.role == RankRole::library) == libraries) add(entry);
      }
      for (const RankEntry& entry : ranking.submissions) add(entry);
    }
    return count;
  }

  void add(const RankEntry& entry, std::size_t size, const RankedOutcome& ranked, const std::string& baseline) {
    const PlannedCase& planned = entry.cases[size];
    if (ranked.outcome->checkers) looks_.push_back(checker_look(*ranked.outcome->checkers));
    if (ranked.outcome->counters) {
      if (std::string line = beside_line(planned.id, *ranked.outcome->counters); !line.empty()) notes_.push_back(line);
    }
    RankedOutcome told = ranked;
    told.keep = ranked.keep && ranked.outcome->status != Status::not_judged;
    const RankCase& one = record_.add(entry, planned, told, baseline);
    // The reason for not running an entry is shown once, in the table.
    if (entry.cases[size].runs() && ranked.outcome->status != Status::skipped) {
      loop_.progress().finished(line_of(one));
    }
  }

  static std::string line_of(const RankCase& one) {
    const std::string begin = fmt::format("{:<16} {}", one.status, one.id);
    if (one.status != Status::ok) return fmt::format("{}: {}", begin, one.reason);
    if (!one.samples.empty()) return fmt::format("{}  {} measured", begin, time_text(median(one.samples)));
    if (one.predicted) {
      return fmt::format("{}  {} to {} predicted", begin, time_text(one.predicted->low),
                         time_text(one.predicted->high));
    }
    return fmt::format("{}  {:.4g} cycles counted", begin, one.cycles.value_or(0));
  }

  /// Records a case that is not run here, with its reason.
  void add_without_run(const RankEntry& entry, std::size_t size, const CaseOutcome& outcome) {
    add(entry, size, {.outcome = &outcome, .beside = nullptr, .baseline = {}, .seconds = 0, .keep = false}, "");
  }

  bool add_if_not_run(const RankEntry& entry, std::size_t size) {
    if (entry.cases[size].runs()) return false;
    CaseOutcome outcome = outcome_without_run(entry.cases[size]);
    if (!entry.broken.empty()) outcome.reason = entry.broken;
    add_without_run(entry, size, outcome);
    return true;
  }

  /// Records sizes without room for a submission and its baseline side by side as skipped: the other sizes are
  /// measured. Nobody has a rank then, since a rank takes all sizes.
  void leave_out_sizes(const RankingPlan& ranking) {
    without_room_.clear();
    const bool paired = ranking.has_clock && !takes_one_process(ranking.device);
    for (std::size_t size = 0; size < ranking.sizes.size(); ++size) {
      const ProblemSize& shape = ranking.sizes[size].shape;
      std::string why = why_no_room(ranking.device, shape, paired ? 2 : 1);
      if (why.empty() && paired && cases_at_a_time(ranking.device, shape, 2) < 2) {
        why = "a submission and its baseline do not fit side by side";
      }
      if (why.empty()) continue;
      without_room_.insert(size);
      notes_.push_back(fmt::format("{} is left out on {}: {}", ranking.sizes[size].layer, ranking.device, why));
      for (const auto* const entries : {&ranking.own, &ranking.submissions}) {
        for (const RankEntry& entry : *entries) {
          if (size >= entry.cases.size() || record_.has(entry.cases[size].id) || add_if_not_run(entry, size)) continue;
          add_without_run(entry, size, outcome_without_run(entry.cases[size], Status::skipped, why));
        }
      }
    }
  }

  // --- the baseline ---

  /// An entry's figure on a size for choosing the baseline: a time, or a count instead.
  std::optional<double> choosing_figure(const RankEntry& entry, std::size_t size) const {
    if (size >= entry.cases.size() || !record_.has(entry.cases[size].id)) return std::nullopt;
    const RankCase& one = record_.at(entry.cases[size].id);
    if (one.status != Status::ok) return std::nullopt;
    if (!one.samples.empty()) return median(one.samples);
    if (one.predicted) return std::sqrt(one.predicted->low * one.predicted->high);
    return one.cycles;
  }

  /// Chooses among the ladder's own candidates the best that is right on every size. None if there is none.
  std::optional<RankBaseline> choose_own(const RankingPlan& ranking, const std::vector<std::size_t>& candidates) {
    for (std::size_t size = 0; size < ranking.sizes.size(); ++size) {
      std::vector<PlannedCase> cases;
      for (const std::size_t which : candidates) {
        const RankEntry& entry = ranking.own[which];
        if (size >= entry.cases.size() || record_.has(entry.cases[size].id) || add_if_not_run(entry, size)) continue;
        cases.push_back(entry.cases[size]);
      }
      if (cases.empty()) continue;
      RunOptions run = options_for(ranking, size);
      run.max_samples = std::min(run.max_samples, kRoundsToChoose);
      run.fewest_samples = RunOptions().fewest_samples;
      const Clock::time_point begin = Clock::now();
      const Outcomes outcomes = run_cases(cases, ranking, size, run, std::nullopt);
      for (const std::size_t which : candidates) {
        const RankEntry& entry = ranking.own[which];
        const auto found = size < entry.cases.size() ? outcomes.find(entry.cases[size].id) : outcomes.end();
        if (found == outcomes.end()) continue;
        add(entry, size, {.outcome = &found->second, .beside = nullptr, .baseline = {}, .seconds = seconds_from(begin)},
            "");
      }
    }
    std::vector<std::vector<std::optional<double>>> figures;
    for (const std::size_t which : candidates) {
      figures.emplace_back();
      for (std::size_t size = 0; size < ranking.sizes.size(); ++size) {
        if (without_room_.contains(size)) continue;
        figures.back().push_back(choosing_figure(ranking.own[which], size));
      }
    }
    const std::optional<std::size_t> best = best_of(figures);
    if (!best) return std::nullopt;
    const std::size_t which = candidates[*best];
    return RankBaseline{ranking.own[which].role, which, figures_of(ranking, ranking.own[which])};
  }

  /// The kind of the ranking's figures: counts where the baseline has no prediction.
  std::string figures_of(const RankingPlan& ranking, const RankEntry& baseline) const {
    if (ranking.has_clock) return ranking.figures();
    const bool all = std::ranges::all_of(baseline.cases, [&](const PlannedCase& planned) {
      const RankCase& one = record_.at(planned.id);
      return one.predicted.has_value() || one.status == Status::skipped;
    });
    return all ? "predicted" : "counted";
  }

  std::optional<RankBaseline> choose_baseline(const RankingPlan& ranking) {
    if (ranking.sizes.size() == without_room_.size()) return std::nullopt;
    // A stage of another family cannot be the baseline of this one.
    const bool is_named = !options_.against.empty() &&
                          std::ranges::find(ranking.own, options_.against, &RankEntry::name) != ranking.own.end();
    for (const RankRole role : {RankRole::library, RankRole::stage}) {
      std::vector<std::size_t> candidates;
      for (std::size_t i = 0; i < ranking.own.size(); ++i) {
        const RankEntry& entry = ranking.own[i];
        if (entry.role == role && (!is_named || entry.name == options_.against)) candidates.push_back(i);
      }
      if (candidates.empty()) continue;
      if (const auto chosen = choose_own(ranking, candidates)) return chosen;
      say_why_not(ranking, candidates);
    }
    if (is_named) {
      throw UserError(fmt::format("--against {}: it is not right on every size, so nothing can be measured against it",
                                  options_.against));
    }
    return choose_first(ranking);
  }

  void say_why_not(const RankingPlan& ranking, const std::vector<std::size_t>& candidates) {
    for (const std::size_t which : candidates) {
      const RankEntry& entry = ranking.own[which];
      std::string why = entry.broken;
      for (const PlannedCase& planned : entry.cases) {
        if (!why.empty() || !record_.has(planned.id)) continue;
        const RankCase& one = record_.at(planned.id);
        if (one.status != Status::ok) why = fmt::format("{}: {}", one.status, one.reason);
      }
      notes_.push_back(
          fmt::format("{} {} is no baseline on {}: {}", role_name(entry.role), entry.name, ranking.device, why));
    }
  }

  /// Where the ladder has no baseline: the first submission that is right on every size.
  std::optional<RankBaseline> choose_first(const RankingPlan& ranking) {
    for (std::size_t which = 0; which < ranking.submissions.size(); ++which) {
      const RankEntry& entry = ranking.submissions[which];
      if (!entry.broken.empty()) continue;
      bool good = true;
      for (std::size_t size = 0; size < ranking.sizes.size(); ++size) {
        if (without_room_.contains(size)) continue;
        // Its measurements beside another baseline say nothing about it as the baseline.
        const std::string& id = entry.cases[size].id;
        record_.drop([&](const RankCase& one) {
          return one.id == id && !one.made_of.baseline.empty() && one.status == Status::ok;
        });
        if (!record_.has(id)) good = measure_beside(ranking, entry, nullptr, size, good) && good;
        good = good && record_.at(entry.cases[size].id).status == Status::ok;
      }
      if (good) return RankBaseline{RankRole::submission, which, figures_of(ranking, entry)};
    }
    return std::nullopt;
  }

  // --- the submissions ---

  void measure_submissions(const RankingPlan& ranking, const RankBaseline& chosen) {
    const bool is_submission = chosen.role == RankRole::submission;
    const RankEntry& baseline = (is_submission ? ranking.submissions : ranking.own)[chosen.entry];
    forget_others(ranking, baseline);
    std::set<const RankEntry*> failed;
    for (std::size_t size = 0; size < ranking.sizes.size(); ++size) {
      for (const RankEntry& entry : ranking.submissions) {
        if (size >= entry.cases.size() || &entry == &baseline) continue;
        const bool good = record_.has(entry.cases[size].id) ||
                          measure_beside(ranking, entry, &baseline, size, !failed.contains(&entry));
        if (!good || is_failure(record_.at(entry.cases[size].id).status)) failed.insert(&entry);
      }
    }
  }

  /// Drops results that were measured beside another baseline than today's, so that they are measured again.
  void forget_others(const RankingPlan& ranking, const RankEntry& baseline) {
    if (!ranking.has_clock) return;  // each was counted alone
    std::set<std::string> ids;
    for (const RankEntry& entry : ranking.submissions) {
      if (&entry == &baseline) continue;
      for (const PlannedCase& planned : entry.cases) ids.insert(planned.id);
    }
    record_.drop([&](const RankCase& one) {
      return ids.contains(one.id) && one.made_of.baseline != baseline.content && one.status == Status::ok;
    });
  }

  /// Measures and records one submission on one size. `go_on`: it has not failed before; after a failure its other
  /// sizes are skipped. Without a baseline, and where nothing is timed, it is measured alone. False if it failed.
  bool measure_beside(const RankingPlan& ranking, const RankEntry& entry, const RankEntry* baseline, std::size_t size,
                      bool go_on) {
    if (add_if_not_run(entry, size)) return true;
    if (!go_on) {
      add_without_run(
          entry, size,
          outcome_without_run(entry.cases[size], Status::skipped, "not run: it has failed on another size"));
      return false;
    }
    const PlannedCase& planned = entry.cases[size];
    std::vector<PlannedCase> cases;
    if (baseline != nullptr && ranking.has_clock) {
      cases.push_back(baseline->cases[size]);
      if (takes_one_process(ranking.device)) {
        throw UserError(
            fmt::format("{}: a submission and its baseline cannot be measured side by side on {}, "
                        "which takes one process at a time (exclusive mode)",
                        planned.work.name(), ranking.device));
      }
    }
    cases.push_back(planned);
    const RunOptions run = options_for(ranking, size);
    const Clock::time_point begin = Clock::now();
    Outcomes outcomes;
    bool keep = true;
    for (int attempt = 0; attempt < 2; ++attempt) {
      outcomes = run_submission(cases, planned, ranking, size, run);
      // A submission that fails beside a good baseline has failed; where the baseline itself fails, it gets a second
      // chance.
      const CaseOutcome& beside = outcomes[cases.front().id];
      if (cases.size() == 1 || beside.status == Status::ok || outcomes[planned.id].status != Status::ok) break;
      if (attempt == 0) continue;
      outcomes[planned.id] = outcome_without_run(
          planned, Status::skipped,
          fmt::format("the baseline {} beside it: {}: {}", baseline->name, beside.status, beside.reason));
      keep = false;
    }
    const bool paired = cases.size() > 1;
    add(entry, size,
        {.outcome = &outcomes[planned.id],
         .beside = paired ? &outcomes[cases.front().id] : nullptr,
         .baseline = paired ? baseline->name : std::string(),
         .seconds = seconds_from(begin),
         .keep = keep},
        paired ? baseline->content : std::string());
    return !is_failure(outcomes[planned.id].status);
  }

  // --- cases, side by side ---

  /// The options of the ranking, with the limit on a step for its device and that size.
  RunOptions options_for(const RankingPlan& ranking, std::size_t size) const {
    RunOptions run = options_.run;
    const DeviceKind& kind = find_device_kind(ranking.device);
    if (!run.timeout_seconds && kind.has_clock && kind.speed == nullptr) {
      run.timeout_seconds = kHostStepSeconds + kHostSecondsPerFlop * ranking.sizes[size].shape.flop();
    }
    return run;
  }

  /// Runs a submission, beside its baseline if there is one; both may take the options' limit. A fault of the machine
  /// that names it is no fault of the ranking: it is not judged. Throws MachineFault, UserError.
  Outcomes run_submission(const std::vector<PlannedCase>& cases, const PlannedCase& submission,
                          const RankingPlan& ranking, std::size_t size, const RunOptions& run) {
    const auto all_end = [&](Status status, const std::string& reason) {
      Outcomes outcomes;
      for (const PlannedCase& one : cases) outcomes[one.id] = outcome_without_run(one, status, reason);
      return outcomes;
    };
    try {
      return run_cases(cases, ranking, size, run, options_.limit_seconds);
    } catch (const OverTheLimit&) {
      return all_end(Status::timeout, fmt::format("it had not ended after {:g} s (--limit)", options_.limit_seconds));
    } catch (const MachineFault& fault) {
      if (std::string_view(fault.what()).find(submission.id) == std::string_view::npos) throw;
      return all_end(Status::not_judged, fault.what());
    }
  }

  /// Runs cases of one size: again, at most twice, where the machine failed or was too busy to judge one of them.
  Outcomes run_cases(const std::vector<PlannedCase>& cases, const RankingPlan& ranking, std::size_t size,
                     const RunOptions& run, const std::optional<double>& limit_seconds) {
    for (int attempt = 1;; ++attempt) {
      try {
        Outcomes outcomes = run_cases_once(cases, ranking, size, run, limit_seconds);
        const bool all_judged =
            std::ranges::none_of(outcomes, [](const auto& one) { return one.second.status == Status::not_judged; });
        if (all_judged || attempt == kMostAttempts) return outcomes;
      } catch (const MachineFault&) {
        if (attempt == kMostAttempts) throw;
      }
    }
  }

  /// Runs cases of one size. All processes that run a submission's code are started below this function and nowhere
  /// else, confined as every stage of a folder is (start_case_process).
  Outcomes run_cases_once(const std::vector<PlannedCase>& cases, const RankingPlan& ranking, std::size_t size,
                          const RunOptions& run, const std::optional<double>& limit_seconds) {
    Outcomes outcomes;
    std::map<std::string, int> verified;  // how often verifying began
    const Workload& workload = loop_.workload(ranking.sizes[size], ranking.has_clock);
    loop_.before_group(ranking.device);
    for (const PlannedCase& one : cases) loop_.forget(one.id);  // it may have been in a group of another size
    const Clock::time_point begin = Clock::now();
    loop_.run(cases, workload, run,
              {.finished =
                   [&](const PlannedCase& planned, const CaseOutcome& outcome) {
                     // Measured alone, it was in no round of the baseline.
                     outcomes[planned.id] = verified[planned.id] > 1
                                                ? outcome_without_run(planned, Status::launch_failed,
                                                                      "there is no memory for it beside the baseline")
                                                : outcome;
                   },
               .phase_started =
                   [&](const PlannedCase& planned, const char* phase) {
                     if (std::string_view(phase) == "verifying") ++verified[planned.id];
                     if (limit_seconds && seconds_from(begin) > *limit_seconds) throw OverTheLimit();
                   }});
    return outcomes;
  }

  const RankPlan& plan_;
  const RankOptions& options_;
  RankRecord& record_;
  CaseLoop loop_;
  std::vector<std::string> notes_;
  std::vector<CheckerLook> looks_;      ///< at the cases that were run now
  std::set<std::size_t> without_room_;  ///< sizes of the current ranking
};

}  // namespace

RankOutcome run_ranking(const RankPlan& plan, const RankOptions& options, const ImageSet& images, RankRecord& record,
                        std::FILE* lines) {
  return RankRun(plan, options, images, record, lines).run();
}

}  // namespace convladder

#include "harness/judge/duel/duel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <span>
#include <utility>

#include "harness/judge/compare/change_text.hpp"
#include "harness/measure/isolation/one_cpu.hpp"
#include "harness/measure/machine/machine_load.hpp"
#include "harness/measure/machine/noise.hpp"
#include "harness/measure/machine/quiet.hpp"
#include "harness/measure/statistics/signed_rank.hpp"
#include "support/errors.hpp"
#include "support/seeded_random.hpp"

namespace convladder {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostControlRounds = 120;
constexpr double kSecondsForCauses = 60;  // for all pairs; the next one is not begun after that
constexpr int kControlEvery = 3;          // sweeps of the confirmation

/// A pair with the results so far, one for each of its metrics.
struct Contest {
  DuelPair* pair = nullptr;
  std::vector<DuelCase*> results;
  std::unique_ptr<DuelSide> base;  ///< open during the screen
  std::unique_ptr<DuelSide> now;
  SlotLength length;
  bool is_calibrated = false;
  int screen_rounds = 0;
  int confirm_rounds = 0;
  bool has_ended = false;  ///< with a failure, or because the machine was too busy

  bool measured() const { return !has_ended; }
  void fail(const SideFailure& failure) {
    base.reset();
    now.reset();
    has_ended = true;
    for (DuelCase* const result : results) {
      result->verdict = failure.is_the_machines ? CaseVerdict::inconclusive : CaseVerdict::failed;
      result->reason = failure.what();
      result->screened.reset();  // the screen's result shows nothing of it
    }
  }
};

struct ContestGroup {
  DuelGroup* group;
  std::vector<Contest> contests;
};

class Duel {
 public:
  Duel(const DuelPlan& plan, const DuelSettings& settings, const DuelListener& listener)
      : settings_(settings), limits_(settings.limits), listener_(listener) {
    std::size_t cases = 0;
    for (const auto& group : plan) {
      for (const auto& pair : group->pairs) cases += std::max<std::size_t>(pair->metrics().size(), 1);
    }
    result_.cases.reserve(cases);  // contests point into it
    for (const auto& group : plan) add_group(*group);
  }

  DuelResult run() {
    for (ContestGroup& group : groups_) screen_group(group);
    confirm();
    judge_stability();
    find_causes();
    result_.most_rounds = limits_.most_rounds;
    for (const ContestGroup& group : groups_) {
      for (std::string& note : group.group->notes()) result_.notes.push_back(std::move(note));
    }
    result_.control_outcome = judge_control(differences(result_.control), limits_.verdict.alpha);
    return std::move(result_);
  }

 private:
  void add_group(DuelGroup& group) {
    ContestGroup contests{&group, {}};
    for (const auto& pair : group.pairs) {
      Contest contest;
      contest.pair = pair.get();
      std::vector<DuelMetric> metrics = pair->metrics();
      if (metrics.empty()) metrics.emplace_back();  // of a pair that cannot be measured
      for (DuelMetric& metric : metrics) {
        DuelCase& one = result_.cases.emplace_back();
        one.id = metrics.size() == 1 ? pair->id() : fmt::format("{}: {}", pair->id(), metric.name);
        one.device = group.device();
        one.base_variant = pair->base_name();
        one.new_variant = pair->new_name();
        one.group = group.title();
        one.metric = metric;
        one.is_predicted = group.is_predicted();
        one.verdict = pair->verdict();
        one.reason = pair->reason();
        contest.results.push_back(&one);
      }
      if (!pair->runs()) continue;
      cases_to_judge_ += metrics.size();
      contests.contests.push_back(std::move(contest));
      rounds_planned_ += limits_.screen_rounds;
    }
    if (!contests.contests.empty()) groups_.push_back(std::move(contests));
  }

  void show(const char* phase, const std::string& id) {
    listener_.phase(phase, id, double(rounds_done_) / static_cast<double>(rounds_planned_));
  }

  bool coin(const std::string& what, std::size_t round) const {
    return duel_coin(settings_.seed, what, static_cast<int>(round));
  }

  /// Screens a group: both sides of all pairs are open, as many pairs as fit the memory, and take their rounds in
  /// turns.
  void screen_group(ContestGroup& group) {
    if (const std::string why = group.group->why_no_room(); !why.empty()) {
      for (Contest& contest : group.contests) {
        for (DuelCase* const result : contest.results) {
          result->verdict = CaseVerdict::skipped;
          result->reason = why;
        }
        rounds_planned_ -= limits_.screen_rounds;
      }
      group.contests.clear();
      return;
    }
    if (settings_.wait_until_quiet_seconds > 0) {
      wait_until_quiet(
          std::max(group.group->host_threads(), 1), settings_.wait_until_quiet_seconds,
          [&](const std::string& others, double /*left*/) { show("waiting until the machine is quiet:", others); });
    }
    group_threads_ = group.group->host_threads();
    group.group->begin();
    std::vector<Contest>& contests = group.contests;
    for (std::size_t first = 0; first < contests.size();) {
      const std::size_t count = group.group->open_at_a_time(contests.size() - first);
      screen_wave({contests.begin() + static_cast<std::ptrdiff_t>(first), count});
      first += count;
    }
    group.group->end();
  }

  /// Starts the `number`th pair of processes of a screen. The first pair determines the length of a slot.
  void open(Contest& contest, std::size_t number) {
    DuelPair& pair = *contest.pair;
    show("verifying", pair.id());
    const OneCpu both(settings_.seed + text_hash(pair.id()) + number, pair.has_one_thread());
    // A coin also decides which process starts first.
    if (coin(pair.id() + " start", number)) {
      contest.base = pair.open(Role::base);
      contest.now = pair.open(Role::now);
    } else {
      contest.now = pair.open(Role::now);
      contest.base = pair.open(Role::base);
    }
    if (!contest.is_calibrated) {
      contest.length = pair.calibrate(*contest.base, *contest.now);
      contest.is_calibrated = true;
      for (DuelCase* const result : contest.results) result->length = contest.length;
    }
    pair.warm_up(*contest.base, Role::base);
    pair.warm_up(*contest.now, Role::now);
  }

  /// Verifies both sides once more and ends their processes.
  static void close(Contest& contest) {
    contest.base->verify_after();
    contest.now->verify_after();
    contest.pair->verify_together(*contest.base, *contest.now);
    contest.base.reset();
    contest.now.reset();
  }

  /// Starts a fresh pair for every contest of the wave that has not failed: a pair's luck with the placement of code
  /// and data must not affect a second round.
  void open_wave(std::span<Contest> wave, int sweep) {
    for (Contest& contest : wave) {
      if (!contest.measured()) continue;
      try {
        if (contest.base) close(contest);
        open(contest, static_cast<std::size_t>(sweep));
        if (!is_piloted_) pilot(contest);
      } catch (const SideFailure& failure) {
        contest.fail(failure);
      }
    }
  }

  /// Rounds of the base against itself, before everything else: they tell how long the duel will take, and what it
  /// will find. They count for the control, too.
  void pilot(const Contest& contest) {
    is_piloted_ = true;
    if (settings_.pilot_rounds == 0 || contest.results.front()->is_predicted) return;
    MachineWatch machine;
    machine.look();
    const auto begin = Clock::now();
    for (int round = 0; round < settings_.pilot_rounds; ++round) control_round(contest);
    if (result_.control.size() < 2) return;
    const auto rounds = static_cast<int>(result_.control.size());
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count() / rounds;
    if (settings_.budget_seconds) {
      limits_.most_rounds =
          std::clamp(static_cast<int>(*settings_.budget_seconds / seconds / static_cast<double>(pairs())),
                     kFewestConfirmRounds, kMostDuelRounds);
    }
    const int threads = contest.pair->has_one_thread() ? 1 : group_threads_;
    result_.pilot = {contest.pair->id(), rounds, seconds,
                     foresee(differences(result_.control), limits_, cases_to_judge_),
                     noise_text(noise_sources(machine.load_since(begin), processor_traits(), threads))};
    listener_.pilot(*result_.pilot, limits_.most_rounds);
  }

  std::size_t pairs() const {
    std::size_t count = 0;
    for (const ContestGroup& group : groups_) count += group.contests.size();
    return count;
  }

  void screen_wave(std::span<Contest> wave) {
    SeededRandom random(settings_.seed, text_hash(wave.front().pair->id()));
    for (int sweep = 0; sweep < limits_.screen_rounds; ++sweep) {
      open_wave(wave, sweep);
      std::vector<Contest*> order;
      for (Contest& contest : wave) {
        if (contest.measured()) order.push_back(&contest);
      }
      if (order.empty()) break;
      Contest& opponent = *order.front();  // its own opponent: the control, anywhere in the sweep
      const auto control_at = static_cast<std::size_t>(random.between(0, static_cast<int>(order.size()) - 1));
      shuffle(order, random);
      for (std::size_t i = 0; i < order.size(); ++i) {
        if (i == control_at) control_round(opponent);
        screen_round(*order[i]);
      }
    }
    for (Contest& contest : wave) end_screen(contest);
  }

  void screen_round(Contest& contest) {
    show("screening", contest.pair->id());
    const auto number = static_cast<std::size_t>(contest.screen_rounds++);
    const OneCpu both(settings_.seed + text_hash(contest.pair->id()) + number, contest.pair->has_one_thread());
    try {
      const std::vector<DuelRound> rounds =
          measure_round(*contest.base, *contest.now, coin(contest.pair->id() + " screen", number));
      for (std::size_t i = 0; i < rounds.size(); ++i) contest.results[i]->screen.push_back(rounds[i]);
    } catch (const SideFailure& failure) {
      contest.fail(failure);
    }
    ++rounds_done_;
  }

  void end_screen(Contest& contest) {
    if (!contest.measured()) return;
    try {
      close(contest);
    } catch (const SideFailure& failure) {
      contest.fail(failure);
      return;
    }
    for (DuelCase* const result : contest.results) {
      const Screened screened = screen(differences(result->screen, result->metric.higher_is_better), limits_);
      result->screened = screened.bounds;
      if (!screened.flagged) result->verdict = CaseVerdict::pass;
    }
  }

  /// Measures a round between two processes that are started for it, the outer one first, warmed up by a slot each, and
  /// verified again at its end. Only the coin decides which is which, so that two equal sides can be exchanged.
  static std::vector<DuelRound> fresh_round(DuelPair& pair, Role base_role, Role new_role, bool base_outside) {
    const Role outer_role = base_outside ? base_role : new_role;
    const Role inner_role = base_outside ? new_role : base_role;
    const std::unique_ptr<DuelSide> outer = pair.open(outer_role);
    const std::unique_ptr<DuelSide> inner = pair.open(inner_role);
    pair.warm_up(*outer, outer_role);
    pair.warm_up(*inner, inner_role);
    std::vector<DuelRound> rounds =
        base_outside ? measure_round(*outer, *inner, true) : measure_round(*inner, *outer, false);
    outer->verify_after();
    inner->verify_after();
    pair.verify_together(base_outside ? *outer : *inner, base_outside ? *inner : *outer);
    return rounds;
  }

  /// A round of the base against itself, in two processes of their own.
  void control_round(const Contest& contest) {
    if (result_.control.size() >= kMostControlRounds || !result_.control_failure.empty()) return;
    DuelPair& pair = *contest.pair;
    show("control", pair.id());
    const OneCpu both(result_.control.size(), pair.has_one_thread());
    try {
      const bool base_outside = coin(pair.id() + " control", result_.control.size());
      DuelRound round = fresh_round(pair, Role::base, Role::base, base_outside).front();
      result_.control.push_back(round);
      result_.control_id = pair.id();
    } catch (const SideFailure& failure) {
      result_.control_failure = failure.what();
    }
  }

  /// Measures every undecided case with fresh data and fresh processes, until a look decides it.
  void confirm() {
    std::vector<DuelCase*> flagged;
    for (ContestGroup& group : groups_) {
      for (Contest& contest : group.contests) {
        if (!contest.measured()) continue;
        for (DuelCase* const result : contest.results) {
          if (result->verdict == CaseVerdict::inconclusive) flagged.push_back(result);
        }
      }
    }
    if (flagged.empty()) return;
    Confirmation confirmation(limits_, flagged.size());
    for (ContestGroup& group : groups_) {
      for (const Contest& contest : group.contests) {
        if (!open_results(contest, flagged, confirmation).empty()) rounds_planned_ += limits_.most_rounds;
      }
    }
    for (const int look : confirmation.looks()) {
      for (ContestGroup& group : groups_) confirm_group(group, flagged, confirmation, look);
      confirmation.look();
      if (confirmation.over()) break;
    }
    for (std::size_t i = 0; i < flagged.size(); ++i) {
      if (flagged[i]->screened) conclude(*flagged[i], confirmation.cases()[i]);
    }
  }

  /// The contest's results that no look has decided, by their numbers in `flagged`.
  static std::vector<std::size_t> open_results(const Contest& contest, const std::vector<DuelCase*>& flagged,
                                               const Confirmation& confirmation) {
    std::vector<std::size_t> open;
    if (!contest.measured()) return open;
    for (std::size_t i = 0; i < flagged.size(); ++i) {
      const bool is_its = std::ranges::find(contest.results, flagged[i]) != contest.results.end();
      if (is_its && !confirmation.cases()[i].decided) open.push_back(i);
    }
    return open;
  }

  void confirm_group(ContestGroup& group, const std::vector<DuelCase*>& flagged, Confirmation& confirmation, int look) {
    std::vector<Contest*> open;
    for (Contest& contest : group.contests) {
      if (!open_results(contest, flagged, confirmation).empty()) open.push_back(&contest);
    }
    if (open.empty()) return;
    group.group->begin();
    SeededRandom random(settings_.seed,
                        text_hash(group.contests.front().pair->id()) + static_cast<std::uint64_t>(look));
    for (int sweep = 0;; ++sweep) {
      std::erase_if(open, [&](const Contest* one) { return !one->measured() || one->confirm_rounds >= look; });
      if (open.empty()) break;
      if (sweep % kControlEvery == 0) control_round(*open.front());
      shuffle(open, random);
      for (Contest* const contest : open) confirm_round(*contest, flagged, confirmation);
    }
    group.group->end();
  }

  void confirm_round(Contest& contest, const std::vector<DuelCase*>& flagged, Confirmation& confirmation) {
    DuelPair& pair = *contest.pair;
    show("confirming", pair.id());
    const std::vector<std::size_t> open = open_results(contest, flagged, confirmation);
    const auto number = static_cast<std::size_t>(contest.confirm_rounds++);
    const OneCpu both(number, pair.has_one_thread());
    try {
      const std::vector<DuelRound> rounds =
          fresh_round(pair, Role::base, Role::now, coin(pair.id() + " confirm", number));
      for (const std::size_t i : open) {
        DuelCase& result = *flagged[i];
        const auto metric = std::ranges::find(contest.results, &result) - contest.results.begin();
        result.confirm.push_back(rounds[static_cast<std::size_t>(metric)]);
        confirmation.add(i, differences({result.confirm.back()}, result.metric.higher_is_better).front());
      }
    } catch (const SideFailure& failure) {
      contest.fail(failure);
      for (const std::size_t i : open) confirmation.withdraw(i);
    }
    ++rounds_done_;
  }

  void conclude(DuelCase& one, const Confirmation::Case& confirmed) const {
    one.verdict = case_verdict(confirmed.verdict);
    one.confirmed = confirmed.bounds;
    one.p_slower = confirmed.p_slower;
    one.p_faster = confirmed.p_faster;
    const VerdictLimits& limits = limits_.verdict;
    const double looks = static_cast<double>(confirm_looks(limits_.most_rounds).size());
    if (one.metric.is_time()) one.cycles = signed_rank_bounds(cycle_differences(one.confirm), limits.alpha / looks);
    if (one.cycles && only_the_clock(confirmed.verdict, *one.cycles, limits.tau)) {
      one.verdict = CaseVerdict::inconclusive;
      one.reason = fmt::format("the clock of the device changed: in cycles it is {}%, bounds {}%",
                               change_text(one.cycles), bounds_text(one.cycles));
      return;
    }
    if (confirmed.verdict != Verdict::inconclusive || !confirmed.bounds) return;
    const auto rounds = static_cast<int>(confirmed.differences.size());
    one.rounds_wanting = rounds_wanting(*confirmed.bounds, rounds, limits);
    one.reason = why_inconclusive(one, rounds);
  }

  static std::string why_inconclusive(const DuelCase& one, int rounds) {
    if (!one.rounds_wanting) {
      return "too close to a limit, or too much scatter: more rounds like these would not decide it";
    }
    const int wanted = rounds + *one.rounds_wanting;
    return fmt::format("about {} more rounds, judging by the observed spread: {}", *one.rounds_wanting,
                       wanted <= kMostDuelRounds ? fmt::format("--rounds {}", wanted)
                                                 : "use a quieter machine or fewer threads instead");
  }

  void judge_stability() {
    for (ContestGroup& group : groups_) {
      for (const Contest& contest : group.contests) {
        for (std::size_t metric = 0; metric < contest.results.size(); ++metric) {
          DuelCase& one = *contest.results[metric];
          one.base_runs = contest.pair->values_of_runs(Role::base, metric);
          one.new_runs = contest.pair->values_of_runs(Role::now, metric);
          judge_runs(one);
        }
      }
    }
  }

  void find_causes() {
    const auto begin = Clock::now();
    int left = 0;
    for (ContestGroup& group : groups_) {
      for (const Contest& contest : group.contests) {
        const auto moved = [](const DuelCase* one) {
          return one->verdict == CaseVerdict::regressed || one->verdict == CaseVerdict::improved;
        };
        if (std::ranges::none_of(contest.results, moved)) continue;
        if (std::chrono::duration<double>(Clock::now() - begin).count() > kSecondsForCauses) {
          ++left;
          continue;
        }
        show("looking for the cause of", contest.pair->id());
        const std::vector<std::string> causes = contest.pair->causes();
        for (DuelCase* const one : contest.results) {
          if (moved(one)) one->causes = causes;
        }
      }
    }
    if (left > 0)
      result_.notes.push_back(fmt::format("no time was left to look for the causes of {} more cases", left));
  }

  const DuelSettings& settings_;
  DuelLimits limits_;
  const DuelListener& listener_;
  DuelResult result_;
  std::deque<ContestGroup> groups_;
  std::size_t cases_to_judge_ = 0;
  int group_threads_ = 0;
  bool is_piloted_ = false;
  long rounds_planned_ = 0;
  long rounds_done_ = 0;
};

/// Says of a side whose values fall into two groups that they do; empty if they do not. A pass is judged by its runs
/// alone: slots that pass lie close together.
std::string two_groups_text(const DuelCase& one, Role role) {
  std::vector<double> values = role == Role::base ? one.base_runs : one.new_runs;
  const bool are_slots = values.empty();
  if (are_slots && one.verdict == CaseVerdict::pass) return {};
  if (are_slots) {
    for (const DuelRound& round : one.decisive_rounds()) {
      for (const double value : role == Role::base ? round.of_base() : round.of_new()) values.push_back(value);
    }
  }
  const std::optional<TwoGroups> groups = two_groups(values);
  if (!groups) return {};
  return fmt::format("{}: unstable: its {} fall into two groups, around {} and {}", role_name(role),
                     are_slots ? "values" : "runs", metric_text(one.metric, groups->lower),
                     metric_text(one.metric, groups->upper));
}

}  // namespace

void judge_runs(DuelCase& one) {
  if (one.verdict != CaseVerdict::pass && one.verdict != CaseVerdict::inconclusive) return;
  const std::string texts[] = {two_groups_text(one, Role::base), two_groups_text(one, Role::now)};
  for (const std::string& text : texts) {
    if (text.empty()) continue;
    one.verdict = CaseVerdict::inconclusive;
    one.reason += (one.reason.empty() ? "" : "; ") + text;
  }
}

int DuelResult::count(CaseVerdict verdict) const {
  return static_cast<int>(std::ranges::count(cases, verdict, &DuelCase::verdict));
}

bool DuelResult::contaminated() const { return control_outcome && control_outcome->contaminated; }

int DuelResult::exit_code() const {
  if (!same.empty()) return kExitOk;
  const bool measured = std::ranges::any_of(cases, [](const DuelCase& one) { return one.screened.has_value(); });
  if (count(CaseVerdict::failed) > 0) return kExitCasesFailed;
  if (!measured || !control_outcome || contaminated()) return kExitIncomplete;
  if (count(CaseVerdict::regressed) > 0) return kExitCasesFailed;
  if (count(CaseVerdict::missing) > 0) return kExitIncomplete;
  return count(CaseVerdict::inconclusive) > 0 ? kExitInconclusive : kExitOk;
}

DuelResult run_duel(const DuelPlan& plan, const DuelSettings& settings, const DuelListener& listener) {
  return Duel(plan, settings, listener).run();
}

}  // namespace convladder

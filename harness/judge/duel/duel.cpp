#include "harness/judge/duel/duel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "harness/judge/compare/change_text.hpp"
#include "harness/measure/cases/cases_at_a_time.hpp"
#include "harness/measure/cases/checked_stage.hpp"
#include "harness/measure/cases/measurement.hpp"
#include "harness/measure/cases/workload.hpp"
#include "harness/measure/isolation/one_cpu.hpp"
#include "harness/measure/machine/quiet.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/estimate.hpp"
#include "harness/measure/records/recorded_case.hpp"
#include "harness/measure/statistics/signed_rank.hpp"
#include "support/errors.hpp"
#include "support/seeded_random.hpp"

namespace convladder {
namespace {

constexpr int kMostControlRounds = 120;
constexpr int kControlEvery = 3;  // sweeps of the confirmation

/// A pair with the results so far.
struct Contest {
  const DuelPair* pair;
  DuelCase* result;
  std::unique_ptr<DuelSide> base;  // open during the screen
  std::unique_ptr<DuelSide> now;

  bool has_ended = false;  ///< with a failure, or because the machine was too busy

  bool measured() const { return !has_ended; }
  void fail(const SideFailure& failure) {
    base.reset();
    now.reset();
    has_ended = true;
    result->verdict = failure.is_the_machines ? CaseVerdict::inconclusive : CaseVerdict::failed;
    result->reason = failure.what();
    result->screened.reset();  // the screen's result shows nothing of it
  }
};

struct ContestGroup {
  const DuelGroup* group;
  std::vector<Contest> contests;
};

class Duel {
 public:
  Duel(const std::vector<DuelGroup>& plan, const OtherProgram& base, const OtherProgram& now, const ImageSet& images,
       const DuelSettings& settings, const DuelPhase& phase)
      : base_(base),
        now_(now),
        images_(images),
        settings_(settings),
        phase_(phase),
        ceilings_(RunOptions{}, groups_of(plan)) {
    std::size_t pairs = 0;
    for (const DuelGroup& group : plan) pairs += group.pairs.size();
    result_.cases.reserve(pairs);  // contests point into it
    for (const DuelGroup& group : plan) add_group(group);
  }

  DuelResult run() {
    for (ContestGroup& group : groups_) screen_group(group);
    confirm();
    result_.control_outcome = judge_control(differences(result_.control), settings_.limits.verdict.alpha);
    for (std::string& line : checker_lines(looks_)) result_.notes.push_back(std::move(line));
    return std::move(result_);
  }

 private:
  static std::map<std::string, int> groups_of(const std::vector<DuelGroup>& plan) {
    std::map<std::string, int> groups;
    for (const DuelGroup& group : plan) ++groups[group.device];
    return groups;
  }

  void add_group(const DuelGroup& group) {
    ContestGroup contests{&group, {}};
    for (const DuelPair& pair : group.pairs) {
      DuelCase& one = result_.cases.emplace_back();
      one.id = pair.id;
      one.device = group.device;
      one.base_variant = pair.base_variant;
      one.new_variant = pair.new_variant;
      one.group = fmt::format("{}, batch {}, on {}", group.work.name(), group.work.shape.batch, group.device);
      one.verdict = pair.verdict;
      one.reason = pair.reason;
      if (!pair.runs()) continue;
      contests.contests.push_back({&pair, &one, nullptr, nullptr});
      rounds_planned_ += settings_.limits.screen_rounds;
    }
    if (!contests.contests.empty()) groups_.push_back(std::move(contests));
  }

  void show(const char* phase, const std::string& id) { phase_(phase, id, double(rounds_done_) / rounds_planned_); }

  double timeout(const DuelPair& pair) const {
    const ProblemSize& shape = pair.base.work.shape;
    return step_timeout_seconds(settings_.timeout_seconds, {shape.flop(), case_bytes(shape)},
                                find_device_kind(pair.base.device));
  }
  SideSetting base_side(const DuelPair& pair, const Workload& workload) {
    return {"base", base_.path, pair.base, workload, timeout(pair), settings_.seed, &judge_, 0};
  }
  SideSetting new_side(const DuelPair& pair, const Workload& workload) {
    return {"new", now_.path, pair.now, workload, timeout(pair), settings_.seed, &judge_, settings_.extra_percent};
  }
  bool coin(const std::string& what, std::size_t round) const {
    return duel_coin(settings_.seed, what, static_cast<int>(round));
  }

  /// Screens a group: both sides of all pairs are open, as many pairs as fit the memory, and take their rounds in
  /// turns.
  void screen_group(ContestGroup& group) {
    if (const std::string why = why_no_room(group.group->device, group.group->work.shape, 2); !why.empty()) {
      for (Contest& contest : group.contests) {
        contest.result->verdict = CaseVerdict::skipped;
        contest.result->reason = why;
        rounds_planned_ -= settings_.limits.screen_rounds;
      }
      group.contests.clear();
      return;
    }
    if (settings_.wait_until_quiet_seconds > 0) {
      wait_until_quiet(
          host_threads_of(group.group->device), settings_.wait_until_quiet_seconds,
          [&](const std::string& others, double /*left*/) { show("waiting until the machine is quiet:", others); });
    }
    ceilings_.before_group(group.group->device);
    const Workload workload(group.group->work, images_, settings_.seed);
    std::vector<Contest>& contests = group.contests;
    for (std::size_t first = 0; first < contests.size();) {
      const std::size_t count =
          cases_at_a_time(group.group->device, group.group->work.shape, contests.size() - first, 2);
      screen_wave({contests.begin() + static_cast<std::ptrdiff_t>(first), count}, workload);
      first += count;
    }
  }

  /// Starts the `number`th pair of processes of a screen. The first pair determines the length of a slot.
  void open(Contest& contest, const Workload& workload, std::size_t number) {
    machine_.look();
    const DuelPair& pair = *contest.pair;
    show("verifying", pair.id);
    const OneCpu both(settings_.seed + text_hash(pair.id) + number);
    // A coin also decides which process starts first.
    if (coin(pair.id + " start", number)) {
      contest.base = std::make_unique<DuelSide>(base_side(pair, workload));
      contest.now = std::make_unique<DuelSide>(new_side(pair, workload));
    } else {
      contest.now = std::make_unique<DuelSide>(new_side(pair, workload));
      contest.base = std::make_unique<DuelSide>(base_side(pair, workload));
    }
    if (number == 0) {
      const int replayed_calls = std::min(contest.base->replayed_calls(), contest.now->replayed_calls());
      contest.result->length = contest.base->calibrate(settings_.extra_percent, replayed_calls);
    }
    contest.base->slot(contest.result->length);
    contest.now->slot(contest.result->length);
  }

  /// Verifies both sides once more and ends their processes.
  static void close(Contest& contest) {
    contest.base->verify_after();
    contest.now->verify_after();
    contest.base.reset();
    contest.now.reset();
  }

  /// Starts a fresh pair for every contest of the wave that has not failed: a pair's luck with the placement of code
  /// and data must not affect a second round.
  void open_wave(std::span<Contest> wave, const Workload& workload, int sweep) {
    for (Contest& contest : wave) {
      if (!contest.measured()) continue;
      try {
        if (contest.base) close(contest);
        open(contest, workload, static_cast<std::size_t>(sweep));
        if (sweep == 0) look_at_code(contest, workload);
      } catch (const SideFailure& failure) {
        contest.fail(failure);
      }
    }
  }

  /// Has the checkers look at both sides' code, where it is no part of a build. Throws SideFailure for a side that is
  /// right by luck.
  void look_at_code(const Contest& contest, const Workload& workload) {
    look_at_side("base", contest.pair->base, workload);
    look_at_side("new", contest.pair->now, workload);
  }
  void look_at_side(const char* role, const PlannedCase& planned, const Workload& workload) {
    if (!is_to_be_checked(planned)) return;
    const std::optional<LayerWork> work = checked_work(planned);
    const auto [looked_at, is_new] =
        looked_at_.try_emplace({planned.variant.variant->compiled_stage()->build.library, work ? work->name() : ""});
    StageFindings& found = looked_at->second;
    if (is_new) {
      show("checking", planned.id);
      RunOptions options;
      options.seed = settings_.seed;
      options.timeout_seconds = settings_.timeout_seconds;
      found = look_at_stage(planned, work, images_, options, &workload);
      looks_.push_back(checker_look(found));
    }
    if (found.count() > 0) throw SideFailure(fmt::format("{}: {}: {}", role, Status::unsafe, found.in_one_line()));
  }

  void screen_wave(std::span<Contest> wave, const Workload& workload) {
    SeededRandom random(settings_.seed, text_hash(wave.front().pair->id));
    for (int sweep = 0; sweep < settings_.limits.screen_rounds; ++sweep) {
      open_wave(wave, workload, sweep);
      std::vector<Contest*> order;
      for (Contest& contest : wave) {
        if (contest.measured()) order.push_back(&contest);
      }
      if (order.empty()) break;
      Contest& opponent = *order.front();  // its own opponent: the control, anywhere in the sweep
      const auto control_at = static_cast<std::size_t>(random.between(0, static_cast<int>(order.size()) - 1));
      shuffle(order, random);
      for (std::size_t i = 0; i < order.size(); ++i) {
        if (i == control_at) control_round(opponent, workload);
        screen_round(*order[i]);
      }
    }
    for (Contest& contest : wave) end_screen(contest);
  }

  void screen_round(Contest& contest) {
    show("screening", contest.pair->id);
    std::vector<DuelRound>& rounds = contest.result->screen;
    try {
      rounds.push_back(measure_round(*contest.base, *contest.now, coin(contest.pair->id + " screen", rounds.size()),
                                     contest.result->length));
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
    const Screened screened = screen(differences(contest.result->screen), settings_.limits);
    contest.result->screened = screened.bounds;
    if (!screened.flagged) contest.result->verdict = CaseVerdict::pass;
  }

  /// A round of the base against itself, in two processes of their own.
  void control_round(const Contest& contest, const Workload& workload) {
    if (result_.control.size() >= kMostControlRounds || !result_.control_failure.empty()) return;
    show("control", contest.pair->id);
    const SideSetting side = base_side(*contest.pair, workload);
    const OneCpu both(result_.control.size());
    try {
      result_.control.push_back(measure_fresh_round(
          side, side, coin(contest.pair->id + " control", result_.control.size()), contest.result->length));
      result_.control_id = contest.pair->base.id;
    } catch (const SideFailure& failure) {
      result_.control_failure = failure.what();
    }
  }

  /// Measures every undecided case with fresh data and fresh processes, until a look decides it.
  void confirm() {
    std::vector<Contest*> flagged;
    for (ContestGroup& group : groups_) {
      for (Contest& contest : group.contests) {
        if (contest.measured() && contest.result->verdict == CaseVerdict::inconclusive) flagged.push_back(&contest);
      }
    }
    if (flagged.empty()) return;
    Confirmation confirmation(settings_.limits, flagged.size());
    rounds_planned_ += static_cast<long>(flagged.size()) * settings_.limits.most_rounds;
    for (const int look : confirmation.looks()) {
      for (ContestGroup& group : groups_) confirm_group(group, flagged, confirmation, look);
      confirmation.look();
      if (confirmation.over()) break;
    }
    for (std::size_t i = 0; i < flagged.size(); ++i) {
      if (flagged[i]->measured()) conclude(*flagged[i]->result, confirmation.cases()[i]);
    }
  }

  void confirm_group(ContestGroup& group, const std::vector<Contest*>& flagged, Confirmation& confirmation, int look) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < flagged.size(); ++i) {
      const bool here = std::ranges::any_of(group.contests, [&](const Contest& c) { return &c == flagged[i]; });
      if (here && flagged[i]->measured() && !confirmation.cases()[i].decided) open.push_back(i);
    }
    if (open.empty()) return;
    const Workload workload(group.group->work, images_, settings_.seed);
    SeededRandom random(settings_.seed, text_hash(group.contests.front().pair->id) + static_cast<std::uint64_t>(look));
    for (int sweep = 0;; ++sweep) {
      std::erase_if(open, [&](std::size_t i) {
        return !flagged[i]->measured() || static_cast<int>(flagged[i]->result->confirm.size()) >= look;
      });
      if (open.empty()) return;
      if (sweep % kControlEvery == 0) control_round(*flagged[open.front()], workload);
      shuffle(open, random);
      for (const std::size_t i : open) confirm_round(*flagged[i], workload, confirmation, i);
    }
  }

  void confirm_round(Contest& contest, const Workload& workload, Confirmation& confirmation, std::size_t index) {
    const DuelPair& pair = *contest.pair;
    show("confirming", pair.id);
    machine_.look();
    std::vector<DuelRound>& rounds = contest.result->confirm;
    const OneCpu both(rounds.size());
    try {
      rounds.push_back(measure_fresh_round(base_side(pair, workload), new_side(pair, workload),
                                           coin(pair.id + " confirm", rounds.size()), contest.result->length));
      confirmation.add(index, rounds.back().difference());
    } catch (const SideFailure& failure) {
      contest.fail(failure);
      confirmation.withdraw(index);
    }
    ++rounds_done_;
  }

  void conclude(DuelCase& one, const Confirmation::Case& confirmed) const {
    one.verdict = case_verdict(confirmed.verdict);
    one.confirmed = confirmed.bounds;
    one.p_slower = confirmed.p_slower;
    one.p_faster = confirmed.p_faster;
    const VerdictLimits& limits = settings_.limits.verdict;
    const double looks = static_cast<double>(confirm_looks(settings_.limits.most_rounds).size());
    one.cycles = signed_rank_bounds(cycle_differences(one.confirm), limits.alpha / looks);
    if (one.cycles && only_the_clock(confirmed.verdict, *one.cycles, limits.tau)) {
      one.verdict = CaseVerdict::inconclusive;
      one.reason = fmt::format("the clock of the device changed: in cycles it is {}%, bounds {}%",
                               change_text(one.cycles), bounds_text(one.cycles));
      return;
    }
    if (confirmed.verdict != Verdict::inconclusive || !confirmed.bounds) return;
    const auto rounds = static_cast<int>(confirmed.differences.size());
    one.rounds_wanting = rounds_wanting(*confirmed.bounds, rounds, limits);
    if (!one.rounds_wanting) {
      one.reason = "too close to a limit, or too much scatter: more rounds like these would not decide it";
      return;
    }
    const int wanted = rounds + *one.rounds_wanting;
    one.reason = fmt::format("about {} more rounds, judging by the observed spread: {}", *one.rounds_wanting,
                             wanted <= kMostDuelRounds ? fmt::format("--rounds {}", wanted)
                                                       : "use a quieter machine or fewer threads instead");
  }

  const OtherProgram& base_;
  const OtherProgram& now_;
  const ImageSet& images_;
  const DuelSettings& settings_;
  const DuelPhase& phase_;
  CeilingSampler ceilings_;
  MachineWatch machine_;
  TimeJudge judge_{ceilings_, machine_};
  DuelResult result_;
  std::deque<ContestGroup> groups_;
  std::map<std::pair<std::filesystem::path, std::string>, StageFindings> looked_at_;  ///< by library and size
  std::vector<CheckerLook> looks_;
  long rounds_planned_ = 0;
  long rounds_done_ = 0;
};

}  // namespace

int DuelResult::count(CaseVerdict verdict) const {
  return static_cast<int>(std::ranges::count(cases, verdict, &DuelCase::verdict));
}

bool DuelResult::contaminated() const { return control_outcome && control_outcome->contaminated; }

int DuelResult::exit_code() const {
  const bool measured = std::ranges::any_of(cases, [](const DuelCase& one) { return one.screened.has_value(); });
  if (count(CaseVerdict::failed) > 0) return kExitCasesFailed;
  if (!measured || !control_outcome || contaminated()) return kExitIncomplete;
  if (count(CaseVerdict::regressed) > 0) return kExitCasesFailed;
  if (count(CaseVerdict::missing) > 0) return kExitIncomplete;
  return count(CaseVerdict::inconclusive) > 0 ? kExitInconclusive : kExitOk;
}

DuelResult run_duel(const std::vector<DuelGroup>& plan, const OtherProgram& base, const OtherProgram& now,
                    const ImageSet& images, const DuelSettings& settings, const DuelPhase& phase) {
  return Duel(plan, base, now, images, settings, phase).run();
}

}  // namespace convladder

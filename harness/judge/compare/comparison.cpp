#include "harness/judge/compare/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "harness/judge/compare/comparability.hpp"
#include "harness/judge/compare/counter_comparison.hpp"
#include "harness/judge/compare/recorded_change.hpp"
#include "harness/measure/statistics/statistics.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "support/text_pattern.hpp"

namespace convladder {
namespace {

std::string joined(const std::vector<std::string>& texts) { return fmt::format("{}", fmt::join(texts, "; ")); }

/// The cases of a record by their ids.
class CasesById {
 public:
  explicit CasesById(const RecordedRun& run) {
    for (const RecordedCase& one : run.cases) cases_.emplace(one.id, &one);
  }
  /// The case with this id; null if there is none.
  const RecordedCase* find(std::string_view id) const {
    const auto found = cases_.find(id);
    return found == cases_.end() ? nullptr : found->second;
  }

 private:
  std::map<std::string_view, const RecordedCase*> cases_;
};

std::string group_name(const RecordedCase& one) {
  return fmt::format("{}.{}, batch {}, on {}", one.network, one.layer, one.batch, one.device);
}

/// A case of both records whose times can be set against each other, and where its result stands.
struct Pair {
  const RecordedCase* base;
  const RecordedCase* now;
  std::size_t result;

  double estimate() const { return std::log(median(now->time->samples)) - std::log(median(base->time->samples)); }
  /// The number of rounds that both cases have in both records.
  std::size_t rounds_with(const Pair& other) const {
    return std::min({base->time->samples.size(), now->time->samples.size(), other.base->time->samples.size(),
                     other.now->time->samples.size()});
  }
  bool interleaved_with(const Pair& other) const {
    return base->session == other.base->session && now->session == other.now->session;
  }
};

// Samples that lie so far apart, and so many times further than those of the other record, had company.
constexpr double kMuchSpread = 0.1;
constexpr double kFarMore = 3;

/// How far the samples lie apart, without the tenth at either end: the logarithm of a ratio.
double spread(std::vector<double> samples) {
  std::ranges::sort(samples);
  const std::size_t tenth = samples.size() / 10;
  return std::log(samples[samples.size() - 1 - tenth]) - std::log(samples[tenth]);
}

class Comparer {
 public:
  Comparer(const RecordedRun& base, const RecordedRun& now, const ComparisonOptions& options)
      : result_{.base = base, .now = now, .options = options, .cases = {}, .notes = context_notes(base, now)},
        filter_("--case", options.case_filter) {
    require_known_controls();
  }

  Comparison compare() {
    const CasesById base(result_.base);
    const CasesById now(result_.now);
    for (const RecordedCase& one : result_.base.cases) add(&one, now.find(one.id));
    for (const RecordedCase& one : result_.now.cases) {
      if (base.find(one.id) == nullptr) add(nullptr, &one);
    }
    add_unfinished(base, now);
    for (const Pair& pair : pairs_) judge_time(pair);
    explain_by_counters(result_.cases);
    // Filtered only here: a witness or a twin need not be among the selected cases.
    std::erase_if(result_.cases, [this](const ComparedCase& one) { return !filter_.matches(one.id); });
    return std::move(result_);
  }

 private:
  void require_known_controls() const {
    require_known("control", result_.options.controls, names_of(result_.base.cases, &RecordedCase::variant));
  }

  void add(const RecordedCase* base, const RecordedCase* now) {
    const RecordedCase& one = base != nullptr ? *base : *now;
    ComparedCase& compared = result_.cases.emplace_back();
    compared.id = one.id;
    compared.device = one.device;
    compared.variant = one.variant;
    compared.group = group_name(one);
    if (base != nullptr && base->time) compared.base_median_ns = median(base->time->samples);
    if (now != nullptr && now->time) {
      compared.new_median_ns = median(now->time->samples);
      compared.is_predicted = now->time->is_predicted;
    }
    if (base != nullptr) compared.base_disturbance = base->disturbance();
    if (now != nullptr) compared.new_disturbance = now->disturbance();
    if (settled_by_status(base, now, compared)) return;

    std::vector<std::string> differences = context_differences(result_.base, result_.now, one.device);
    std::ranges::move(case_differences(result_.base, *base, result_.now, *now), std::back_inserter(differences));
    if (!differences.empty()) {
      compared.verdict = CaseVerdict::incomparable;
      compared.reason = joined(differences);
    } else if (base->time) {
      pairs_.push_back({base, now, result_.cases.size() - 1});
      compared.control =
          base->library() || std::ranges::find(result_.options.controls, one.variant) != result_.options.controls.end();
    } else {
      compare_counters(*base->counters, *now->counters, compared);
    }
  }

  /// Whether the two statuses, either of which may be none, decide the verdict.
  static bool settled_by_status(const RecordedCase* base, const RecordedCase* now, ComparedCase& compared) {
    const auto settle = [&compared](CaseVerdict verdict, std::string reason) {
      compared.verdict = verdict;
      compared.reason = std::move(reason);
      return true;
    };
    const auto says = [](const char* where, const RecordedCase& one) {
      return fmt::format("{}: {}: {}", where, one.status, one.reason);
    };
    if (now != nullptr && now->failed()) return settle(CaseVerdict::failed, says("new", *now));
    if (base != nullptr && base->failed()) return settle(CaseVerdict::failed, says("base", *base));
    const bool base_ok = base != nullptr && base->ok();
    const bool new_ok = now != nullptr && now->ok();
    if (base_ok && new_ok) return false;
    if (base_ok) return settle(CaseVerdict::missing, now == nullptr ? "not in the new record" : says("new", *now));
    if (new_ok) return settle(CaseVerdict::added, base == nullptr ? "" : says("base", *base));
    return settle(CaseVerdict::skipped, says(now != nullptr ? "new" : "base", now != nullptr ? *now : *base));
  }

  /// Adds the cases that a record planned but does not hold: the run did not get there.
  void add_unfinished(const CasesById& base, const CasesById& now) {
    std::set<std::string> added;
    for (const RecordedRun* const run : {&result_.base, &result_.now}) {
      for (const std::string& id : run->planned) {
        if (base.find(id) != nullptr || now.find(id) != nullptr || !added.insert(id).second) continue;
        ComparedCase& compared = result_.cases.emplace_back();
        compared.id = id;
        compared.group = "planned, not run";
        compared.variant = id;
        compared.verdict = CaseVerdict::missing;
        compared.reason = fmt::format("planned in {}, but not run", run->file);
      }
    }
  }

  /// The case whose ratio shows whether the machine moved: a control of the same group; without one, the other case
  /// whose movement is in the middle, or if two are, the one that moved more like this one. None if nothing was
  /// interleaved.
  const Pair* witness_of(const Pair& pair) const {
    const ComparedCase& compared = result_.cases[pair.result];
    const Pair* control = nullptr;
    std::vector<const Pair*> others;
    for (const Pair& other : pairs_) {
      const ComparedCase& candidate = result_.cases[other.result];
      if (&other == &pair || candidate.group != compared.group || !pair.interleaved_with(other)) continue;
      others.push_back(&other);
      if (candidate.control && (control == nullptr || pair.rounds_with(other) > pair.rounds_with(*control))) {
        control = &other;
      }
    }
    if (control != nullptr) return control;
    if (others.empty()) return nullptr;
    std::ranges::stable_sort(others, {}, &Pair::estimate);
    const Pair* const lower = others[(others.size() - 1) / 2];
    const Pair* const upper = others[others.size() / 2];
    const double own = pair.estimate();
    return std::abs(own - upper->estimate()) < std::abs(own - lower->estimate()) ? upper : lower;
  }

  void judge_time(const Pair& pair) {
    ComparedCase& compared = result_.cases[pair.result];
    if (pair.base->time->samples == pair.now->time->samples) {
      compared.verdict = CaseVerdict::pass;
      compared.change = ChangeBounds{};
      compared.reason = "the same samples in both records";
      return;
    }
    const VerdictLimits& limits = result_.options.limits;
    compared.change = recorded_change(pair.base->time->samples, pair.now->time->samples, limits.alpha);
    const bool imported = !result_.now.context.imported_from.empty();  // from a program with other options
    const auto too_few = [&limits, imported](std::size_t count, const char* what) {
      return fmt::format("only {} {}; {} are needed at {:g}%: run with {} {} or more", count, what,
                         fewest_samples(limits.alpha), limits.alpha * 100, imported ? "repetitions:" : "--repetitions",
                         fewest_samples(limits.alpha));
    };
    if (!compared.change) {
      compared.reason = too_few(std::min(pair.base->time->samples.size(), pair.now->time->samples.size()), "samples");
      return;
    }
    if (compared.control) {
      judge_control(compared);
      return;
    }
    const Pair* const witness = witness_of(pair);
    if (witness == nullptr) {
      compared.reason = "nothing was measured beside it, so the machine's drift cannot be told from a change";
      return;
    }
    compared.witness = result_.cases[witness->result].variant;
    compared.beside = change_beside_witness({pair.base->time->samples, witness->base->time->samples},
                                            {pair.now->time->samples, witness->now->time->samples}, limits.alpha);
    if (!compared.beside) {
      compared.reason = too_few(pair.rounds_with(*witness), fmt::format("rounds beside {}", compared.witness).c_str());
      return;
    }
    judge_both(compared);
    const bool moved = compared.verdict == CaseVerdict::regressed || compared.verdict == CaseVerdict::improved;
    if (moved && !is_steady(*witness)) {
      compared.verdict = CaseVerdict::inconclusive;
      compared.reason =
          fmt::format("the witness {} is not steady between the records, so it shows nothing", compared.witness);
    } else if (moved) {
      add_caveats(pair, result_.cases[witness->result].control);
    }
  }

  /// Says beside a change why it may be the machine's. A neighbour that comes and goes spreads the samples of some
  /// cases and not of others, so no witness shows it.
  void add_caveats(const Pair& pair, bool has_control) {
    ComparedCase& compared = result_.cases[pair.result];
    const auto add_mark = [&compared](const char* side, const std::string& disturbance) {
      if (disturbance.empty()) return;
      compared.caveats.push_back(
          {disturbance.substr(0, disturbance.find(':')), fmt::format("{}: {}", side, disturbance)});
    };
    add_mark("base", compared.base_disturbance);
    add_mark("new", compared.new_disturbance);
    std::ranges::stable_sort(compared.caveats, {}, [](const Caveat& one) { return one.word != "disturbed"; });
    const double base = spread(pair.base->time->samples);
    const double now = spread(pair.now->time->samples);
    const auto [least, most] = std::minmax(base, now);
    const bool came_and_went = most > std::log1p(kMuchSpread) && most > kFarMore * least;
    if (most > std::abs(compared.change->estimate) || came_and_went) {
      compared.caveats.push_back(
          {"scatter", fmt::format("the samples of the {} record lie {:.0f}% apart, those of the other {:.0f}%",
                                  now > base ? "new" : "base", std::expm1(most) * 100, std::expm1(least) * 100)});
    }
    if (!has_control) {
      compared.caveats.push_back({"no control", "no control was timed beside it, so the machine's drift is unknown"});
    }
  }

  /// Whether it is shown that the witness itself moved by less than delta, up and down.
  bool is_steady(const Pair& witness) const {
    const VerdictLimits& limits = result_.options.limits;
    if (witness.base->time->samples == witness.now->time->samples) return true;
    const std::optional<ChangeBounds> change =
        recorded_change(witness.base->time->samples, witness.now->time->samples, limits.alpha);
    return change && change->high < std::log1p(limits.delta) && -change->low < std::log1p(limits.delta);
  }

  /// Judges a control. Its code is the same in both builds, so only the machine can have moved it.
  void judge_control(ComparedCase& compared) const {
    const Verdict verdict = judge(*compared.change, result_.options.limits);
    compared.verdict = verdict == Verdict::pass ? CaseVerdict::pass : CaseVerdict::inconclusive;
    if (verdict == Verdict::pass) {
      compared.reason = "control: the same code in both";
    } else if (verdict == Verdict::inconclusive) {
      compared.reason = "a control whose samples scatter too much to show how the machine moved";
    } else {
      compared.reason = "a control moved: the machine was not the same, the comparison is contaminated";
    }
  }

  /// Judges a case by its time and by its ratio to the witness; a verdict holds if both give it.
  void judge_both(ComparedCase& compared) const {
    const Verdict alone = judge(*compared.change, result_.options.limits);
    const Verdict beside = judge(*compared.beside, result_.options.limits);
    const double delta = std::log1p(result_.options.limits.delta);
    if (alone == beside) {
      compared.verdict = case_verdict(alone);
      if (alone == Verdict::inconclusive) compared.reason = "the samples scatter too much";
    } else if (alone != Verdict::regressed && beside != Verdict::regressed && compared.change->high < delta &&
               compared.beside->high < delta) {
      compared.verdict = CaseVerdict::pass;  // one of them is faster, the other at least not slower
    } else if (alone == Verdict::regressed && compared.beside->high < delta) {
      compared.reason = fmt::format("slower, but so is {}: the machine changed, or both did", compared.witness);
    } else if (beside == Verdict::regressed && compared.change->high < delta) {
      compared.reason =
          fmt::format("not slower, but {} is faster: the machine changed, or that variant did", compared.witness);
    } else {
      compared.reason =
          fmt::format("the time alone: {}, beside {}: {}", verdict_name(alone), compared.witness, verdict_name(beside));
    }
  }

  Comparison result_;
  TextPattern filter_;
  std::vector<Pair> pairs_;
};

}  // namespace

CaseVerdict case_verdict(Verdict verdict) {
  constexpr CaseVerdict verdicts[] = {CaseVerdict::pass, CaseVerdict::regressed, CaseVerdict::improved,
                                      CaseVerdict::inconclusive};
  return verdicts[static_cast<int>(verdict)];
}

std::string_view case_verdict_name(CaseVerdict verdict) {
  constexpr std::string_view names[] = {"pass",   "regressed", "improved", "inconclusive", "incomparable",
                                        "failed", "missing",   "new",      "skipped"};
  return names[static_cast<int>(verdict)];
}

int Comparison::count(CaseVerdict verdict) const {
  return static_cast<int>(std::ranges::count(cases, verdict, &ComparedCase::verdict));
}

int Comparison::exit_code() const {
  const auto any = [this](CaseVerdict verdict) { return count(verdict) > 0; };
  const bool nothing_compared = std::ranges::all_of(cases, [](const ComparedCase& one) {
    return one.verdict == CaseVerdict::added || one.verdict == CaseVerdict::skipped;
  });
  if (any(CaseVerdict::failed) || any(CaseVerdict::regressed)) return kExitCasesFailed;
  if (any(CaseVerdict::missing) || any(CaseVerdict::incomparable) || nothing_compared) return kExitIncomplete;
  return any(CaseVerdict::inconclusive) ? kExitInconclusive : kExitOk;
}

Comparison compare_runs(const RecordedRun& base, const RecordedRun& now, const ComparisonOptions& options) {
  return Comparer(base, now, options).compare();
}

}  // namespace convladder

#include "corpus/replay.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/judge/duel/duel_decision.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

RecordedCase case_of(const RunTrace& run, const RunTrace::Case& one, const std::vector<double>& samples) {
  RecordedCase recorded;
  recorded.variant = one.variant;
  recorded.device = "cpu";
  recorded.network = run.name;
  recorded.layer = "traced";
  recorded.batch = 1;
  recorded.id = fmt::format("cpu/{}/{}.traced/1", one.variant, run.name);
  recorded.rung = one.rung;
  TimeFigure& time = recorded.time.emplace();
  time.of = "layer";
  time.samples = samples;
  return recorded;
}

RecordedRun recorded_run(const RunTrace& run, const std::optional<Planted>& planted) {
  RecordedRun recorded;
  recorded.file = run.date;
  recorded.complete = true;
  recorded.context = *run.context;
  for (const RunTrace::Case& one : run.cases) {
    if (!stays(one.variant)) continue;
    const bool changed = planted && planted->variant == one.variant;
    recorded.cases.push_back(case_of(run, one, changed ? samples_of(run, planted->taken_from) : one.samples));
  }
  return recorded;
}

}  // namespace

bool stays(const std::string& variant) { return !variant.starts_with("work-") || variant.starts_with("work-100-"); }

const std::vector<double>& samples_of(const RunTrace& run, const std::string& variant) {
  const auto found = std::ranges::find(run.cases, variant, &RunTrace::Case::variant);
  if (found == run.cases.end()) throw UserError(fmt::format("the run of {} has no {}", run.date, variant));
  return found->samples;
}

ReplayedDuel replay_duel(const DuelTrace& trace) {
  const DuelLimits limits;
  ReplayedDuel replayed;
  const auto control = judge_control(differences(trace.control), limits.verdict.alpha);
  replayed.contaminated = control.value().contaminated;
  std::vector<double> screened = differences(trace.screen);
  screened.resize(static_cast<std::size_t>(limits.screen_rounds));
  replayed.rounds = limits.screen_rounds;
  if (!screen(screened, limits).flagged) {
    replayed.verdict = Verdict::pass;
    return replayed;
  }
  const std::vector<double> confirmed = differences(trace.confirm);
  Confirmation confirmation(limits, 1);
  for (const int look : confirmation.looks()) {
    const auto measured = [&] { return confirmation.cases().front().differences.size(); };
    while (measured() < static_cast<std::size_t>(look)) confirmation.add(0, confirmed.at(measured()));
    confirmation.look();
    if (confirmation.over()) break;
  }
  replayed.rounds += static_cast<int>(confirmation.cases().front().differences.size());
  replayed.verdict = confirmation.cases().front().verdict;
  return replayed;
}

std::vector<ComparedCase> replay_comparison(const RunPair& pair, const std::vector<std::string>& controls,
                                            const std::optional<Planted>& planted) {
  const RecordedRun base = recorded_run(*pair.base, std::nullopt);
  const RecordedRun now = recorded_run(*pair.now, planted);
  ComparisonOptions options;
  options.controls = controls;
  std::vector<ComparedCase> cases = compare_runs(base, now, options).cases;
  for (const ComparedCase& one : cases) {
    if (one.verdict == CaseVerdict::incomparable) {
      throw UserError(
          fmt::format("the runs of {} and {} are said to be of one machine, but {}", base.file, now.file, one.reason));
    }
  }
  return cases;
}

History replay_history(const std::vector<const RunTrace*>& runs, const std::optional<Planted>& planted,
                       std::size_t from) {
  HistoryRuns recorded;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    HistoryRun& one = recorded.runs.emplace_back();
    one.run = recorded_run(*runs[i], i >= from ? planted : std::nullopt);
    one.date = runs[i]->date;
    one.commit = "unknown";
    one.host = "traced";
  }
  return make_history(std::move(recorded), {});
}

}  // namespace convladder

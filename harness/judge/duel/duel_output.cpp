#include "harness/judge/duel/duel_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/judge/compare/change_text.hpp"
#include "harness/judge/compare/judged_report.hpp"
#include "harness/measure/cases/figures_json.hpp"
#include "harness/measure/isolation/child_process.hpp"
#include "harness/measure/machine/environment.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/records/case_json.hpp"
#include "harness/measure/statistics/statistics.hpp"
#include "support/errors.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"
#include "support/units.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr const char* kSelftestSchemaVersion = "1.0";

/// The median of one side's slots.
std::optional<double> side_median(const DuelCase& one, Role role) {
  std::vector<double> slots;
  for (const DuelRound& round : one.decisive_rounds()) {
    for (const double value : role == Role::base ? round.of_base() : round.of_new()) slots.push_back(value);
  }
  if (slots.empty()) return std::nullopt;
  return median(slots);
}

std::string median_text(const DuelCase& one, Role role) {
  const std::optional<double> value = side_median(one, role);
  return value ? metric_text(one.metric, *value) : std::string();
}

/// The change of the metric itself: where higher is better, what costs more is less of it.
std::optional<ChangeBounds> of_metric(const DuelCase& one, const std::optional<ChangeBounds>& change) {
  if (!change || !one.metric.higher_is_better) return change;
  return ChangeBounds{-change->estimate, -change->high, -change->low};
}

std::string side_text(const SideFacts& side) {
  const auto text = [](const std::string& told) { return told.empty() ? "unknown" : printable(told); };
  if (side.program) {
    return fmt::format("{}, {}",
                       program_text(side.path == kThisProgram ? "this program" : side.path, text(side.program->commit),
                                    side.program->dirty),
                       text(side.program->compiler));
  }
  return fmt::format("{}{}{}", printable(side.command), side.folder.empty() ? "" : ", in " + printable(side.folder),
                     side.variables.empty() ? "" : printable(fmt::format(", with {}", fmt::join(side.variables, " "))));
}

std::string metric_title(const DuelMetric& metric) {
  return metric.name + (metric.higher_is_better ? " (higher is better)" : "");
}

std::string variant_text(const DuelCase& one) {
  return one.base_variant == one.new_variant ? one.base_variant
                                             : fmt::format("{} .. {}", one.base_variant, one.new_variant);
}

std::string rounds_text(const DuelCase& one) {
  return one.confirm.empty() ? fmt::format("{}", one.screen.size())
                             : fmt::format("{} + {}", one.screen.size(), one.confirm.size());
}

/// The doubt about a case's verdict that the control leaves.
Caveat caveat_of(const DuelResult& result, const DuelCase& one) {
  const bool is_judged =
      one.verdict == CaseVerdict::regressed || one.verdict == CaseVerdict::improved || one.verdict == CaseVerdict::pass;
  if (!one.screened || !is_judged) return {};
  if (result.contaminated()) return {"contaminated", "the control moved, too: this shows nothing"};
  if (!result.control_outcome) return {"no control", "the control was not judged: this shows nothing"};
  return {};
}

/// The columns of a table beside the case's name.
std::vector<std::string> figures_of(const DuelResult& result, const DuelCase& one) {
  const std::optional<ChangeBounds> change = of_metric(one, one.change());
  return {median_text(one, Role::base),
          median_text(one, Role::now),
          change ? fmt::format("{:.3f}", std::exp(change->estimate)) : std::string(),
          bounds_text(change),
          rounds_text(one),
          verdict_text(one.verdict, caveat_of(result, one).word)};
}

std::string control_text(const DuelResult& result) {
  if (!result.control_failure.empty()) {
    return fmt::format("control: could not be measured, so nothing is shown: {}", result.control_failure);
  }
  if (!result.control_outcome) {
    return fmt::format("control: only {} rounds, too few to judge: nothing is shown", result.control.size());
  }
  const std::optional<ChangeBounds> bounds = result.control_outcome->bounds;
  return fmt::format("control: the base against itself moved by {}%, bounds {}%, in {} rounds{}", change_text(bounds),
                     bounds_text(bounds), result.control.size(),
                     result.contaminated() ? ": CONTAMINATED: the results above show nothing" : "");
}

std::string limits_text(const DuelReport& report) {
  const VerdictLimits& limits = report.settings.limits.verdict;
  return fmt::format(
      "regressed: shown to be above +{:g}%, wrong in at most {:g}% of duels for all cases together (Holm); pass: shown "
      "to be below +{:g}%, wrong in at most {:g}% for each case",
      limits.tau * 100, limits.alpha * 100, limits.delta * 100, limits.alpha * 100);
}

std::string exit_text(const DuelResult& result) {
  const int code = result.exit_code();
  const auto outcome = [&]() -> std::string_view {
    if (result.count(CaseVerdict::failed) > 0) return "a case failed";
    if (result.contaminated()) return "contaminated";
    if (code == kExitOk) return "pass";
    if (code == kExitCasesFailed) return "regressed";
    return code == kExitInconclusive ? "inconclusive" : "the duel is incomplete";
  };
  return fmt::format("{} (exit code {})", outcome(), code);
}

std::vector<std::string> all_notes(const DuelReport& report) {
  std::vector<std::string> notes = report.result.notes;
  if (report.settings.extra_percent > 0) {
    notes.push_back(
        fmt::format("{} % of extra work was added to the new side: a trial, not a measurement of the builds",
                    report.settings.extra_percent));
  }
  std::set<std::string> predicted;
  for (const DuelCase& one : report.result.cases) {
    if (one.screened && one.is_predicted) predicted.insert(one.device);
  }
  for (const std::string& device : predicted) {
    notes.push_back(
        fmt::format("the times on {} are those of a virtual clock: predicted, nothing was measured", device));
  }
  return notes;
}

ordered_json rounds_json(const std::vector<DuelRound>& rounds) {
  ordered_json list = ordered_json::array();
  for (const DuelRound& round : rounds) list.push_back(round_to_json(round));
  return list;
}

ordered_json case_json(const DuelResult& result, const DuelCase& one) {
  return {
      {"id", one.id},
      {"device", one.device},
      {"group", one.group},
      {"base_variant", one.base_variant},
      {"new_variant", one.new_variant},
      {"metric",
       {{"name", one.metric.name},
        {"unit", text_or_null(one.metric.unit)},
        {"better", one.metric.higher_is_better ? "higher" : "lower"}}},
      {"verdict", case_verdict_name(one.verdict)},
      {"reason", text_or_null(one.reason)},
      {"caveat", text_or_null(caveat_of(result, one).text)},
      {"iterations", one.length.iterations},
      {"sub_runs", one.length.sub_runs},
      {"replayed", one.length.replayed},
      {"base_median", or_null(side_median(one, Role::base))},
      {"new_median", or_null(side_median(one, Role::now))},
      {"kind",
       side_median(one, Role::now) ? ordered_json(one.is_predicted ? "predicted" : "measured") : ordered_json()},
      {"change", change_json(of_metric(one, one.change()))},
      {"cycles", change_json(one.cycles)},
      {"p_slower", or_null(one.p_slower)},
      {"p_faster", or_null(one.p_faster)},
      {"rounds_wanting", or_null(one.rounds_wanting)},
      {"causes", one.causes},
      {"runs", one.base_runs.empty() ? ordered_json() : ordered_json{{"base", one.base_runs}, {"new", one.new_runs}}},
      {"screen", {{"change", change_json(of_metric(one, one.screened))}, {"rounds", rounds_json(one.screen)}}},
      {"confirm", {{"change", change_json(of_metric(one, one.confirmed))}, {"rounds", rounds_json(one.confirm)}}}};
}

ordered_json pilot_json(const std::optional<Pilot>& pilot) {
  if (!pilot) return {};
  const Foresight& foresight = pilot->foresight;
  const bool is_known = foresight.rounds_for_delta <= kMostDuelRounds;
  return {{"id", pilot->id},
          {"rounds", pilot->rounds},
          {"round_seconds", pilot->round_seconds},
          {"scatter", foresight.scatter},
          {"finds", foresight.finds},
          {"rounds_for_delta", is_known ? ordered_json(foresight.rounds_for_delta) : ordered_json()},
          {"delta_is_promised", foresight.delta_is_promised},
          {"noise", text_or_null(pilot->noise)}};
}

ordered_json control_json(const DuelResult& result) {
  const std::optional<ControlOutcome>& outcome = result.control_outcome;
  return {{"id", text_or_null(result.control_id)},
          {"change", outcome ? change_json(outcome->bounds) : ordered_json()},
          {"contaminated", outcome ? ordered_json(outcome->contaminated) : ordered_json()},
          {"failure", text_or_null(result.control_failure)},
          {"rounds", rounds_json(result.control)}};
}

ordered_json side_json(const SideFacts& side) {
  if (side.program) return {{"path", side.path}, {"program", program_json(*side.program)}};
  return {{"command", side.command},
          {"folder", text_or_null(side.folder)},
          {"variables", side.variables},
          {"sha256", text_or_null(side.sha256)}};
}

ordered_json level_json(const SelftestLevel& level) {
  return {{"extra_percent", level.extra_percent},
          {"duels", level.runs},
          {"regressed", level.regressed},
          {"inconclusive", level.inconclusive},
          {"pass", level.passed},
          {"improved", level.improved},
          {"contaminated", level.contaminated},
          {"regressed_low", level.regressed_bounds.low},
          {"regressed_high", level.regressed_bounds.high}};
}

ordered_json run_json(const SelftestRun& run) {
  return {{"extra_percent", run.extra_percent},
          {"seed", run.seed},
          {"verdict", case_verdict_name(run.duel.verdict)},
          {"contaminated", run.contaminated},
          {"change", change_json(run.duel.change())},
          {"screen", differences(run.duel.screen)},
          {"confirm", differences(run.duel.confirm)}};
}

ordered_json selftest_json(const SelftestReport& report) {
  const SelftestResult& result = report.result;
  ordered_json levels = ordered_json::array();
  for (const SelftestLevel& level : result.levels()) levels.push_back(level_json(level));
  ordered_json runs = ordered_json::array();
  for (const SelftestRun& run : result.runs) runs.push_back(run_json(run));
  const VerdictLimits& limits = report.settings.limits.verdict;
  return {{"schema_version", kSelftestSchemaVersion},
          {"kind", "selftest"},
          {"case", report.id},
          {"base", report.base},
          {"new", report.now},
          {"neighbour", report.neighbour},
          {"threads", report.threads},
          {"settings",
           {{"tau", limits.tau}, {"delta", limits.delta}, {"alpha", limits.alpha}, {"seed", report.settings.seed}}},
          {"complete", !result.out_of_time},
          {"seconds", result.seconds},
          {"levels", std::move(levels)},
          {"runs", std::move(runs)}};
}

/// The document with the machine, the command line and the date.
std::string with_context(ordered_json document, const std::vector<std::string>& command_line, const ImageSet* images) {
  ordered_json context = environment_json();
  context["command_line"] = command_line;
  context["date"] = utc_now();
  context["dataset"] = images == nullptr ? ordered_json() : dataset_json(*images);
  document["context"] = std::move(context);
  return json_text(document);
}

}  // namespace

Report duel_report(const DuelReport& duel) {
  JudgedCases judged;
  judged.base = side_text(duel.base);
  judged.now = side_text(duel.now);
  if (!duel.base.program) judged.named = "case";
  judged.columns = {right("base"),        right("new"),    right("ratio"),
                    right("bounds", "%"), right("rounds"), left("verdict")};
  judged.remarks = {control_text(duel.result)};
  judged.notes = all_notes(duel);
  judged.limits = limits_text(duel);
  judged.outcome = exit_text(duel.result);
  judged.most_skipped = 2;  // more of them are only counted; Markdown and JSON list each
  for (const DuelCase& one : duel.result.cases) {
    const std::string title = fmt::format("{}, {} in turns, {}", one.group, one.is_predicted ? "predicted" : "measured",
                                          metric_title(one.metric));
    std::string why = one.reason;
    if (const Caveat caveat = caveat_of(duel.result, one); !caveat.text.empty()) {
      why += (why.empty() ? "" : "; ") + caveat.text;
    }
    if (!one.causes.empty()) why += fmt::format("{}{}", why.empty() ? "" : "; ", fmt::join(one.causes, "; "));
    judged.rows.push_back(
        {one.id, one.screened ? title : "", variant_text(one), figures_of(duel.result, one), one.verdict, why, why});
  }
  return judged_report(judged);
}

ordered_json duel_json(const DuelReport& report) {
  const DuelResult& result = report.result;
  const DuelLimits& limits = report.settings.limits;
  ordered_json cases = ordered_json::array();
  for (const DuelCase& one : result.cases) cases.push_back(case_json(result, one));
  ordered_json counts = ordered_json::object();
  for (const CaseVerdict verdict : kAllVerdicts) {
    counts[std::string(case_verdict_name(verdict))] = result.count(verdict);
  }
  return {{"schema_version", kDuelSchemaVersion},
          {"kind", "duel"},
          {"base", side_json(report.base)},
          {"new", side_json(report.now)},
          {"settings",
           {{"tau", limits.verdict.tau},
            {"delta", limits.verdict.delta},
            {"alpha", limits.verdict.alpha},
            {"screen_alpha", limits.screen_alpha},
            {"screen_rounds", limits.screen_rounds},
            {"looks", confirm_looks(result.most_rounds)},
            {"seed", report.settings.seed},
            {"extra_percent", report.settings.extra_percent}}},
          {"same", text_or_null(result.same)},
          {"pilot", pilot_json(result.pilot)},
          {"exit_code", result.exit_code()},
          {"counts", std::move(counts)},
          {"notes", all_notes(report)},
          {"control", control_json(result)},
          {"cases", std::move(cases)}};
}

std::string pilot_text(const Pilot& pilot, const DuelLimits& limits, int most_rounds) {
  const Foresight& foresight = pilot.foresight;
  const auto seconds = [&](int rounds) { return duration_text(rounds * pilot.round_seconds); };
  std::string text = pilot.noise.empty() ? std::string() : fmt::format("this machine: {}\n", pilot.noise);
  text += fmt::format("pilot: {} rounds of the base against itself scatter by {:.1f} %. ", pilot.rounds,
                      foresight.scatter * 100);
  if (foresight.rounds_for_delta > kMostDuelRounds) {
    return text + fmt::format("+{:g} % will hardly be seen here: {} rounds, about {}, show +{:.0f} % or more",
                              limits.verdict.delta * 100, most_rounds, seconds(most_rounds), foresight.finds * 100);
  }
  text += fmt::format("To see +{:g} % takes about {} rounds, {}", limits.verdict.delta * 100,
                      foresight.rounds_for_delta, seconds(foresight.rounds_for_delta));
  if (foresight.delta_is_promised) return text;
  return text + fmt::format("; there will be at most {}, which show +{:.1f} % or more (--rounds {})", most_rounds,
                            foresight.finds * 100, foresight.rounds_for_delta);
}

std::string duel_json_text(const DuelReport& report, const std::vector<std::string>& command_line,
                           const ImageSet* images) {
  return with_context(duel_json(report), command_line, images);
}

std::string selftest_json_text(const SelftestReport& report, const std::vector<std::string>& command_line,
                               const ImageSet* images) {
  return with_context(selftest_json(report), command_line, images);
}

ordered_json round_to_json(const DuelRound& round) {
  ordered_json json = {{"order", round.base_outside ? "ABBA" : "BAAB"}, {"values", round.values}};
  if (round.clock_mhz) json["clock_mhz"] = *round.clock_mhz;
  return json;
}
DuelRound round_from_json(const ordered_json& json) {
  DuelRound round{json.at("order").get<std::string>() == "ABBA", json.at("values").get<std::array<double, 4>>(), {}};
  if (json.contains("clock_mhz")) round.clock_mhz = json.at("clock_mhz").get<std::array<double, 4>>();
  return round;
}

std::vector<DuelRound> rounds_from_json(const ordered_json& json) {
  std::vector<DuelRound> rounds;
  for (const ordered_json& round : json) rounds.push_back(round_from_json(round));
  return rounds;
}

}  // namespace convladder

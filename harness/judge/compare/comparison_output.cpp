#include "harness/judge/compare/comparison_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "harness/judge/compare/change_text.hpp"
#include "harness/judge/compare/judged_report.hpp"
#include "harness/measure/cases/figures_json.hpp"
#include "harness/measure/records/record_context_json.hpp"
#include "support/errors.hpp"
#include "support/json_place.hpp"
#include "support/json_text.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

bool timed(const ComparedCase& one) { return one.base_median_ns && one.new_median_ns; }

/// A run as text: its file, the program that made it, its date and number of cases.
std::string run_text(const RecordedRun& run) {
  const RecordContext& context = run.context;
  return fmt::format("{}, {}, {}",
                     program_text(run.file, text_or_unknown(context.commit), context.dirty.value_or(false)),
                     text_or_unknown(context.date), plural(run.cases.size(), "case"));
}

/// How far the controls have moved, which should not: smaller changes cannot be seen between these two records.
std::string drift_text(const Comparison& comparison) {
  double lowest = 0;
  double highest = 0;
  std::size_t controls = 0;
  for (const ComparedCase& one : comparison.cases) {
    if (!one.control || !one.change) continue;
    lowest = controls == 0 ? one.change->estimate : std::min(lowest, one.change->estimate);
    highest = controls == 0 ? one.change->estimate : std::max(highest, one.change->estimate);
    ++controls;
  }
  if (controls == 0)
    return "no control: no library and no --control variant was timed in both records, so the drift is unknown";
  return fmt::format("{} moved by {:+.1f}% to {:+.1f}% between the records, measured", plural(controls, "control"),
                     percent(lowest), percent(highest));
}

std::vector<std::string> all_notes(const Comparison& comparison) {
  std::vector<std::string> notes = comparison.notes;
  const bool any_timed = std::ranges::any_of(comparison.cases, timed);
  if (any_timed) {
    notes.push_back(drift_text(comparison));
    notes.emplace_back(
        "two records cannot show a change smaller than the machine's drift between them; measuring both builds in "
        "turns can");
  }
  const auto counts_same = [](const ComparedCase& one) {
    return one.device == "simulated" && one.verdict == CaseVerdict::pass && one.counters.empty();
  };
  const auto same = std::ranges::count_if(comparison.cases, counts_same);
  if (same > 0) {
    notes.push_back(fmt::format("{} exactly the same counters",
                                plural(static_cast<std::size_t>(same), "counted case has", "counted cases have")));
  }
  for (const ComparedCase& one : comparison.cases) {
    if (one.cause.starts_with("latent")) notes.push_back(fmt::format("{}: {}", one.id, one.cause));
  }
  return notes;
}

/// The disturbances of both sides as text: "base: disturbed: others used 1.6 of 2 cores"; empty where both were
/// measured on a quiet machine.
std::string disturbance_text(const ComparedCase& one) {
  std::string text;
  if (!one.base_disturbance.empty()) text += "base: " + one.base_disturbance;
  if (!one.new_disturbance.empty()) text += (text.empty() ? "new: " : "; new: ") + one.new_disturbance;
  return text;
}

/// An entry for each case that was not measured on a quiet machine, except where it stands beside a change already.
void add_disturbances(ReportSection& section, const Comparison& comparison) {
  for (const ComparedCase& one : comparison.cases) {
    if (one.verdict == CaseVerdict::regressed || one.verdict == CaseVerdict::improved) continue;
    if (const std::string text = disturbance_text(one); !text.empty()) section.entry(one.id, {text});
  }
  if (!section.blocks.empty()) section.heading = "measured on a machine that was not quiet";
}

/// The bounds of a change that are shown: "+10.1%, at least +7.9%; beside onednn +10.0%, at least +8.2%".
std::string shown_text(const ComparedCase& one) {
  const auto side = [&one](const ChangeBounds& change) {
    const bool slower = one.verdict == CaseVerdict::regressed;
    return fmt::format("{:+.1f}%, {} {:+.1f}%", percent(change.estimate), slower ? "at least" : "at most",
                       percent(slower ? change.low : change.high));
  };
  if (!one.change) return {};
  std::string text = side(*one.change);
  if (one.beside) text += fmt::format("; beside {} {}", one.witness, side(*one.beside));
  return text;
}

/// The doubts about a verdict in one line; empty without any.
std::string caveat_text(const ComparedCase& one) {
  std::vector<std::string> texts;
  for (const Caveat& caveat : one.caveats) texts.push_back(caveat.text);
  return fmt::format("{}", fmt::join(texts, "; "));
}

/// The columns of a table beside the case's name.
std::vector<std::string> figures_of(const ComparedCase& one) {
  return {time_or_blank(one.base_median_ns),
          time_or_blank(one.new_median_ns),
          change_text(one.change),
          bounds_text(one.change),
          bounds_text(one.beside),
          verdict_text(one.verdict, one.caveats.empty() ? "" : one.caveats.front().word)};
}

ordered_json counters_json(const std::vector<MovedCounter>& counters) {
  ordered_json list = ordered_json::array();
  for (const MovedCounter& one : counters) list.push_back({{"name", one.name}, {"base", one.base}, {"new", one.now}});
  return list;
}

ordered_json case_json(const ComparedCase& one) {
  return {{"id", one.id},
          {"verdict", case_verdict_name(one.verdict)},
          {"reason", text_or_null(one.reason)},
          {"caveat", text_or_null(caveat_text(one))},
          {"cause", text_or_null(one.cause)},
          {"base_quality", text_or_null(one.base_disturbance)},
          {"new_quality", text_or_null(one.new_disturbance)},
          {"control", one.control},
          {"witness", text_or_null(one.witness)},
          {"base_median_ns", or_null(one.base_median_ns)},
          {"new_median_ns", or_null(one.new_median_ns)},
          {"time_kind", one.new_median_ns ? ordered_json(one.is_predicted ? "predicted" : "measured") : ordered_json()},
          {"change", change_json(one.change)},
          {"beside_witness", change_json(one.beside)},
          {"counters", counters_json(one.counters)},
          {"lines", one.lines},
          {"modelled", counters_json(one.modelled)}};
}

ordered_json run_json(const RecordedRun& run) {
  const ordered_json context = context_json(run.context);
  const auto value = [&context](const char* pointer) { return value_at(context, pointer); };
  return {{"file", run.file},       {"commit", value("/program/commit")}, {"dirty", value("/program/dirty")},
          {"date", value("/date")}, {"host", value("/host/name")},        {"ptx", value("/program/ptx")}};
}

std::string exit_text(const Comparison& comparison) {
  const int code = comparison.exit_code();
  const auto outcome = [&]() -> std::string_view {
    if (code == kExitOk) return "pass";
    if (code == kExitCasesFailed) return comparison.count(CaseVerdict::regressed) > 0 ? "regressed" : "a case failed";
    return code == kExitInconclusive ? "inconclusive" : "incomplete comparison";
  };
  return fmt::format("{} (exit code {})", outcome(), code);
}

/// Joins the texts that are not empty.
std::string joined(std::initializer_list<std::string> texts) {
  std::string all;
  for (const std::string& text : texts) {
    if (!text.empty()) all += (all.empty() ? "" : "; ") + text;
  }
  return all;
}

}  // namespace

Report comparison_report(const Comparison& comparison) {
  const VerdictLimits& limits = comparison.options.limits;
  JudgedCases judged;
  judged.base = run_text(comparison.base);
  judged.now = run_text(comparison.now);
  judged.columns = {
      right("base"),  right("new"), right("change", "%"), right("bounds", "%"), right("beside witness", "%"),
      left("verdict")};
  add_disturbances(judged.more, comparison);
  judged.notes = all_notes(comparison);
  judged.limits = fmt::format(
      "regressed: shown to be above +{:g}%; pass: shown to be below +{:g}%; each bound is wrong in at most {:g}% "
      "of comparisons where nothing drifts",
      limits.tau * 100, limits.delta * 100, limits.alpha * 100);
  judged.outcome = exit_text(comparison);
  std::set<std::string> compared;  // of other groups all cases are listed with the reason
  for (const ComparedCase& one : comparison.cases) {
    if (timed(one) && one.change) compared.insert(one.group);
  }
  for (const ComparedCase& one : comparison.cases) {
    const std::string table = timed(one) && compared.contains(one.group) ? one.group + ", measured" : "";
    const bool moved = one.verdict == CaseVerdict::regressed || one.verdict == CaseVerdict::improved;
    const std::string doubt = one.caveats.empty() ? disturbance_text(one) : caveat_text(one);
    const std::string lines = fmt::format("{}", fmt::join(one.lines, "; "));
    const std::string why = joined({one.reason, one.cause, lines, doubt});
    const std::string reason = moved ? joined({shown_text(one), why}) : joined({one.reason, one.cause, lines});
    judged.rows.push_back({one.id, table, one.variant, figures_of(one), one.verdict, reason, why});
  }
  return judged_report(judged);
}

std::string comparison_json_text(const Comparison& comparison) {
  ordered_json cases = ordered_json::array();
  for (const ComparedCase& one : comparison.cases) cases.push_back(case_json(one));
  ordered_json counts = ordered_json::object();
  for (const CaseVerdict verdict : kAllVerdicts) {
    counts[std::string(case_verdict_name(verdict))] = comparison.count(verdict);
  }
  const VerdictLimits& limits = comparison.options.limits;
  return json_text({{"kind", "comparison"},
                    {"base", run_json(comparison.base)},
                    {"new", run_json(comparison.now)},
                    {"limits", {{"tau", limits.tau}, {"delta", limits.delta}, {"alpha", limits.alpha}}},
                    {"exit_code", comparison.exit_code()},
                    {"counts", std::move(counts)},
                    {"notes", all_notes(comparison)},
                    {"cases", std::move(cases)}});
}

}  // namespace convladder

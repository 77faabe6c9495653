#include "harness/judge/compare/comparison_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/judge/compare/change_text.hpp"
#include "support/errors.hpp"
#include "support/json_null.hpp"
#include "support/json_place.hpp"
#include "support/markdown.hpp"
#include "support/printable.hpp"
#include "support/text_table.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

bool timed(const ComparedCase& one) { return one.base_median_ns && one.new_median_ns; }

/// A run as text: its file, the program that made it, its date and number of cases.
std::string run_text(const RecordedRun& run) {
  const auto text = [&run](const char* pointer) { return text_at(run.context, pointer, "unknown"); };
  return fmt::format("{}, {}, {}",
                     program_text(run.file, text("/program/commit"), value_at(run.context, "/program/dirty") == true),
                     text("/date"), plural(run.cases.size(), "case"));
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

std::string explanation(const ComparedCase& one) {
  std::string text = one.reason;
  if (!one.cause.empty()) text += (text.empty() ? "" : "; ") + one.cause;
  return text;
}

/// The disturbances of both sides as text: "base: disturbed: others used 1.6 of 2 cores"; empty where both were
/// measured on a quiet machine.
std::string disturbance_text(const ComparedCase& one) {
  std::string text;
  if (!one.base_disturbance.empty()) text += "base: " + one.base_disturbance;
  if (!one.new_disturbance.empty()) text += (text.empty() ? "new: " : "; new: ") + one.new_disturbance;
  return text;
}

/// A line for each case that was not measured on a quiet machine, except where its proof says so already.
std::string disturbance_section(const Comparison& comparison) {
  std::string text;
  for (const ComparedCase& one : comparison.cases) {
    if (one.verdict == CaseVerdict::regressed || one.verdict == CaseVerdict::improved) continue;
    const std::string disturbance = disturbance_text(one);
    if (!disturbance.empty()) text += indented(one.id, 2) + indented(disturbance, 6);
  }
  return text.empty() ? text : "\nmeasured on a machine that was not quiet\n" + text;
}

/// The proved bounds of a change: "+10.1%, at least +7.9%; beside onednn +10.0%, at least +8.2%".
std::string proof_text(const ComparedCase& one) {
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

/// The columns of a table beside the case's name.
std::vector<std::string> figures_of(const ComparedCase& one) {
  return {time_or_blank(one.base_median_ns), time_or_blank(one.new_median_ns),
          change_text(one.change),           bounds_text(one.change),
          bounds_text(one.beside),           std::string(case_verdict_name(one.verdict))};
}

std::vector<TextColumn> columns_of(const char* name) {
  return {{name, "", false},     {"base", "", true},    {"new", "", true},
          {"change", "%", true}, {"bounds", "%", true}, {"beside witness", "%", true},
          {"verdict", "", false}};
}

std::string group_table(const std::vector<const ComparedCase*>& group) {
  std::vector<std::vector<std::string>> rows;
  for (const ComparedCase* const one : group) {
    rows.push_back(figures_of(*one));
    rows.back().insert(rows.back().begin(), one->variant);
  }
  return text_table(columns_of("variant"), rows);
}

/// The cases with one verdict; those with the same reason together.
std::string cases_of(const Comparison& comparison, CaseVerdict verdict) {
  IdsByReason ids;
  for (const ComparedCase& one : comparison.cases) {
    if (one.verdict != verdict) continue;
    std::string reason = explanation(one);
    if (verdict == CaseVerdict::regressed || verdict == CaseVerdict::improved) {
      const std::string proof = proof_text(one);
      if (!proof.empty()) reason = reason.empty() ? proof : fmt::format("{}; {}", proof, reason);
      const std::string disturbance = disturbance_text(one);
      if (!disturbance.empty()) reason += (reason.empty() ? "" : "; ") + disturbance;
    }
    add_id(ids, reason, one.id);
  }
  return verdict_section(verdict, ids, ids.size() + comparison.cases.size());
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
          {"modelled", counters_json(one.modelled)}};
}

ordered_json run_json(const RecordedRun& run) {
  const auto value = [&run](const char* pointer) { return value_at(run.context, pointer); };
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

}  // namespace

std::string comparison_text(const Comparison& comparison) {
  std::string text = indented(fmt::format("base  {}", run_text(comparison.base)), 0) +
                     indented(fmt::format("new   {}", run_text(comparison.now)), 0);
  for (const auto& group : by_group(comparison.cases, timed)) {
    const bool compared = std::ranges::any_of(group, [](const ComparedCase* one) { return one->change.has_value(); });
    if (!compared) continue;  // all of them are listed below with the reason
    text += fmt::format("\n{}, measured\n{}", group.front()->group, group_table(group));
  }
  for (const CaseVerdict verdict : kAllVerdicts) {
    if (verdict != CaseVerdict::pass) text += cases_of(comparison, verdict);
  }
  text += disturbance_section(comparison);
  text += '\n';
  text += notes_text(all_notes(comparison));
  const VerdictLimits& limits = comparison.options.limits;
  text += indented(
      fmt::format("regressed: proved above +{:g}%; pass: proved below +{:g}%; each bound is wrong in at most {:g}% "
                  "of comparisons where nothing drifts",
                  limits.tau * 100, limits.delta * 100, limits.alpha * 100),
      0);
  text += indented(fmt::format("{}: {}", exit_text(comparison), counts_text(comparison)), 0);
  return text;
}

std::string comparison_markdown(const Comparison& comparison) {
  std::string text = fmt::format("**{}**: {}\n\n", exit_text(comparison), counts_text(comparison));
  text += fmt::format("- base {}\n- new {}\n", markdown_text(run_text(comparison.base)),
                      markdown_text(run_text(comparison.now)));
  text += markdown_list(all_notes(comparison));
  std::vector<std::vector<std::string>> rows;
  for (const CaseVerdict verdict : kAllVerdicts) {
    for (const ComparedCase& one : comparison.cases) {
      if (one.verdict != verdict) continue;
      std::string why = explanation(one);
      const std::string disturbance = disturbance_text(one);
      if (!disturbance.empty()) why += (why.empty() ? "" : "; ") + disturbance;
      std::vector<std::string>& row = rows.emplace_back(figures_of(one));
      row.insert(row.begin(), one.id);
      row.push_back(why);
    }
  }
  std::vector<TextColumn> columns = columns_of("case");
  columns.push_back({"why", "", false});
  return text + '\n' + markdown_table(columns, rows);
}

ordered_json comparison_json(const Comparison& comparison) {
  ordered_json cases = ordered_json::array();
  for (const ComparedCase& one : comparison.cases) cases.push_back(case_json(one));
  const VerdictLimits& limits = comparison.options.limits;
  return {{"kind", "comparison"},
          {"base", run_json(comparison.base)},
          {"new", run_json(comparison.now)},
          {"limits", {{"tau", limits.tau}, {"delta", limits.delta}, {"alpha", limits.alpha}}},
          {"exit_code", comparison.exit_code()},
          {"counts", counts_json(comparison)},
          {"notes", all_notes(comparison)},
          {"cases", std::move(cases)}};
}

}  // namespace convladder

#include "harness/regression/duel/duel_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/regression/compare/change_text.hpp"
#include "harness/statistics/statistics.hpp"
#include "support/errors.hpp"
#include "support/json_null.hpp"
#include "support/printable.hpp"
#include "support/text_table.hpp"
#include "support/units.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

/// The median of one side's slots.
std::optional<double> median_ns(const std::vector<DuelRound>& rounds,
                                std::array<double, 2> (DuelRound::*side)() const) {
  std::vector<double> slots;
  for (const DuelRound& round : rounds) {
    for (const double ns : (round.*side)()) slots.push_back(ns);
  }
  if (slots.empty()) return std::nullopt;
  return median(slots);
}
std::optional<double> base_median(const DuelCase& one) { return median_ns(one.decisive_rounds(), &DuelRound::base_ns); }
std::optional<double> new_median(const DuelCase& one) { return median_ns(one.decisive_rounds(), &DuelRound::new_ns); }

std::string program_text(const OtherProgram& program) {
  const auto text = [&program](const char* name) { return printable(program.program.value(name, "unknown")); };
  const bool dirty = program.program.value("dirty", false);
  return fmt::format("{}: commit {}{}, {}", program.path == kThisProgram ? "this program" : printable(program.path),
                     text("commit").substr(0, 12), dirty ? " and changes" : "", text("compiler"));
}

std::string variant_text(const DuelCase& one) {
  return one.base_variant == one.new_variant ? one.base_variant
                                             : fmt::format("{} .. {}", one.base_variant, one.new_variant);
}

std::string rounds_text(const DuelCase& one) {
  return one.confirm.empty() ? fmt::format("{}", one.screen.size())
                             : fmt::format("{} + {}", one.screen.size(), one.confirm.size());
}

std::string ratio_text(const DuelCase& one) {
  return one.change() ? fmt::format("{:.3f}", std::exp(one.change()->estimate)) : std::string();
}

std::string group_table(const std::vector<const DuelCase*>& group) {
  std::vector<std::vector<std::string>> rows;
  for (const DuelCase* const one : group) {
    rows.push_back({variant_text(*one), time_or_blank(base_median(*one)), time_or_blank(new_median(*one)),
                    ratio_text(*one), bounds_text(one->change()), rounds_text(*one),
                    std::string(case_verdict_name(one->verdict))});
  }
  return text_table({{.title = "variant", .unit = "", .number = false},
                     {.title = "base", .unit = "", .number = true},
                     {.title = "new", .unit = "", .number = true},
                     {.title = "ratio", .unit = "", .number = true},
                     {.title = "bounds", .unit = "%", .number = true},
                     {.title = "rounds", .unit = "", .number = true},
                     {.title = "verdict", .unit = "", .number = false}},
                    rows, kTextColumns);
}

std::string counts_text(const DuelResult& result) {
  std::string text;
  for (const CaseVerdict verdict : kAllVerdicts) {
    const int count = result.count(verdict);
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, case_verdict_name(verdict));
  }
  return text.empty() ? "no cases" : text;
}

std::string control_text(const DuelResult& result) {
  if (!result.control_failure.empty()) {
    return fmt::format("control: could not be measured, nothing is proved: {}", result.control_failure);
  }
  if (!result.control_outcome) {
    return fmt::format("control: only {} rounds, too few to judge: nothing is proved", result.control.size());
  }
  const std::optional<ChangeBounds> bounds = result.control_outcome->bounds;
  return fmt::format("control: the base against itself moved by {}%, bounds {}%, in {} rounds{}", change_text(bounds),
                     bounds_text(bounds), result.control.size(),
                     result.contaminated() ? ": CONTAMINATED: the results above prove nothing" : "");
}

std::string limits_text(const DuelReport& report) {
  const VerdictLimits& limits = report.settings.limits.verdict;
  return fmt::format(
      "regressed: proved above +{:g}%, wrong in at most {:g}% of duels for all cases together (Holm); pass: proved "
      "below "
      "+{:g}%, wrong in at most {:g}% for each case",
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
  return notes;
}

/// The measured cases of one group after the other.
std::vector<std::vector<const DuelCase*>> measured_groups(const DuelResult& result) {
  std::vector<std::vector<const DuelCase*>> groups;
  std::map<std::string, std::size_t> index;
  for (const DuelCase& one : result.cases) {
    if (!one.screened) continue;
    const auto [place, added] = index.emplace(one.group, groups.size());
    if (added) groups.emplace_back();
    groups[place->second].push_back(&one);
  }
  return groups;
}

/// Cases of one verdict with what is to be said of them; those with the same reason together. Of skipped ones their
/// number is enough to read; Markdown and JSON have each.
std::string verdict_section(const DuelResult& result, CaseVerdict verdict) {
  std::vector<std::pair<std::string, std::vector<std::string>>> ids_by_reason;
  for (const DuelCase& one : result.cases) {
    if (one.verdict != verdict) continue;
    auto same = std::ranges::find_if(ids_by_reason, [&one](const auto& entry) { return entry.first == one.reason; });
    if (same == ids_by_reason.end()) same = ids_by_reason.insert(same, {one.reason, {}});
    same->second.push_back(one.id);
  }
  std::string text;
  for (const auto& [reason, ids] : ids_by_reason) {
    const bool only_number = verdict == CaseVerdict::skipped && ids.size() > 2;
    text += indented(only_number ? fmt::format("{} cases, the first {}", ids.size(), ids.front())
                                 : fmt::format("{}", fmt::join(ids, " ")),
                     2);
    if (!reason.empty()) text += indented(reason, 6);
  }
  if (!text.empty()) text.insert(0, fmt::format("\n{}\n", case_verdict_name(verdict)));
  return text;
}

ordered_json rounds_json(const std::vector<DuelRound>& rounds) {
  ordered_json list = ordered_json::array();
  for (const DuelRound& round : rounds) list.push_back(round_to_json(round));
  return list;
}

ordered_json case_json(const DuelCase& one) {
  return {{"id", one.id},
          {"device", one.device},
          {"base_variant", one.base_variant},
          {"new_variant", one.new_variant},
          {"verdict", case_verdict_name(one.verdict)},
          {"reason", one.reason.empty() ? ordered_json() : ordered_json(one.reason)},
          {"iterations", one.length.iterations},
          {"sub_runs", one.length.sub_runs},
          {"base_median_ns", or_null(base_median(one))},
          {"new_median_ns", or_null(new_median(one))},
          {"change", change_json(one.change())},
          {"cycles", change_json(one.cycles)},
          {"p_slower", or_null(one.p_slower)},
          {"p_faster", or_null(one.p_faster)},
          {"rounds_wanting", or_null(one.rounds_wanting)},
          {"screen", {{"change", change_json(one.screened)}, {"rounds", rounds_json(one.screen)}}},
          {"confirm", {{"change", change_json(one.confirmed)}, {"rounds", rounds_json(one.confirm)}}}};
}

ordered_json control_json(const DuelResult& result) {
  const std::optional<ControlOutcome>& outcome = result.control_outcome;
  return {{"id", result.control_id.empty() ? ordered_json() : ordered_json(result.control_id)},
          {"change", outcome ? change_json(outcome->bounds) : ordered_json()},
          {"contaminated", outcome ? ordered_json(outcome->contaminated) : ordered_json()},
          {"failure", result.control_failure.empty() ? ordered_json() : ordered_json(result.control_failure)},
          {"rounds", rounds_json(result.control)}};
}

ordered_json side_json(const OtherProgram& program) { return {{"path", program.path}, {"program", program.program}}; }

}  // namespace

std::string duel_text(const DuelReport& report) {
  std::string text = fmt::format("base  {}\nnew   {}\n", program_text(report.base), program_text(report.now));
  for (const std::vector<const DuelCase*>& group : measured_groups(report.result)) {
    text += fmt::format("\n{}, measured in turns, layer time of a call\n{}", group.front()->group, group_table(group));
  }
  for (const CaseVerdict verdict : kAllVerdicts) {
    if (verdict != CaseVerdict::pass) text += verdict_section(report.result, verdict);
  }
  text += '\n';
  text += indented(control_text(report.result), 0);
  for (const std::string& note : all_notes(report)) text += indented(fmt::format("note: {}", note), 0);
  text += indented(limits_text(report), 0);
  text += indented(fmt::format("{}: {}", exit_text(report.result), counts_text(report.result)), 0);
  return text;
}

std::string duel_markdown(const DuelReport& report) {
  const DuelResult& result = report.result;
  std::string text = fmt::format("**{}**: {}\n\n- base {}\n- new {}\n- {}\n", exit_text(result), counts_text(result),
                                 markdown_text(program_text(report.base)), markdown_text(program_text(report.now)),
                                 markdown_text(control_text(result)));
  for (const std::string& note : all_notes(report)) text += fmt::format("- {}\n", markdown_text(note));
  text += "\n| case | base | new | ratio | bounds, % | rounds | verdict | why |\n";
  text += "|:--|--:|--:|--:|--:|--:|:--|:--|\n";
  for (const CaseVerdict verdict : kAllVerdicts) {
    for (const DuelCase& one : result.cases) {
      if (one.verdict != verdict) continue;
      text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", markdown_text(one.id),
                          time_or_blank(base_median(one)), time_or_blank(new_median(one)), ratio_text(one),
                          bounds_text(one.change()), rounds_text(one), case_verdict_name(verdict),
                          markdown_text(one.reason));
    }
  }
  return text + fmt::format("\n{}\n", markdown_text(limits_text(report)));
}

ordered_json duel_json(const DuelReport& report) {
  const DuelResult& result = report.result;
  const DuelLimits& limits = report.settings.limits;
  ordered_json counts = ordered_json::object();
  for (const CaseVerdict verdict : kAllVerdicts)
    counts[std::string(case_verdict_name(verdict))] = result.count(verdict);
  ordered_json cases = ordered_json::array();
  for (const DuelCase& one : result.cases) cases.push_back(case_json(one));
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
            {"looks", confirm_looks(limits.most_rounds)},
            {"seed", report.settings.seed},
            {"extra_percent", report.settings.extra_percent}}},
          {"exit_code", result.exit_code()},
          {"counts", std::move(counts)},
          {"notes", all_notes(report)},
          {"control", control_json(result)},
          {"cases", std::move(cases)}};
}

std::vector<DuelRound> rounds_from_json(const ordered_json& json) {
  std::vector<DuelRound> rounds;
  for (const ordered_json& round : json) rounds.push_back(round_from_json(round));
  return rounds;
}

}  // namespace convladder

#include "harness/judge/compare/judged_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "support/reasons.hpp"

namespace convladder {
namespace {

std::vector<std::string> with_figures(const std::string& name, const JudgedRow& row) {
  std::vector<std::string> cells = row.figures;
  cells.insert(cells.begin(), name);
  return cells;
}

std::vector<TextColumn> with_figures(const std::string& name, const JudgedCases& judged) {
  std::vector<TextColumn> columns = judged.columns;
  columns.insert(columns.begin(), left(name));
  return columns;
}

/// The tables, in the order in which their titles first appear.
void add_tables(Report& report, const JudgedCases& judged) {
  for (const JudgedRow& row : judged.rows) {
    if (row.table.empty()) continue;
    if (std::ranges::find(report.sections, row.table, &ReportSection::heading) == report.sections.end()) {
      report.section(row.table, Shown::in_text).table(with_figures(judged.named, judged), {});
    }
    ReportSection& section = *std::ranges::find(report.sections, row.table, &ReportSection::heading);
    std::get<ReportTable>(section.blocks.front()).rows.push_back(with_figures(row.name, row));
  }
}

/// The cases with one verdict; those with the same reason together.
void add_verdict(Report& report, const JudgedCases& judged, CaseVerdict verdict) {
  Reasons all;
  for (const JudgedRow& row : judged.rows) {
    if (row.verdict == verdict) all.add(row.reason, row.id);
  }
  if (all.empty()) return;
  ReportSection& section = report.section(std::string(case_verdict_name(verdict)), Shown::in_text);
  for (const auto& [reason, ids] : all.groups()) {
    const bool only_counted = verdict == CaseVerdict::skipped && ids.size() > judged.most_skipped;
    const bool has_blanks = std::ranges::any_of(ids, [](const auto& id) { return id.find(' ') != std::string::npos; });
    section.entry(only_counted ? fmt::format("{} cases, the first {}", ids.size(), ids.front())
                               : fmt::format("{}", fmt::join(ids, has_blanks ? ", " : " ")),
                  reason.empty() ? std::vector<std::string>() : std::vector{reason});
  }
}

/// "3 pass, 1 regressed".
std::string counts_text(const JudgedCases& judged) {
  std::vector<std::string> counts;
  for (const CaseVerdict verdict : kAllVerdicts) {
    const auto count = std::ranges::count(judged.rows, verdict, &JudgedRow::verdict);
    if (count > 0) counts.push_back(fmt::format("{} {}", count, case_verdict_name(verdict)));
  }
  return counts.empty() ? "no cases" : fmt::format("{}", fmt::join(counts, ", "));
}

void add_table_of_all(Report& report, const JudgedCases& judged) {
  std::vector<std::vector<std::string>> rows;
  for (const CaseVerdict verdict : kAllVerdicts) {
    for (const JudgedRow& row : judged.rows) {
      if (row.verdict == verdict) rows.emplace_back(with_figures(row.id, row)).push_back(row.why);
    }
  }
  std::vector<TextColumn> columns = with_figures("case", judged);
  columns.push_back(left("why"));
  report.section("", Shown::in_markdown).table(std::move(columns), std::move(rows));
}

void add_remarks(Report& report, const JudgedCases& judged, Shown shown) {
  ReportSection& section = report.section("", shown);
  for (const std::string& remark : judged.remarks) section.item(remark);
  section.notes(judged.notes);
}

}  // namespace

std::string verdict_text(CaseVerdict verdict, const std::string& doubt) {
  return fmt::format("{}{}", case_verdict_name(verdict), doubt.empty() ? "" : fmt::format(" ({})", doubt));
}

Report judged_report(const JudgedCases& judged) {
  Report report;
  const std::string counts = ": " + counts_text(judged);
  report.section().paragraph(counts, "", judged.outcome);
  ReportSection& sides = report.section();
  sides.item("base " + judged.base);
  sides.item("new " + judged.now);
  add_tables(report, judged);
  for (const CaseVerdict verdict : kAllVerdicts) {
    if (verdict != CaseVerdict::pass) add_verdict(report, judged, verdict);
  }
  report.sections.push_back(judged.more);
  add_remarks(report, judged, Shown::in_markdown);
  add_table_of_all(report, judged);
  add_remarks(report, judged, Shown::in_text);
  report.sections.back().paragraph(judged.limits);
  report.section("", Shown::in_markdown).paragraph(judged.limits);
  return report;
}

}  // namespace convladder

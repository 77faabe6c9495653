#include "harness/judge/compare/judged_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "harness/judge/compare/change_text.hpp"
#include "support/markdown.hpp"

namespace convladder {
namespace {

std::vector<std::string> with_figures(const std::string& name, const JudgedRow& row) {
  std::vector<std::string> cells = row.figures;
  cells.insert(cells.begin(), name);
  return cells;
}

std::vector<TextColumn> with_figures(const char* name, const JudgedReport& report) {
  std::vector<TextColumn> columns = report.columns;
  columns.insert(columns.begin(), {name, "", false});
  return columns;
}

/// The tables, in the order in which their titles first appear.
std::string tables(const JudgedReport& report) {
  std::vector<std::string> titles;
  std::map<std::string, std::vector<std::vector<std::string>>> rows;
  for (const JudgedRow& row : report.rows) {
    if (row.table.empty()) continue;
    if (!rows.contains(row.table)) titles.push_back(row.table);
    rows[row.table].push_back(with_figures(row.name, row));
  }
  std::string text;
  for (const std::string& title : titles) {
    text += fmt::format("\n{}\n{}", title, text_table(with_figures("variant", report), rows[title]));
  }
  return text;
}

/// The cases with one verdict; those with the same reason together.
std::string verdict_section(const JudgedReport& report, CaseVerdict verdict) {
  IdsByReason all;
  for (const JudgedRow& row : report.rows) {
    if (row.verdict == verdict) add_id(all, row.reason, row.id);
  }
  std::string text;
  for (const auto& [reason, ids] : all) {
    const bool only_counted = verdict == CaseVerdict::skipped && ids.size() > report.most_skipped;
    text += indented(only_counted ? fmt::format("{} cases, the first {}", ids.size(), ids.front())
                                  : fmt::format("{}", fmt::join(ids, " ")),
                     2);
    if (!reason.empty()) text += indented(reason, 6);
  }
  return text.empty() ? text : fmt::format("\n{}\n{}", case_verdict_name(verdict), text);
}

/// "3 pass, 1 regressed".
std::string counts_text(const JudgedReport& report) {
  std::vector<std::string> counts;
  for (const CaseVerdict verdict : kAllVerdicts) {
    const auto count = std::ranges::count(report.rows, verdict, &JudgedRow::verdict);
    if (count > 0) counts.push_back(fmt::format("{} {}", count, case_verdict_name(verdict)));
  }
  return counts.empty() ? "no cases" : fmt::format("{}", fmt::join(counts, ", "));
}

}  // namespace

std::string judged_text(const JudgedReport& report) {
  std::string text = tables(report);
  for (const CaseVerdict verdict : kAllVerdicts) {
    if (verdict != CaseVerdict::pass) text += verdict_section(report, verdict);
  }
  text += report.more_sections + '\n';
  for (const std::string& remark : report.remarks) text += indented(remark, 0);
  text += notes_text(report.notes) + indented(report.limits, 0);
  return text + indented(fmt::format("{}: {}", report.outcome, counts_text(report)), 0);
}

std::string judged_markdown(const JudgedReport& report) {
  std::string text = fmt::format("**{}**: {}\n\n- base {}\n- new {}\n", report.outcome, counts_text(report),
                                 markdown_text(report.base), markdown_text(report.now));
  text += markdown_list(report.remarks) + markdown_list(report.notes);
  std::vector<std::vector<std::string>> rows;
  for (const CaseVerdict verdict : kAllVerdicts) {
    for (const JudgedRow& row : report.rows) {
      if (row.verdict == verdict) rows.emplace_back(with_figures(row.id, row)).push_back(row.why);
    }
  }
  std::vector<TextColumn> columns = with_figures("case", report);
  columns.push_back({"why", "", false});
  return text + '\n' + markdown_table(columns, rows);
}

}  // namespace convladder

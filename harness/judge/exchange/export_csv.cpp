// One table for spreadsheets and data frames (RFC 4180): a row for each figure, and one for each of its samples.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "harness/judge/exchange/export_format.hpp"
#include "support/report.hpp"

namespace convladder {
namespace {

using Row = std::vector<std::string>;

const Row kColumns{"case",
                   "device",
                   "variant",
                   "network",
                   "layer",
                   "batch",
                   "status",
                   "reason",
                   "quality",
                   "kind",
                   "measure",
                   "unit",
                   "sample",
                   "value",
                   "low",
                   "high",
                   "level",
                   "samples",
                   "iterations_per_sample",
                   "verdict",
                   "verdict_reason",
                   "date",
                   "commit",
                   "uncommitted_changes",
                   "host"};

std::string csv_number(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : std::string(); }

Row csv_row(const ExportedRecord& record, const ExportedCase& one, const ExportedFigure* figure,
            std::optional<std::size_t> sample) {
  const ExportedContext& about = record.context;
  Row row{one.name,   one.device, one.variant, one.network, one.layer, one.batch, fmt::format("{}", one.status),
          one.reason, one.quality};
  if (figure == nullptr) {
    row.resize(row.size() + 10);
  } else {
    row.insert(row.end(), {std::string(figure_kind_name(figure->kind)), figure->measure, figure->unit});
    if (sample) {
      row.insert(row.end(), {std::to_string(*sample + 1), csv_number(figure->samples[*sample]), "", "", "", ""});
    } else {
      row.insert(row.end(), {"", csv_number(figure->value), csv_number(figure->low), csv_number(figure->high),
                             csv_number(figure->level), std::to_string(figure->samples.size())});
    }
    row.push_back(figure->samples.empty() ? "" : std::to_string(figure->iterations));
  }
  row.insert(row.end(), {one.verdict ? one.verdict->verdict : "", one.verdict ? one.verdict->reason : "", about.date,
                         about.commit, about.dirty ? "yes" : "no", about.host});
  return row;
}

ExportedText csv_export(const ExportedRecord& record, const ExportOptions& /*options*/) {
  ReportTable table;
  for (const std::string& title : kColumns) table.columns.push_back(left(title));
  for (const ExportedCase& one : record.cases) {
    if (one.figures.empty()) table.rows.push_back(csv_row(record, one, nullptr, std::nullopt));
    for (const ExportedFigure& figure : one.figures) {
      table.rows.push_back(csv_row(record, one, &figure, std::nullopt));
      for (std::size_t i = 0; i < figure.samples.size(); ++i) table.rows.push_back(csv_row(record, one, &figure, i));
    }
  }
  ExportedText result;
  result.text = as_csv(table);
  result.written = table.rows.size();
  return result;
}

const ExportFormatRegistration csv_registration({"csv", csv_export});

}  // namespace
}  // namespace convladder

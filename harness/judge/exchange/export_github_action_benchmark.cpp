// The format that github-action-benchmark reads as customSmallerIsBetter:
// https://github.com/benchmark-action/github-action-benchmark
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/judge/exchange/export_format.hpp"
#include "support/errors.hpp"
#include "support/json_text.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

/// An entry's name: "cpu/flat-vector/lenet72.conv1/10", with the measure for other figures: "… (latency-op-cold)".
std::string entry_name(const ExportedCase& one, const ExportedFigure& figure) {
  return figure.measure == "latency" ? one.name : fmt::format("{} ({})", one.name, figure.measure);
}

ordered_json action_entry(const ExportedCase& one, const ExportedFigure& figure) {
  ordered_json json = {{"name", entry_name(one, figure)}, {"unit", figure.unit}, {"value", figure.value}};
  // The action draws one number for both sides: the farther bound.
  if (figure.low && figure.high) {
    json["range"] = fmt::format("± {}", std::max(figure.value - *figure.low, *figure.high - figure.value));
  }
  std::string extra = figure_text(figure);
  if (figure.measure == "latency") {
    if (!one.quality.empty()) extra += "\n" + one.quality;
    if (one.verdict) extra += "\n" + verdict_text(one);
  }
  json["extra"] = extra;
  return json;
}

ExportedText action_export(const ExportedRecord& record, const ExportOptions& /*options*/) {
  ExportedText result;
  ordered_json entries = ordered_json::array();
  for (const ExportedCase& one : record.cases) {
    std::size_t written = 0;
    for (const ExportedFigure& figure : one.figures) {
      if (figure.kind == FigureKind::compared) continue;  // the action cannot divide by a change below 0
      entries.push_back(action_entry(one, figure));
      ++written;
    }
    if (written == 0) {
      result.left_out.push_back({one.name, why_left_out(one, "it has no figure"), is_failure(one.status)});
    }
    result.written += written;
  }
  result.text = json_text(entries);
  return result;
}

const ExportFormatRegistration action_registration({"github-action-benchmark", action_export});

}  // namespace
}  // namespace convladder

// Bencher's metric format (BMF): https://bencher.dev/docs/reference/bencher-metric-format/
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/judge/compare/comparison.hpp"
#include "harness/judge/exchange/export_format.hpp"
#include "support/json_text.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kLongestBenchmark = 1024;  // characters of a benchmark's name, by Bencher's documentation
constexpr std::size_t kLongestMeasure = 64;

ordered_json bencher_metric(const ExportedFigure& figure) {
  ordered_json json = {{"value", figure.value}};
  if (figure.low) json["lower_value"] = *figure.low;
  if (figure.high) json["upper_value"] = *figure.high;
  return json;
}

ExportedText bencher_export(const ExportedRecord& record, const ExportOptions& /*options*/) {
  ExportedText result;
  ordered_json benchmarks = ordered_json::object();
  for (const ExportedCase& one : record.cases) {
    ordered_json measures = ordered_json::object();
    for (const ExportedFigure& figure : one.figures) {
      if (figure.measure.size() > kLongestMeasure) {
        result.left_out.push_back(
            {one.name, fmt::format("Bencher takes no measure of such a long name: {}", figure.measure), false, true});
      } else {
        measures[figure.measure] = bencher_metric(figure);
      }
    }
    // A threshold on it raises an alarm where the comparison does, and nowhere else.
    if (one.verdict && !measures.empty()) {
      measures["regressed"] = {{"value", one.verdict->verdict == case_verdict_name(CaseVerdict::regressed) ? 1 : 0}};
    }
    if (measures.empty()) {
      result.left_out.push_back({one.name, why_left_out(one, "it has no figure"), is_failure(one.status)});
    } else if (one.name.size() > kLongestBenchmark) {
      result.left_out.push_back({one.name, "Bencher takes no benchmark of such a long name"});
    } else {
      benchmarks[one.name] = std::move(measures);
      ++result.written;
    }
  }
  result.text = json_text(benchmarks);
  return result;
}

const ExportFormatRegistration bencher_registration({"bencher", bencher_export});

}  // namespace
}  // namespace convladder

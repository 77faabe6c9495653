// JUnit's XML as Jenkins, GitLab and most others read it: a suite, in which each case of the record is a test.
// https://github.com/jenkinsci/xunit-plugin/blob/master/src/main/resources/org/jenkinsci/plugins/xunit/types/model/xsd/junit-10.xsd
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "harness/judge/exchange/export_format.hpp"
#include "harness/judge/exchange/outcome.hpp"
#include "support/printable.hpp"

namespace convladder {
namespace {

/// The text between tags and in attributes. XML has no place for control characters, nor for U+FFFE and U+FFFF.
std::string xml_text(std::string_view text) {
  std::string result;
  const std::string shown = printable(text);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const std::string_view rest = std::string_view(shown).substr(i);
    if (rest.starts_with("\xef\xbf\xbe") || rest.starts_with("\xef\xbf\xbf")) {
      result += '?';
      i += 2;
      continue;
    }
    switch (shown[i]) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += shown[i];
    }
  }
  return result;
}

/// "2026-01-31T12:00:00": the schema allows no time zone.
std::string junit_time(const std::string& date) {
  return date.size() == 20 && date.back() == 'Z' ? date.substr(0, 19) : std::string();
}

/// A measured time in seconds; 0 where none was measured.
double seconds_of(const ExportedCase& one) {
  const ExportedFigure* const latency = one.latency();
  return latency != nullptr && latency->unit == "ns" ? latency->value / 1e9 : 0;
}

/// The lines of a test beside its outcome: its figures, and what checkers found.
std::vector<std::string> lines_of(const ExportedCase& one) {
  std::vector<std::string> lines;
  for (const ExportedFinding& finding : one.findings) lines.push_back(finding.text);
  for (const ExportedFigure& figure : one.figures) {
    if (figure.kind != FigureKind::measured && figure.kind != FigureKind::compared) continue;  // counters: by hundreds
    lines.push_back(fmt::format("{}: {:.6g} {}, {}", figure.measure, figure.value, figure.unit, figure_text(figure)));
  }
  return lines;
}

/// The element that says why a test has not passed; empty for one that has.
std::string outcome_element(const Judgement& outcome) {
  const std::string message =
      xml_text(outcome.text.empty() ? std::string(outcome.word) : fmt::format("{}: {}", outcome.word, outcome.text));
  switch (outcome.outcome) {
    case Outcome::failed:
      return fmt::format("   <failure type=\"{}\" message=\"{}\"/>\n", xml_text(outcome.word), message);
    case Outcome::broken:
      return fmt::format("   <error type=\"{}\" message=\"{}\"/>\n", xml_text(outcome.word), message);
    case Outcome::undecided:
    case Outcome::skipped:
      return fmt::format("   <skipped message=\"{}\"/>\n", message);
    case Outcome::passed:
      break;
  }
  return {};
}

std::string properties(const ExportedContext& about) {
  std::string text = "  <properties>\n";
  for (const auto& [name, value] :
       std::initializer_list<std::pair<const char*, std::string>>{{"commit", about.commit},
                                                                  {"uncommitted changes", about.dirty ? "yes" : ""},
                                                                  {"program", about.program},
                                                                  {"cpu", about.cpu},
                                                                  {"record sha256", about.sha256}}) {
    if (value.empty() || value == "unknown" || value == "unknown unknown") continue;
    text += fmt::format("   <property name=\"{}\" value=\"{}\"/>\n", name, xml_text(value));
  }
  return text + "  </properties>\n";
}

ExportedText junit_export(const ExportedRecord& record, const ExportOptions& /*options*/) {
  std::array<std::size_t, 5> counts{};
  double seconds = 0;
  std::string tests;
  for (const ExportedCase& one : record.cases) {
    const Judgement outcome = outcome_of(one);
    ++counts.at(static_cast<std::size_t>(outcome.outcome));
    seconds += seconds_of(one);
    std::string inside = outcome_element(outcome);
    std::string lines;
    for (const std::string& line : lines_of(one)) lines += xml_text(line) + '\n';
    if (!lines.empty()) inside += fmt::format("   <system-out>{}</system-out>\n", lines);
    tests += fmt::format("  <testcase classname=\"{}\" name=\"{}\" time=\"{:.9f}\"", xml_text(one.device),
                         xml_text(one.name), seconds_of(one));
    tests += inside.empty() ? "/>\n" : ">\n" + inside + "  </testcase>\n";
  }
  const auto count = [&](Outcome outcome) { return counts.at(static_cast<std::size_t>(outcome)); };
  const std::string sums =
      fmt::format("name=\"convladder {}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.9f}\"",
                  xml_text(record.context.kind), record.cases.size(), count(Outcome::failed), count(Outcome::broken),
                  count(Outcome::undecided) + count(Outcome::skipped), seconds);
  std::string about;
  if (const std::string time = junit_time(record.context.date); !time.empty()) {
    about += fmt::format(" timestamp=\"{}\"", xml_text(time));
  }
  if (record.context.host != "unknown") about += fmt::format(" hostname=\"{}\"", xml_text(record.context.host));
  ExportedText result;
  result.written = record.cases.size();
  result.text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n <testsuite {0}{1}>\n{2}{3} </testsuite>\n"
      "</testsuites>\n",
      sums, about, properties(record.context), tests);
  return result;
}

const ExportFormatRegistration junit_registration({"junit", junit_export});

}  // namespace
}  // namespace convladder

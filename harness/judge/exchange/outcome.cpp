#include "harness/judge/exchange/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/judge/compare/comparison.hpp"
#include "support/units.hpp"

namespace convladder {

namespace {

Outcome of_status(Status status) {
  switch (status) {
    case Status::ok:
      return Outcome::passed;
    case Status::incorrect:
    case Status::refused:
    case Status::unsafe:
      return Outcome::failed;
    case Status::launch_failed:
    case Status::crashed:
    case Status::timeout:
    case Status::does_not_compile:
      return Outcome::broken;
    case Status::not_judged:
      return Outcome::undecided;
    case Status::unsupported:
    case Status::skipped:
      break;
  }
  return Outcome::skipped;
}

Outcome of_verdict(const ExportedVerdict& given) {
  const auto is = [&](CaseVerdict verdict) { return given.verdict == case_verdict_name(verdict); };
  if (is(CaseVerdict::failed)) return Outcome::broken;
  if (is(CaseVerdict::skipped) || is(CaseVerdict::added)) return Outcome::skipped;
  if (!given.stands) return Outcome::undecided;
  if (is(CaseVerdict::regressed)) return Outcome::failed;
  return is(CaseVerdict::pass) || is(CaseVerdict::improved) ? Outcome::passed : Outcome::undecided;
}

std::string figure_value(const ExportedFigure& figure) {
  if (figure.unit == "ns") return time_text(figure.value);
  return short_number(figure.value) + (figure.unit.empty() ? "" : " " + figure.unit);
}

}  // namespace

std::string change_text_of(const ExportedCase& one) {
  const auto change = std::ranges::find(one.figures, FigureKind::compared, &ExportedFigure::kind);
  if (change == one.figures.end()) return {};
  std::string text;
  if (change != one.figures.begin()) text = figure_value(one.figures.front()) + ", ";
  text += fmt::format("{:+.1f} %", change->value);
  if (change->low && change->high) text += fmt::format(" (bounds {:+.1f} to {:+.1f} %)", *change->low, *change->high);
  return text;
}

Judgement outcome_of(const ExportedCase& one) {
  Judgement result;
  result.outcome = one.verdict ? of_verdict(*one.verdict) : of_status(one.status);
  result.word = one.verdict ? std::string_view(one.verdict->verdict) : status_name(one.status);
  const auto first = std::ranges::find(one.findings, FindingLevel::error, &ExportedFinding::level);
  std::string found;
  if (first != one.findings.end()) {
    const auto count = std::ranges::count(one.findings, FindingLevel::error, &ExportedFinding::level);
    found = count > 1 ? fmt::format("{} findings, the first: {}", count, first->text) : first->text;
    if (result.outcome == Outcome::passed) {
      result.outcome = Outcome::failed;
      result.word = status_name(Status::unsafe);
    }
  }
  for (const std::string& part :
       {change_text_of(one), one.verdict ? one.verdict->reason : one.reason, found, one.quality}) {
    if (!part.empty()) result.text += (result.text.empty() ? "" : "; ") + part;
  }
  return result;
}

}  // namespace convladder

#include "harness/judge/exchange/export_format.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/printable.hpp"
#include "support/registry.hpp"
#include "support/text_table.hpp"

namespace convladder {

namespace {

constexpr std::size_t kMostLines = 20;

Registry<ExportFormat>& registry() {
  static Registry<ExportFormat> formats(
      {.before = [](const ExportFormat& a,
                    const ExportFormat& b) { return std::string_view(a.name) < std::string_view(b.name); },
       .identity = [](const ExportFormat& one) { return fmt::format("format '{}'", one.name); }});
  return formats;
}

}  // namespace

ExportFormatRegistration::ExportFormatRegistration(const ExportFormat& format) { registry().add(format); }

const std::vector<ExportFormat>& export_formats() { return registry().all(); }

std::string why_left_out(const ExportedCase& one, std::string_view otherwise) {
  if (one.status == Status::ok) return std::string(otherwise);
  return one.reason.empty() ? fmt::format("{}", one.status) : fmt::format("{}: {}", one.status, one.reason);
}

std::vector<std::string> left_out_lines(const std::vector<LeftOut>& left_out) {
  struct Group {
    std::string why;
    std::size_t cases = 0;
    std::string first;
    const char* what = "case";
  };
  std::vector<Group> groups;
  for (const LeftOut& one : left_out) {
    auto same = std::ranges::find(groups, one.why, &Group::why);
    if (same == groups.end()) same = groups.insert(same, {one.why, 0, one.name, one.is_figure ? "figure" : "case"});
    ++same->cases;
  }
  std::vector<std::string> lines;
  for (const Group& group : groups) {
    if (lines.size() == kMostLines) {
      lines.push_back(fmt::format("and for {} other reasons", groups.size() - kMostLines));
      break;
    }
    lines.push_back(printable(fmt::format("{} left out{}: {}{}", plural(group.cases, group.what),
                                          group.cases == 1 ? ", " + group.first : "", group.why,
                                          group.cases == 1 ? "" : fmt::format(" (the first: {})", group.first))));
  }
  return lines;
}

std::string figure_text(const ExportedFigure& figure) {
  const std::string unit = figure.unit == "percent" ? "%" : figure.unit == "count" ? "" : " " + figure.unit;
  std::string text;
  if (figure.low && figure.high) {
    text = figure.level ? fmt::format("{:.3g}% interval ", *figure.level * 100) : std::string("range ");
    text += fmt::format("{:.6g} to {:.6g}{}, ", *figure.low, *figure.high, unit);
  }
  if (!figure.samples.empty()) text = fmt::format("median of {}, ", plural(figure.samples.size(), "sample")) + text;
  return text + std::string(figure_kind_name(figure.kind));
}

std::string verdict_text(const ExportedCase& one) {
  if (!one.verdict) return {};
  return one.verdict->reason.empty() ? one.verdict->verdict
                                     : fmt::format("{}: {}", one.verdict->verdict, one.verdict->reason);
}

}  // namespace convladder

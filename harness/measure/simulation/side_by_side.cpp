#include "harness/measure/simulation/side_by_side.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "harness/measure/simulation/line_differences.hpp"
#include "simulator/counters/metrics.hpp"
#include "support/printable.hpp"

namespace convladder {
namespace {

constexpr std::size_t kLaunchesInATable = 3;  // as many as fit beside the titles

/// The letter of a launch: "A", …, "Z", "AA", …
std::string letter_of(std::size_t index) {
  std::string letters(1, static_cast<char>('A' + index % 26));
  return index < 26 ? letters : letter_of(index / 26 - 1) + letters;
}

using CounterValues = std::map<std::string, double>;

CounterValues counter_values(const SimulationReport& report) {
  CounterValues values;
  for (const KernelCounters& launch : report.counters) {
    for (const auto* list : {&launch.values, &launch.modelled}) values.insert(list->begin(), list->end());
  }
  return values;
}

/// How many values of the results' n-th buffer differ from the first launch's; "other shape" where they cannot be
/// compared.
std::string unlike_text(const BufferContent& first, const BufferContent& other) {
  if (first.type != other.type || first.shape != other.shape) return "other shape";
  const std::size_t size = element_bytes(first.type);
  std::size_t unlike = 0;
  for (std::size_t at = 0; at < first.bytes.size(); at += size) {
    if (std::memcmp(first.bytes.data() + at, other.bytes.data() + at, size) != 0) ++unlike;
  }
  return counter_text(".sum", static_cast<double>(unlike));
}

std::vector<const BufferContent*> results_of(const SimulationReport& report) {
  std::vector<const BufferContent*> results;
  for (const BufferContent& buffer : report.buffers) {
    if (buffer.is_result) results.push_back(&buffer);
  }
  return results;
}

std::string end_of(const SimulationReport& report) {
  if (!report.fault.empty()) return "fault";
  return report.stopped.empty() ? "yes" : "limit";
}

class SideBySide {
 public:
  explicit SideBySide(const std::vector<LabelledReport>& launches) : launches_(launches) {
    for (const LabelledReport& launch : launches) values_.push_back(counter_values(launch.report));
  }

  /// The table, verdicts before counters, of the first launch and those from `begin` to before `end`.
  ReportTable table(std::size_t begin, std::size_t end) const {
    std::vector<std::size_t> shown = {0};
    for (std::size_t i = begin; i < end; ++i) shown.push_back(i);
    std::vector<TextColumn> columns = {left(""), right("A")};
    for (std::size_t i = begin; i < end; ++i) {
      columns.push_back(right(letter_of(i)));
      columns.push_back({letter_of(i) + "/A", "", true});
    }
    std::vector<std::vector<std::string>> rows;
    const auto add = [&](const std::string& title, const auto& text) {
      std::vector<std::string> row = {title};
      for (const std::size_t i : shown) {
        row.push_back(text(i));
        if (i > 0) row.emplace_back();
      }
      rows.push_back(std::move(row));
    };
    const std::vector<const BufferContent*> first = results_of(launches_[0].report);
    for (std::size_t n = 0; n < first.size(); ++n) {
      add(fmt::format("values of {} unlike A's", printable(first[n]->name, kShortText)), [&](std::size_t i) {
        return i == 0 ? std::string() : unlike_text(*first[n], *results_of(launches_[i].report)[n]);
      });
    }
    add("findings",
        [&](std::size_t i) { return fmt::format("{}", simulated::count_findings(launches_[i].report.findings)); });
    if (!launches_[0].report.expectations.empty()) {
      add("values not as expected", [&](std::size_t i) {
        std::size_t wrong = 0;
        for (const ExpectationOutcome& outcome : launches_[i].report.expectations) wrong += outcome.wrong;
        return fmt::format("{}", wrong);
      });
    }
    add("came to its end", [&](std::size_t i) { return end_of(launches_[i].report); });
    if (!launches_[0].report.is_counted) add("counters", [](std::size_t) { return std::string("not counted"); });
    for (const simulated::Metric& metric : simulated::metrics()) {
      if (std::ranges::any_of(values_, [&](const CounterValues& values) { return value(values, metric.name) != 0; })) {
        rows.push_back(counter_row(metric, shown));
      }
    }
    return {std::move(columns), std::move(rows)};
  }

 private:
  static double value(const CounterValues& values, const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? 0 : found->second;
  }

  std::vector<std::string> counter_row(const simulated::Metric& metric, const std::vector<std::size_t>& shown) const {
    std::vector<std::string> row = {metric.title};
    const double first = value(values_[0], metric.name);
    for (const std::size_t i : shown) {
      const auto found = values_[i].find(metric.name);
      row.push_back(found == values_[i].end() ? "-" : counter_text(metric.name, found->second));
      if (i == 0) continue;
      const bool is_ratio = first != 0 && found != values_[i].end();
      row.push_back(is_ratio ? fmt::format("{:.3f}", found->second / first) : "");
    }
    return row;
  }

  const std::vector<LabelledReport>& launches_;
  std::vector<CounterValues> values_;
};

}  // namespace

Report side_by_side_report(const std::vector<LabelledReport>& launches) {
  Report report;
  ReportSection& titles = report.section();
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const auto& [file, launch] = launches[i];
    titles.paragraph(fmt::format("{}: {}", printable(file), launch_title(launch)), fmt::format("{:<3}", letter_of(i)));
  }
  const SideBySide tables(launches);
  for (std::size_t begin = 1; begin < std::max<std::size_t>(launches.size(), 2); begin += kLaunchesInATable - 1) {
    report.section().blocks.emplace_back(tables.table(begin, std::min(begin + kLaunchesInATable - 1, launches.size())));
  }
  for (std::size_t i = 1; i < launches.size(); ++i) {
    if (launches[0].report.lines.empty() || launches[i].report.lines.empty()) continue;
    add_line_differences(report, {letter_of(0), launches[0].report.lines[0]},
                         {letter_of(i), launches[i].report.lines[0]});
  }
  for (std::size_t i = 0; i < launches.size(); ++i) {
    ReportSection section;
    add_remarks(section, launches[i].report);
    if (section.empty() && launches[i].report.printed.empty()) continue;
    section.blocks.insert(
        section.blocks.begin(),
        ReportLine{ReportLine::Kind::literal, fmt::format("{}  {}\n", letter_of(i), printable(launches[i].file))});
    report.sections.push_back(std::move(section));
    add_printed(report, launches[i].report);
  }
  return report;
}

}  // namespace convladder

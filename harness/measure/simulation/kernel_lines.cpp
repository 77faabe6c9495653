#include "harness/measure/simulation/kernel_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "devices/kernel_resources.hpp"
#include "harness/measure/simulation/simulation_report.hpp"
#include "simulator/counters/launch_counts.hpp"
#include "simulator/gpus/time_model.hpp"
#include "support/printable.hpp"
#include "support/source_text.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::size_t kLinesIndent = 2;     // of tables
constexpr std::size_t kSourceColumns = 36;  // of a line of source in a table

/// The terms of the predicted time for these counts of a launch, in ns.
PredictedLaunch predicted(const simulated::KernelFigures& figures, const std::map<std::string, double>& counters,
                          const GpuFacts& gpu) {
  const double launches = std::max(1.0, static_cast<double>(figures.launches));
  KernelCounters launch;
  launch.grid = {static_cast<unsigned>(std::max(1.0, static_cast<double>(figures.blocks) / launches))};
  launch.block = {std::max(1U, figures.threads)};
  for (const auto& [name, value] : counters) launch.values.emplace_back(name, value / launches);
  return predict_launch(gpu, simulated::launch_counts(launch, simulated::default_gpu_model()));
}

/// Fills in the share of each line in what binds the kernel's time.
void add_shares(KernelLines& kernel, const GpuFacts& gpu) {
  std::map<std::string, double> all;
  for (const KernelLine& line : kernel.lines) {
    for (const auto& [name, value] : line.counters) all[name] += value;
  }
  const PredictedLaunch whole = predicted(kernel.figures, all, gpu);
  if (whole.residence.blocks == 0) return;
  const auto term = static_cast<std::size_t>(whole.binding_low);
  kernel.bound_by = kTimeTermNames[term];
  double sum = 0;
  for (KernelLine& line : kernel.lines) {
    line.share = predicted(kernel.figures, line.counters, gpu).terms[term].low;
    sum += line.share;
  }
  for (KernelLine& line : kernel.lines) line.share = sum > 0 ? line.share / sum : 0;
}

}  // namespace

std::string KernelLine::share_text() const { return share == 0 ? "" : fmt::format("{:.1f} %", 100 * share); }

std::string KernelLine::place() const { return file.empty() ? "no line" : fmt::format("{}:{}", file, line); }

double KernelLines::executed() const {
  double sum = 0;
  for (const KernelLine& line : lines) sum += line.executed();
  return sum;
}

std::string KernelLines::only_file() const {
  std::string only;
  for (const KernelLine& line : lines) {
    if (line.file.empty() || line.counters.empty() || line.file == only) continue;
    if (!only.empty()) return "";
    only = line.file;
  }
  return only;
}

KernelLines kernel_lines(const std::string& kernel, const simulated::KernelFigures& figures, const GpuFacts& gpu,
                         const std::string& beside) {
  KernelLines all{.kernel = kernel, .bound_by = {}, .lines = {}, .sources = {}, .figures = figures};
  for (LineCounters& one : simulated::by_line(figures)) {
    KernelLine& line = all.lines.emplace_back();
    line.file = one.path.substr(one.path.find_last_of('/') + 1);
    line.line = one.line;
    line.instructions = one.instructions;
    line.counters = std::move(one.counters);
    if (!line.file.empty() && !all.sources.contains(line.file)) {
      std::vector<std::string> text = source_lines(one.path);
      if (text.empty() && !beside.empty()) text = source_lines(fs::path(beside).parent_path() / line.file);
      all.sources[line.file] = std::move(text);
    }
    const std::vector<std::string>& text = all.sources[line.file];
    const auto number = static_cast<std::size_t>(line.line);
    if (number >= 1 && number <= text.size()) line.text = text[number - 1];
  }
  std::ranges::sort(all.lines, {}, [](const KernelLine& line) { return std::pair(line.file, line.line); });
  std::erase_if(all.sources, [](const auto& source) { return source.second.empty(); });
  add_shares(all, gpu);
  return all;
}

LineTable::LineTable(const std::vector<const KernelLine*>& lines, bool leaves_out_equal) {
  for (const LineColumn& column : line_columns()) {
    std::set<std::string> texts;
    for (const KernelLine* const line : lines) texts.insert(column.text_of(line->counters));
    const bool is_equal = leaves_out_equal && !column.divided_by.empty() && texts.size() == 1;
    texts.erase("");
    if (column.in_text && !texts.empty() && !is_equal) columns_.push_back(&column);
  }
}

void LineTable::finish(std::vector<std::string> row, const std::string& place, const std::string& source) {
  row.push_back(printable(place));
  row.push_back(short_source(source, kSourceColumns));
  rows_.push_back(std::move(row));
}

void LineTable::add_to(ReportSection& section) {
  if (rows_.empty()) return;
  std::vector<TextColumn> titles = {right("share")};
  for (const LineColumn* const column : columns_) titles.push_back(right(column->title, column->unit));
  titles.push_back(left("line"));
  titles.push_back(left("source"));
  section.table(std::move(titles), std::move(rows_), kLinesIndent);
}

void add_lines(Report& report, const KernelLines& lines) {
  std::vector<const KernelLine*> rows;
  for (const KernelLine& line : lines.lines) {
    if (!line.counters.empty()) rows.push_back(&line);
  }
  std::ranges::stable_sort(rows, std::greater{}, [](const KernelLine* line) { return line->share; });
  const std::string only_file = lines.only_file();
  LineTable table(rows);
  for (const KernelLine* const line : rows) {
    table.add([line](const auto& figure) { return figure(*line); },
              line->file == only_file && !only_file.empty() ? std::to_string(line->line) : line->place(), line->text);
  }
  ReportSection& section =
      report.section(fmt::format("lines of {}: counted; share of the predicted time, which {} binds",
                                 printable(lines.kernel), lines.bound_by.empty() ? "nothing known" : lines.bound_by));
  table.add_to(section);
  if (lines.figures.left_out > 0) {
    section.note(fmt::format("{} of other kernels with this name are not in it",
                             plural(lines.figures.left_out, "launch", "launches")));
  }
}

namespace {

/// The figures of the columns; null for none.
ordered_json figures_json(const std::map<std::string, double>& counters) {
  ordered_json figures = ordered_json::array();
  for (const LineColumn& column : line_columns()) {
    const std::optional<double> figure = column.of(counters);
    figures.push_back(figure ? ordered_json(*figure) : ordered_json());
  }
  return figures;
}

}  // namespace

ordered_json kernel_lines_json(const KernelLines& lines) {
  ordered_json list = ordered_json::array();
  for (const KernelLine& line : lines.lines) {
    list.push_back({{"file", line.file.empty() ? ordered_json() : ordered_json(line.file)},
                    {"line", line.line},
                    {"source", line.text},
                    {"instructions", line.instructions},
                    {"share", line.share},
                    {"figures", figures_json(line.counters)},
                    {"counters", line.counters}});
  }
  ordered_json code = ordered_json::array();
  for (const simulated::InstructionFigures& one : lines.figures.instructions) {
    ordered_json places = ordered_json::array();
    for (const simulated::SourcePlace& place : one.places)
      places.push_back({{"file", place.file}, {"line", place.line}});
    code.push_back({{"ptx_line", one.ptx_line},
                    {"opcode", one.opcode},
                    {"places", std::move(places)},
                    {"figures", figures_json(one.counters)},
                    {"counters", one.counters}});
  }
  ordered_json columns = ordered_json::array();
  for (const LineColumn& column : line_columns()) {
    columns.push_back({{"title", column.title}, {"unit", column.unit}, {"is_ratio", !column.divided_by.empty()}});
  }
  ordered_json sources = ordered_json::object();
  for (const auto& [file, text] : lines.sources) sources[file] = text;
  return {{"kernel", lines.kernel},
          {"bound_by", lines.bound_by.empty() ? ordered_json() : ordered_json(lines.bound_by)},
          {"launches", lines.figures.launches},
          {"left_out", lines.figures.left_out},
          {"columns", std::move(columns)},
          {"lines", std::move(list)},
          {"instructions", std::move(code)},
          {"sources", std::move(sources)}};
}

}  // namespace convladder

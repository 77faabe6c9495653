#include "harness/measure/simulation/kernel_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "devices/kernel_resources.hpp"
#include "harness/measure/simulation/simulation_report.hpp"
#include "simulator/counters/launch_counts.hpp"
#include "simulator/gpus/time_model.hpp"
#include "support/printable.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::size_t kLinesIndent = 2;     // of tables
constexpr std::size_t kSourceColumns = 36;  // of a line of source in a table
constexpr std::uintmax_t kLargestSource = 16 << 20;

/// The lines of a text file; empty where it cannot be read.
std::vector<std::string> lines_of_file(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > kLargestSource) return {};
  std::ifstream stream(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

/// A line of source as a table shows it.
std::string short_source(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  std::string line = printable(text.substr(first));
  if (line.size() <= kSourceColumns) return line;
  std::size_t end = kSourceColumns - 3;
  const auto continues = [&](std::size_t at) { return (static_cast<unsigned char>(line[at]) & 0xc0U) == 0x80U; };
  while (end > 0 && continues(end)) --end;  // no character is cut in two
  line.resize(end);
  return line + "...";
}

double sum_of(const std::map<std::string, double>& counters, const std::vector<const char*>& names) {
  double sum = 0;
  for (const char* const name : names) {
    const auto found = counters.find(name);
    if (found != counters.end()) sum += found->second;
  }
  return sum;
}

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

std::span<const LineColumn> line_columns() {
  constexpr const char* kExecuted = "smsp__inst_executed.sum";
  static const std::vector<LineColumn> all = {
      {"executed", "", {kExecuted}},
      {"lanes", "of 32", {"smsp__thread_inst_executed_pred_on.sum"}, {kExecuted}},
      {"sectors",
       "a load",
       {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
       {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"}},
      {"sectors",
       "a store",
       {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
       {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"}},
      {"wavefronts",
       "a request",
       {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"},
       {"smsp__sass_inst_executed_op_shared_ld.sum", "smsp__sass_inst_executed_op_shared_st.sum"}},
      {"bank",
       "conflicts",
       {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"},
       {},
       false},
      {"global",
       "bytes",
       {"smsp__sass_data_bytes_mem_global_op_ld.sum", "smsp__sass_data_bytes_mem_global_op_st.sum",
        "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum",
        "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum"},
       {},
       false},
      {"tensor", "instructions", {"sm__inst_executed_pipe_tensor.sum"}, {}, false},
      {"divergent", "branches", {"smsp__sass_branch_targets_threads_divergent.sum"}, {}, false}};
  return all;
}

std::optional<double> LineColumn::of(const std::map<std::string, double>& counters_of_line) const {
  const double sum = sum_of(counters_of_line, counters);
  const double below = divided_by.empty() ? 1 : sum_of(counters_of_line, divided_by);
  const bool is_there = divided_by.empty() ? sum != 0 : below != 0;
  return is_there ? std::optional(sum / below) : std::nullopt;
}

std::string LineColumn::text_of(const std::map<std::string, double>& counters_of_line) const {
  const std::optional<double> figure = of(counters_of_line);
  if (!figure) return "";
  constexpr double kNearlyWhole = 0.005;
  const bool is_whole = std::abs(*figure - std::round(*figure)) < kNearlyWhole;
  return divided_by.empty() || is_whole ? counter_text(".sum", std::round(*figure)) : fmt::format("{:.2f}", *figure);
}

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
  std::map<std::pair<std::string, int>, KernelLine> by_place;
  for (const simulated::InstructionFigures& one : figures.instructions) {
    const simulated::SourcePlace place = one.places.empty() ? simulated::SourcePlace() : one.places.front();
    KernelLine& line = by_place[{place.file, place.line}];
    line.file = place.file;
    line.line = place.line;
    ++line.instructions;
    for (const auto& [name, value] : one.counters) line.counters[name] += value;
  }
  for (auto& [place, line] : by_place) {
    if (!line.file.empty() && !all.sources.contains(line.file)) {
      const auto path = figures.files.find(line.file);
      std::vector<std::string> text;
      if (path != figures.files.end()) text = lines_of_file(path->second);
      if (text.empty() && !beside.empty()) text = lines_of_file(fs::path(beside).parent_path() / line.file);
      all.sources[line.file] = std::move(text);
    }
    const std::vector<std::string>& text = all.sources[line.file];
    const auto number = static_cast<std::size_t>(line.line);
    if (number >= 1 && number <= text.size()) line.text = text[number - 1];
    all.lines.push_back(std::move(line));
  }
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
  row.push_back(short_source(source));
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

#include "harness/measure/simulation/kernel_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tuple>
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
constexpr std::size_t kMostAligned = 20'000;  // lines of a text that are compared with another's

constexpr const char* kExecuted = "smsp__inst_executed.sum";
constexpr const char* kLanes = "smsp__thread_inst_executed_pred_on.sum";
constexpr const char* kLoads = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
constexpr const char* kStores = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum";
constexpr const char* kLoadSectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
constexpr const char* kStoreSectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";
constexpr const char* kSharedLoads = "smsp__sass_inst_executed_op_shared_ld.sum";
constexpr const char* kSharedStores = "smsp__sass_inst_executed_op_shared_st.sum";
constexpr const char* kLoadPasses = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
constexpr const char* kStorePasses = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum";

/// A ratio of sums of counters that tables show for a line.
struct LineRatio {
  const char* title;
  const char* unit;
  std::array<const char*, 2> numerator;
  std::array<const char*, 2> denominator;
};
constexpr std::array<LineRatio, 4> kLineRatios = {
    {{"lanes", "of 32", {kLanes, ""}, {kExecuted, ""}},
     {"sectors", "a load", {kLoadSectors, ""}, {kLoads, ""}},
     {"sectors", "a store", {kStoreSectors, ""}, {kStores, ""}},
     {"wavefronts", "a request", {kLoadPasses, kStorePasses}, {kSharedLoads, kSharedStores}}}};

std::optional<double> ratio_of(const KernelLine& line, const LineRatio& ratio) {
  const auto sum = [&line](const std::array<const char*, 2>& names) {
    return line.counter(names[0]) + line.counter(names[1]);
  };
  const double below = sum(ratio.denominator);
  return below > 0 ? std::optional(sum(ratio.numerator) / below) : std::nullopt;
}

/// The ratios that any of the lines has.
std::vector<const LineRatio*> ratios_of(const std::vector<const KernelLine*>& lines) {
  std::vector<const LineRatio*> ratios;
  for (const LineRatio& ratio : kLineRatios) {
    if (std::ranges::any_of(lines, [&ratio](const KernelLine* line) { return ratio_of(*line, ratio).has_value(); })) {
      ratios.push_back(&ratio);
    }
  }
  return ratios;
}

std::string ratio_text(const std::optional<double>& ratio) {
  if (!ratio) return "";
  return std::abs(*ratio - std::round(*ratio)) < 0.005 ? fmt::format("{:.0f}", *ratio) : fmt::format("{:.2f}", *ratio);
}

std::string share_text(double share) { return share == 0 ? "" : fmt::format("{:.1f} %", 100 * share); }

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
  line.resize(kSourceColumns - 3);
  return line + "...";
}

/// The file that all lines are in; empty if they are in several, or in none.
std::string only_file(const KernelLines& kernel) {
  std::string file;
  for (const KernelLine& line : kernel.lines) {
    if (line.file.empty() || line.counters.empty() || line.file == file) continue;
    if (!file.empty()) return "";
    file = line.file;
  }
  return file;
}

/// The line as a table names it: by its number alone where there is one file.
std::string short_place(const KernelLines& kernel, const KernelLine& line) {
  return printable(line.file.empty() || line.file != only_file(kernel) ? line.place() : std::to_string(line.line));
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

double KernelLine::counter(const std::string& name) const {
  const auto found = counters.find(name);
  return found == counters.end() ? 0 : found->second;
}

std::string KernelLine::place() const { return file.empty() ? "no line" : fmt::format("{}:{}", file, line); }

double KernelLines::sum(const std::string& counter) const {
  double sum = 0;
  for (const KernelLine& line : lines) sum += line.counter(counter);
  return sum;
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

void add_lines(Report& report, const KernelLines& lines) {
  std::vector<const KernelLine*> rows;
  for (const KernelLine& line : lines.lines) {
    if (!line.counters.empty()) rows.push_back(&line);
  }
  std::ranges::stable_sort(rows, std::greater{}, [](const KernelLine* line) { return line->share; });
  std::vector<TextColumn> columns = {right("share"), right("executed")};
  const std::vector<const LineRatio*> ratios = ratios_of(rows);
  for (const LineRatio* const ratio : ratios) columns.push_back(right(ratio->title, ratio->unit));
  columns.push_back(left("line"));
  columns.push_back(left("source"));
  std::vector<std::vector<std::string>> cells;
  for (const KernelLine* const line : rows) {
    std::vector<std::string> row = {share_text(line->share), counter_text(".sum", line->counter(kExecuted))};
    for (const LineRatio* const ratio : ratios) row.push_back(ratio_text(ratio_of(*line, *ratio)));
    row.push_back(short_place(lines, *line));
    row.push_back(short_source(line->text));
    cells.push_back(std::move(row));
  }
  ReportSection& section =
      report.section(fmt::format("lines of {}: counted; share of the predicted time, which {} binds",
                                 printable(lines.kernel), lines.bound_by.empty() ? "nothing known" : lines.bound_by));
  section.table(std::move(columns), std::move(cells), kLinesIndent);
  if (lines.figures.left_out > 0) {
    section.note(fmt::format("{} of other kernels with this name are not in it",
                             plural(lines.figures.left_out, "launch", "launches")));
  }
}

std::vector<std::pair<std::size_t, std::size_t>> common_lines(const std::vector<std::string>& one,
                                                              const std::vector<std::string>& other) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::size_t begin = 0;
  std::size_t end = std::min(one.size(), other.size());
  while (begin < end && one[begin] == other[begin]) {
    pairs.emplace_back(begin, begin);
    ++begin;
  }
  std::size_t tail = 0;
  while (begin + tail < end && one[one.size() - 1 - tail] == other[other.size() - 1 - tail]) ++tail;
  const std::size_t rows = one.size() - begin - tail;
  const std::size_t columns = other.size() - begin - tail;
  if (rows <= kMostAligned && columns <= kMostAligned && rows * columns <= kMostAligned * std::size_t{1000}) {
    // lengths[i][j]: of the longest common subsequence from row i and column j on.
    std::vector<std::vector<std::uint32_t>> lengths(rows + 1, std::vector<std::uint32_t>(columns + 1));
    for (std::size_t i = rows; i-- > 0;) {
      for (std::size_t j = columns; j-- > 0;) {
        lengths[i][j] = one[begin + i] == other[begin + j] ? lengths[i + 1][j + 1] + 1
                                                           : std::max(lengths[i + 1][j], lengths[i][j + 1]);
      }
    }
    for (std::size_t i = 0, j = 0; i < rows && j < columns;) {
      if (one[begin + i] == other[begin + j]) {
        pairs.emplace_back(begin + i++, begin + j++);
      } else {
        lengths[i + 1][j] >= lengths[i][j + 1] ? ++i : ++j;
      }
    }
  }
  for (std::size_t i = tail; i-- > 0;) pairs.emplace_back(one.size() - 1 - i, other.size() - 1 - i);
  return pairs;
}

namespace {

/// A line of two kernels; one of them may lack it.
struct LinePair {
  const KernelLine* one = nullptr;
  const KernelLine* other = nullptr;
};

/// The lines of the texts of a kernel's files, without what is only white space apart.
struct Flat {
  std::vector<std::string> texts;
  std::vector<const KernelLine*> lines;
};

Flat flat(const KernelLines& kernel) {
  Flat all;
  for (const KernelLine& line : kernel.lines) {
    if (line.counters.empty()) continue;
    const std::size_t first = line.text.find_first_not_of(" \t");
    const bool has_text = first != std::string::npos;
    all.texts.push_back(has_text ? line.text.substr(first) : line.place());
    all.lines.push_back(&line);
  }
  return all;
}

std::vector<LinePair> pairs_of(const KernelLines& one, const KernelLines& other) {
  const Flat left = flat(one);
  const Flat right = flat(other);
  std::vector<LinePair> pairs;
  std::size_t i = 0;
  std::size_t j = 0;
  const auto alone_to = [&](std::size_t left_end, std::size_t right_end) {
    for (; i < left_end; ++i) pairs.push_back({left.lines[i], nullptr});
    for (; j < right_end; ++j) pairs.push_back({nullptr, right.lines[j]});
  };
  for (const auto& [in_left, in_right] : common_lines(left.texts, right.texts)) {
    alone_to(in_left, in_right);
    pairs.push_back({left.lines[i++], right.lines[j++]});
  }
  alone_to(left.lines.size(), right.lines.size());
  return pairs;
}

/// "4 -> 1.33", "4", "- -> 1"; of a line that only one of both has, its own figure.
std::string change_text(const LinePair& pair, const std::string& one, const std::string& other) {
  if (one == other || pair.other == nullptr) return one;
  if (pair.one == nullptr) return other;
  return fmt::format("{} -> {}", one.empty() ? "-" : one, other.empty() ? "-" : other);
}

/// The pairs that differ, those that change the most of the kernels' work first. `all`: the number of all pairs.
std::vector<LinePair> differing(const KernelLines& one, const KernelLines& other, std::size_t& all) {
  std::vector<LinePair> pairs = pairs_of(one, other);
  all = pairs.size();
  std::erase_if(pairs, [](const LinePair& pair) {
    return pair.one != nullptr && pair.other != nullptr && pair.one->counters == pair.other->counters;
  });
  const double work = std::max(1.0, std::max(one.sum(kExecuted), other.sum(kExecuted)));
  const auto executed = [](const KernelLine* line) { return line == nullptr ? 0 : line->counter(kExecuted); };
  const auto share = [](const KernelLine* line) { return line == nullptr ? 0 : line->share; };
  std::ranges::stable_sort(pairs, std::greater{}, [&](const LinePair& pair) {
    return std::abs(share(pair.one) - share(pair.other)) + std::abs(executed(pair.one) - executed(pair.other)) / work;
  });
  return pairs;
}

}  // namespace

void add_line_differences(Report& report, const LabelledLines& one, const LabelledLines& other) {
  std::size_t all = 0;
  const std::vector<LinePair> pairs = differing(one.lines, other.lines, all);
  std::vector<TextColumn> columns = {right("share"), right("executed")};
  std::vector<const KernelLine*> shown_lines;
  for (const LinePair& pair : pairs) {
    for (const KernelLine* const line : {pair.one, pair.other}) {
      if (line != nullptr) shown_lines.push_back(line);
    }
  }
  std::vector<const LineRatio*> ratios = ratios_of(shown_lines);
  std::erase_if(ratios, [](const LineRatio* ratio) { return ratio->denominator[0] == kExecuted; });
  for (const LineRatio* const ratio : ratios) columns.push_back(right(ratio->title, ratio->unit));
  columns.push_back(left("line"));
  columns.push_back(left("source"));
  std::vector<std::vector<std::string>> cells;
  for (const LinePair& pair : pairs) {
    const auto change = [&pair](const auto& text) {
      return change_text(pair, pair.one == nullptr ? "" : text(*pair.one),
                         pair.other == nullptr ? "" : text(*pair.other));
    };
    std::vector<std::string> row = {
        change([](const KernelLine& line) { return share_text(line.share); }),
        change([](const KernelLine& line) { return counter_text(".sum", line.counter(kExecuted)); })};
    for (const LineRatio* const ratio : ratios) {
      row.push_back(change([ratio](const KernelLine& line) { return ratio_text(ratio_of(line, *ratio)); }));
    }
    const KernelLine& shown = pair.other == nullptr ? *pair.one : *pair.other;
    const char* const mark = pair.one == nullptr ? "+ " : pair.other == nullptr ? "- " : "  ";
    row.push_back(mark + short_place(pair.other == nullptr ? one.lines : other.lines, shown));
    row.push_back(short_source(shown.text));
    cells.push_back(std::move(row));
  }
  ReportSection& section =
      report.section(fmt::format("lines that differ from {} to {}: {} of {}; - only in {}, + only in {}", one.label,
                                 other.label, cells.size(), all, one.label, other.label));
  if (!cells.empty()) section.table(std::move(columns), std::move(cells), kLinesIndent);
}

ordered_json line_differences_json(const KernelLines& one, const KernelLines& other) {
  const auto index = [](const KernelLines& kernel, const KernelLine* line) {
    return line == nullptr ? ordered_json() : ordered_json(line - kernel.lines.data());
  };
  std::size_t all = 0;
  ordered_json list = ordered_json::array();
  for (const LinePair& pair : differing(one, other, all)) {
    list.push_back({{"first", index(one, pair.one)}, {"other", index(other, pair.other)}});
  }
  return list;
}

ordered_json kernel_lines_json(const KernelLines& lines) {
  ordered_json list = ordered_json::array();
  for (const KernelLine& line : lines.lines) {
    list.push_back({{"file", line.file.empty() ? ordered_json() : ordered_json(line.file)},
                    {"line", line.line},
                    {"source", line.text},
                    {"instructions", line.instructions},
                    {"share", line.share},
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
                    {"counters", one.counters}});
  }
  ordered_json sources = ordered_json::object();
  for (const auto& [file, text] : lines.sources) sources[file] = text;
  return {{"kernel", lines.kernel},
          {"bound_by", lines.bound_by.empty() ? ordered_json() : ordered_json(lines.bound_by)},
          {"launches", lines.figures.launches},
          {"left_out", lines.figures.left_out},
          {"lines", std::move(list)},
          {"instructions", std::move(code)},
          {"sources", std::move(sources)}};
}

}  // namespace convladder

#include "harness/fused/fused_tables.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/statistics/statistics.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

/// A quantity that devices without a clock count.
struct Counted {
  std::vector<const char*> metrics;  ///< summed
  double unit;
};

const Counted kInstructions{{"smsp__inst_executed.sum"}, 1e3};
const Counted kDramBytes{{"dram__bytes_read.sum", "dram__bytes_write.sum"}, 1e3};

double counted_sum(const ordered_json& counters, const Counted& what) {
  double sum = 0;
  for (const char* metric : what.metrics) {
    sum += counters.at("totals").value(metric, 0.0) + counters.at("modelled").value(metric, 0.0);
  }
  return sum;
}

/// Multiply-adds of the convolution's output.
double multiply_adds(const FusedShape& shape) { return shape.convolution.flop() / 2; }

/// The figures of the steps by column: convolution with its bias, activation, pooling, and their sum.
std::vector<double> by_column(const FusedCase& planned, const std::vector<double>& of_steps) {
  std::vector<double> columns(4, 0.0);
  for (std::size_t i = 0; i < of_steps.size(); ++i) {
    const std::string& type = planned.steps[i].type;
    columns[type == "max_pool" ? 2 : (type == "convolution" || type == "bias" ? 0 : 1)] += of_steps[i];
    columns[3] += of_steps[i];
  }
  return columns;
}

std::vector<std::string> row_head(const FusedResult& result) {
  const FusedShape& shape = result.planned.shape;
  return {result.planned.work.name(),
          fmt::format("{} {}/{}", operator_type_name(shape.activation), shape.pool_size, shape.pool_stride),
          std::to_string(shape.convolution.batch)};
}

std::string fused_ratio_text(const FusedOutcome& outcome) {
  const std::vector<double> ratios = outcome.ratios();
  const auto interval = median_interval(ratios);
  return interval ? fmt::format("{:.2f} ({:.2f}-{:.2f})", median(ratios), interval->low, interval->high)
                  : fmt::format("{:.2f}", median(ratios));
}

std::vector<std::string> measured_row(const FusedResult& result) {
  const FusedOutcome& outcome = result.outcome;
  std::vector<double> medians;
  for (const std::vector<double>& samples : outcome.separate) medians.push_back(median(samples));
  std::vector<double> figures = by_column(result.planned, medians);
  figures[3] = median(outcome.sums());
  figures.push_back(median(outcome.fused));
  std::vector<std::string> row = row_head(result);
  for (const double ns : figures) row.push_back(fmt::format("{:.3f}", ns * 1e-6));
  row.push_back(fused_ratio_text(outcome));
  return row;
}

std::vector<std::string> counted_row(const FusedResult& result, const Counted& what) {
  std::vector<double> of_steps;
  for (const ordered_json& counters : result.outcome.counters) of_steps.push_back(counted_sum(counters, what));
  std::vector<double> figures = by_column(result.planned, of_steps);
  const double fused = counted_sum(result.outcome.fused_counters, what);
  const double sum = figures[3];
  figures.push_back(fused);
  std::vector<std::string> row = row_head(result);
  for (const double figure : figures) row.push_back(fmt::format("{:.0f}", figure / what.unit));
  row.push_back(fmt::format("{:.2f}", sum / fused));
  const bool bytes = &what == &kDramBytes;
  row.push_back(fmt::format("{:.2f}", bytes ? fused / result.planned.shape.minimum_bytes()
                                            : fused * 32 / multiply_adds(result.planned.shape)));
  return row;
}

std::vector<TextColumn> columns_of(const char* unit) {
  return {{"layer", "", false},        {"with", "", false},        {"batch", "", true},
          {"convolution", unit, true}, {"activation", unit, true}, {"pooling", unit, true},
          {"sum", unit, true},         {"fused", unit, true},      {"sum/fused", "", true}};
}

}  // namespace

std::string fused_result_line(const FusedResult& result) {
  const FusedOutcome& outcome = result.outcome;
  const std::string figures =
      !outcome.fused.empty() ? fmt::format("sum/fused {}", fused_ratio_text(outcome)) : outcome.reason;
  return fmt::format("{:<11} {:<50} {}", outcome.status, result.planned.id, figures);
}

std::string fused_table(const std::vector<FusedResult>& results) {
  const FusedCase& first = results.front().planned;
  std::string text = fmt::format("\n{} on {}, beside {} and the operators it replaces\n", first.fused.info.name,
                                 first.device, first.convolution.info.name);
  std::vector<std::vector<std::string>> times;
  std::vector<std::vector<std::string>> instructions;
  std::vector<std::vector<std::string>> bytes;
  std::string failures;
  for (const FusedResult& result : results) {
    const FusedOutcome& outcome = result.outcome;
    if (!outcome.fused.empty()) times.push_back(measured_row(result));
    if (!outcome.counters.empty()) {
      instructions.push_back(counted_row(result, kInstructions));
      bytes.push_back(counted_row(result, kDramBytes));
    }
    if (outcome.status == Status::ok) continue;
    failures += fmt::format("{}: {}: {}\n", result.planned.id, outcome.status, outcome.reason);
  }
  std::vector<TextColumn> columns = columns_of("ms");
  columns.back().unit = "(95% interval)";
  if (!times.empty()) text += fmt::format("measured, medians of rounds side by side\n{}", text_table(columns, times));
  columns = columns_of("1000");
  columns.push_back({"fused", "per FMA", true});
  if (!instructions.empty()) {
    text += fmt::format(
        "warp instructions, counted; per FMA: thread instructions for a multiply-add of the convolution\n{}",
        text_table(columns, instructions));
  }
  columns = columns_of("kB");
  columns.back() = {"sum/fused", "", true};
  columns.push_back({"fused", "of minimum", true});
  if (!bytes.empty()) {
    text +=
        fmt::format("\nDRAM bytes, modelled; minimum: input and weights read once, the pooled output written once\n{}",
                    text_table(columns, bytes));
  }
  return text + failures;
}

}  // namespace convladder

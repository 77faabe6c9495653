#include "harness/measure/networks/network_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "harness/measure/networks/network_summary_text.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/records/published.hpp"
#include "harness/measure/statistics/statistics.hpp"
#include "network/network_runner.hpp"
#include "support/reasons.hpp"
#include "support/report.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

constexpr std::size_t kMostListed = 10;

bool is_measured(const NetworkResult& result) {
  return result.outcome.status == Status::ok && !result.outcome.totals.empty();
}

bool has_virtual_clock(const std::vector<NetworkResult>& results) {
  return find_device_kind(results.front().planned.device).clock_is_virtual();
}

double median_or_zero(const std::vector<double>& samples) { return samples.empty() ? 0 : median(samples); }

double step_ns(const NetworkOutcome& outcome, const std::function<bool(const StepOutcome&)>& which) {
  double sum = 0;
  for (const StepOutcome& step : outcome.steps) {
    if (which(step)) sum += median_or_zero(step.samples);
  }
  return sum;
}

double phase_ns(const NetworkOutcome& outcome, std::string_view name) {
  const auto at = std::ranges::find(outcome.phases, name, &PassSamples::name);
  return at == outcome.phases.end() ? 0 : median_or_zero(at->samples);
}

std::vector<std::string> convolution_names(const Network& network) {
  std::vector<std::string> names;
  for (const std::size_t index : convolution_layers(network)) names.push_back(network.layers[index].name);
  return names;
}

/// The warp instructions of a step on a device that counts.
double instructions(const StepOutcome& step) {
  return step.counters ? warp_instructions(*step.counters).value_or(0) : 0;
}

std::string step_figure(const NetworkResult& result, const StepOutcome& step) {
  if (!result.planned.has_clock) return fmt::format("{:.4g}", instructions(step));
  return step.samples.empty() ? "-" : time_text(median(step.samples));
}

/// The first cells of a case: its batch, and its stages, between which a line may end.
std::vector<std::string> first_cells(const NetworkResult& result) {
  std::string stages;
  for (const char c : result.planned.variants) stages.append(c == ',' ? ", " : std::string(1, c));
  return {std::to_string(result.planned.batch), std::move(stages)};
}

/// The op times of the cases, and below them why some were not run or failed.
void add_op_times(Report& report, const std::vector<NetworkResult>& results) {
  const bool has_clock = results.front().planned.has_clock;
  const std::vector<std::string> convolutions = convolution_names(*results.front().planned.network);
  std::vector<TextColumn> columns = {right("batch"), left("convolutions")};
  for (const std::string& name : convolutions) columns.push_back(right(name));
  columns.push_back(right("all layers"));
  if (has_clock) columns.push_back(right("pass"));
  columns.push_back(right("accuracy", {}, true));
  std::vector<std::vector<std::string>> rows;
  Reasons reasons;
  for (const NetworkResult& result : results) {
    const NetworkOutcome& outcome = result.outcome;
    std::vector<std::string>& row = rows.emplace_back(first_cells(result));
    if (outcome.status != Status::ok) {
      row.back() += fmt::format(" ({})", outcome.status);
      row.resize(columns.size());
      reasons.add(fmt::format("{}: {}", outcome.status, outcome.reason), result.planned.id);
      continue;
    }
    std::map<std::string_view, const StepOutcome*> steps;
    for (const StepOutcome& step : outcome.steps) steps.try_emplace(step.name, &step);
    for (const std::string& name : convolutions) {
      const auto step = steps.find(name);
      row.push_back(step == steps.end() ? "-" : step_figure(result, *step->second));
    }
    double all = 0;
    for (const StepOutcome& step : outcome.steps) all += has_clock ? median_or_zero(step.samples) : instructions(step);
    row.push_back(has_clock ? time_text(all) : fmt::format("{:.4g}", all));
    if (has_clock) row.push_back(time_text(median_or_zero(outcome.totals)));
    row.push_back(accuracy_text(outcome));
  }
  ReportSection& section =
      report.section(has_clock ? fmt::format("op times, {} (median of the passes, NCHW in to NCHW out)",
                                             has_virtual_clock(results) ? "predicted" : "measured")
                               : "warp instructions, counted");
  section.table(std::move(columns), std::move(rows));
  for (const std::string& line : reasons.lines()) section.paragraph(line);
}

void add_program_times(Report& report, const std::vector<NetworkResult>& results) {
  std::vector<std::vector<std::string>> rows;
  for (const NetworkResult& result : results) {
    if (!is_measured(result) || !result.outcome.program) continue;
    const ProgramTime& program = *result.outcome.program;
    const std::optional<double> cpu = program.cpu_percent();
    std::vector<std::string>& row = rows.emplace_back(first_cells(result));
    for (const double seconds : {program.elapsed_seconds, program.user_seconds, program.system_seconds}) {
      row.push_back(fmt::format("{:.3f}", seconds));
    }
    row.push_back(cpu ? fmt::format("{:.0f}%", *cpu) : "-");
    row.push_back(fmt::format("{} kB", program.max_resident_kilobytes));
  }
  if (rows.empty()) return;
  report.section("program time of the last pass, as /usr/bin/time measures it (seconds)")
      .table({right("batch"), left("convolutions"), right("elapsed"), right("user"), right("system"), right("CPU"),
              right("max resident")},
             std::move(rows));
}

/// The columns of the published AlexNet sweep, and those that it leaves out.
void add_distribution(Report& report, const std::vector<NetworkResult>& results) {
  // The host's phases would be those of a simulation, beside steps by a virtual clock.
  if (has_virtual_clock(results)) return;
  std::vector<std::vector<std::string>> rows;
  for (const NetworkResult& result : results) {
    if (!is_measured(result)) continue;
    const NetworkOutcome& outcome = result.outcome;
    const auto of_type = [&outcome](std::string_view type) {
      return step_ns(outcome, [type](const StepOutcome& step) { return step.type == type; });
    };
    const auto of_phase = [&outcome](std::string_view name) { return phase_ns(outcome, name); };
    const double conv = of_type("convolution");
    const double fc = of_type("fully_connected");
    const double pool = of_type("max_pool");
    const double all = step_ns(outcome, [](const StepOutcome&) { return true; });
    std::vector<std::string>& row = rows.emplace_back(first_cells(result));
    for (const double ns : {of_phase(pass_phase::kCopyImages), conv, fc, of_phase(pass_phase::kCopyScores), pool,
                            of_phase(pass_phase::kFree), of_phase(pass_phase::kSynchronize),
                            of_phase(pass_phase::kAllocate), of_phase(pass_phase::kPrepare), all - conv - fc - pool}) {
      row.push_back(short_number(ns * 1e-6));
    }
  }
  if (rows.empty()) return;
  report.section("where the time of a pass goes, measured (milliseconds, medians; in and out: copies)")
      .table({right("batch"), left("convolutions"), right("in"), right("conv"), right("fc"), right("out"),
              right("maxpool"), right("free"), right("sync"), right("allocate"), right("prepare"), right("others")},
             std::move(rows));
}

void add_classes(Report& report, const std::vector<NetworkResult>& results) {
  std::map<int, const NetworkResult*> by_batch;
  std::map<int, int> right;
  for (const NetworkResult& result : results) {
    if (result.outcome.status != Status::ok) continue;
    ++right[result.planned.batch];
    by_batch.try_emplace(result.planned.batch, &result);
  }
  ReportSection& section = report.section();
  for (const auto& [batch, result] : by_batch) {
    const NetworkOutcome& outcome = result->outcome;
    std::string text = fmt::format("batch {}: in {} run{} every image got the reference's class", batch, right[batch],
                                   right[batch] == 1 ? "" : "s");
    if (outcome.labelled > 0) {
      const ProportionInterval interval = proportion_interval(outcome.correct, outcome.labelled);
      text += fmt::format("; {} of {} are correct: {} (95%: {:.4f} to {:.4f})", outcome.correct, outcome.labelled,
                          accuracy_text(outcome), interval.low, interval.high);
    }
    section.paragraph(std::move(text));
    if (outcome.close_calls.empty()) continue;
    text = plural(outcome.close_calls.size(), "image is", "images are") + " too close to tell in float32:";
    for (std::size_t i = 0; i < std::min(kMostListed, outcome.close_calls.size()); ++i) {
      const CloseCall& call = outcome.close_calls[i];
      text += fmt::format(" {} ({} or {})", call.image, call.reference, call.alternative);
    }
    section.paragraph(text + (outcome.close_calls.size() > kMostListed ? " ..." : ""), "  ");
  }
}

/// Other people's published figures of whole runs, a row for each of their stages.
void add_published(Report& report, const std::vector<NetworkResult>& results) {
  std::set<int> batches;
  for (const NetworkResult& result : results) batches.insert(result.planned.batch);
  std::vector<std::vector<std::string>> rows;
  for (const int batch : batches) {
    const std::size_t first = rows.size();
    for (const PublishedFigure& figure : published_figures(results.front().planned.network->name, batch)) {
      if (figure.batch != batch || (figure.what != "op time" && figure.what != "accuracy")) continue;
      const std::string stage =
          fmt::format("{}: {}{}", figure.source, figure.stage, figure.model.empty() ? "" : ", " + figure.model);
      auto row = std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(),
                              [&stage](const std::vector<std::string>& one) { return one[1] == stage; });
      if (row == rows.end()) row = rows.insert(rows.end(), {std::to_string(batch), stage, ""});
      (*row)[2] +=
          fmt::format("{}{} {}{}{}", (*row)[2].empty() ? "" : ", ", figure.layer.empty() ? figure.what : figure.layer,
                      figure.approximate ? "about " : "", figure.value, figure.unit.empty() ? "" : " " + figure.unit);
    }
  }
  if (rows.empty()) return;
  report.section("published by others, measured on their devices ('convladder list --published' names them)")
      .table({right("batch"), left("stage"), left("figures")}, std::move(rows));
}

}  // namespace

std::string network_result_line(const NetworkResult& result) {
  const NetworkOutcome& outcome = result.outcome;
  if (!result.planned.runs())
    return fmt::format("{:<11} {}", outcome.status, result.planned.id);  // the reason is below the table
  if (outcome.status != Status::ok)
    return fmt::format("{:<11} {:<50} {}", outcome.status, result.planned.id, outcome.reason);
  if (!is_measured(result)) {
    double all = 0;
    for (const StepOutcome& step : outcome.steps) all += instructions(step);
    return fmt::format("{:<11} {:<50} {:.4g} warp instructions (counted)", outcome.status, result.planned.id, all);
  }
  return fmt::format("{:<11} {:<50} {:>10} a pass, accuracy {}", outcome.status, result.planned.id,
                     time_text(median(outcome.totals)), accuracy_text(outcome));
}

std::string network_tables(const std::vector<NetworkResult>& results, const std::string& weights,
                           const std::string& images) {
  Report report;
  const NetworkCase& first = results.front().planned;
  report.section().paragraph(
      fmt::format("{} on {}: images {}; weights {}", first.network->name, first.device, images, weights));
  add_op_times(report, results);
  add_program_times(report, results);
  add_distribution(report, results);
  add_classes(report, results);
  add_published(report, results);
  return '\n' + as_text(report);
}

}  // namespace convladder

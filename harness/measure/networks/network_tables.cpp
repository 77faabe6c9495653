#include "harness/measure/networks/network_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>

#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/profile/profile_json.hpp"
#include "harness/measure/records/published.hpp"
#include "harness/measure/statistics/statistics.hpp"
#include "network/network_runner.hpp"
#include "support/reasons.hpp"
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

std::string accuracy_text(const NetworkOutcome& outcome) {
  if (outcome.labelled == 0) return "-";
  return fmt::format("{:.4f}", static_cast<double>(outcome.correct) / outcome.labelled);
}

/// The warp instructions of a step on a device that counts.
double instructions(const StepOutcome& step) {
  return step.counters ? warp_instructions(*step.counters).value_or(0) : 0;
}

std::string step_figure(const NetworkResult& result, const StepOutcome& step) {
  if (!result.planned.has_clock) return fmt::format("{:.4g}", instructions(step));
  return step.samples.empty() ? "-" : time_text(median(step.samples));
}

/// Text in `width` columns: cut with "…" where it is longer. fmt counts characters.
std::string fitted(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

void op_time_table(const std::vector<NetworkResult>& results, std::string& out) {
  const auto to = std::back_inserter(out);
  const Network& network = *results.front().planned.network;
  const std::vector<std::string> convolutions = convolution_names(network);
  const bool has_clock = results.front().planned.has_clock;
  fmt::format_to(to, "{}\n",
                 has_clock ? fmt::format("op times, {} (median of the passes, NCHW in to NCHW out)",
                                         has_virtual_clock(results) ? "predicted" : "measured")
                           : "warp instructions, counted");
  fmt::format_to(to, "{:>6}  {:<20}", "batch", "convolutions");
  for (const std::string& name : convolutions) fmt::format_to(to, " {:>9}", fitted(name, 9));
  fmt::format_to(to, " {:>10} {:>9} {:>8}\n", "all layers", has_clock ? "pass" : "", "accuracy");
  for (const NetworkResult& result : results) {
    fmt::format_to(to, "{:>6}  {:<20}", result.planned.batch, fitted(result.planned.variants, 20));
    if (result.outcome.status != Status::ok) {
      fmt::format_to(to, " {}\n", result.outcome.status);
      continue;
    }
    double all = 0;
    for (const StepOutcome& step : result.outcome.steps) {
      all += has_clock ? median_or_zero(step.samples) : instructions(step);
    }
    for (const std::string& name : convolutions) {
      const auto step = std::ranges::find(result.outcome.steps, name, &StepOutcome::name);
      fmt::format_to(to, " {:>9}", step == result.outcome.steps.end() ? "-" : step_figure(result, *step));
    }
    fmt::format_to(to, " {:>10} {:>9} {:>8}\n", has_clock ? time_text(all) : fmt::format("{:.4g}", all),
                   has_clock ? time_text(median_or_zero(result.outcome.totals)) : "", accuracy_text(result.outcome));
  }
}

void failures(const std::vector<NetworkResult>& results, std::string& out) {
  Reasons reasons;
  for (const NetworkResult& result : results) {
    if (result.outcome.status == Status::ok) continue;
    reasons.add(fmt::format("{}: {}", result.outcome.status, result.outcome.reason), result.planned.id);
  }
  for (const std::string& line : reasons.lines()) out += line + '\n';
}

void program_table(const std::vector<NetworkResult>& results, std::string& out) {
  if (std::ranges::none_of(results, is_measured)) return;
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "\nprogram time of the last pass, as /usr/bin/time measures it (seconds)\n");
  fmt::format_to(to, "{:>6}  {:<28} {:>10} {:>10} {:>10} {:>6} {:>16}\n", "batch", "convolutions", "elapsed", "user",
                 "system", "CPU", "max resident");
  for (const NetworkResult& result : results) {
    if (!is_measured(result) || !result.outcome.program) continue;
    const ProgramTime& program = *result.outcome.program;
    const std::optional<double> cpu = program.cpu_percent();
    fmt::format_to(to, "{:>6}  {:<28} {:>10.3f} {:>10.3f} {:>10.3f} {:>6} {:>13} kB\n", result.planned.batch,
                   fitted(result.planned.variants, 28), program.elapsed_seconds, program.user_seconds,
                   program.system_seconds, cpu ? fmt::format("{:.0f}%", *cpu) : "-", program.max_resident_kilobytes);
  }
}

/// Milliseconds in at most seven columns.
std::string milliseconds_text(double nanoseconds) {
  const double value = nanoseconds * 1e-6;
  return fmt::format("{:.{}f}", value, value < 999.995 ? 2 : (value < 99999.95 ? 1 : 0));
}

/// The columns of the published AlexNet sweep, and those that it leaves out.
void distribution_table(const std::vector<NetworkResult>& results, std::string& out) {
  // The host's phases would be those of a simulation, beside steps by a virtual clock.
  if (std::ranges::none_of(results, is_measured) || has_virtual_clock(results)) return;
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "\nwhere the time of a pass goes, measured (milliseconds, medians)\n{:>5} {:<12}", "batch",
                 "convolutions");
  for (const char* column :
       {"copy in", "conv", "fc", "copy out", "maxpool", "free", "sync", "allocate", "prepare", "others"}) {
    fmt::format_to(to, " {:>{}}", column, std::max<std::size_t>(7, std::string_view(column).size()));
  }
  fmt::format_to(to, "\n");
  for (const NetworkResult& result : results) {
    if (!is_measured(result)) continue;
    const NetworkOutcome& outcome = result.outcome;
    const auto of_type = [&outcome](std::string_view type) {
      return step_ns(outcome, [type](const StepOutcome& step) { return step.type == type; });
    };
    const double conv = of_type("convolution");
    const double fc = of_type("fully_connected");
    const double pool = of_type("max_pool");
    const double others = step_ns(outcome, [](const StepOutcome&) { return true; }) - conv - fc - pool;
    fmt::format_to(to, "{:>5} {:<12} {:>7} {:>7} {:>7} {:>8} {:>7} {:>7} {:>7} {:>8} {:>7} {:>7}\n",
                   result.planned.batch, fitted(result.planned.variants, 12),
                   milliseconds_text(phase_ns(outcome, pass_phase::kCopyImages)), milliseconds_text(conv),
                   milliseconds_text(fc), milliseconds_text(phase_ns(outcome, pass_phase::kCopyScores)),
                   milliseconds_text(pool), milliseconds_text(phase_ns(outcome, pass_phase::kFree)),
                   milliseconds_text(phase_ns(outcome, pass_phase::kSynchronize)),
                   milliseconds_text(phase_ns(outcome, pass_phase::kAllocate)),
                   milliseconds_text(phase_ns(outcome, pass_phase::kPrepare)), milliseconds_text(others));
  }
}

void class_lines(const std::vector<NetworkResult>& results, std::string& out) {
  const auto to = std::back_inserter(out);
  std::map<int, const NetworkResult*> by_batch;
  std::map<int, int> right;
  for (const NetworkResult& result : results) {
    if (result.outcome.status != Status::ok) continue;
    ++right[result.planned.batch];
    const NetworkResult*& kept = by_batch[result.planned.batch];
    if (kept == nullptr) kept = &result;
  }
  fmt::format_to(to, "\n");
  for (const auto& [batch, result] : by_batch) {
    const NetworkOutcome& outcome = result->outcome;
    fmt::format_to(to, "batch {}: in {} run{} every image got the reference's class", batch, right[batch],
                   right[batch] == 1 ? "" : "s");
    if (outcome.labelled > 0) {
      const ProportionInterval interval = proportion_interval(outcome.correct, outcome.labelled);
      fmt::format_to(to, "; {} of {} are correct: {} (95%: {:.4f} to {:.4f})", outcome.correct, outcome.labelled,
                     accuracy_text(outcome), interval.low, interval.high);
    }
    fmt::format_to(to, "\n");
    if (outcome.close_calls.empty()) continue;
    fmt::format_to(to, "  {} image{} too close to tell in float32:", outcome.close_calls.size(),
                   outcome.close_calls.size() == 1 ? " is" : "s are");
    for (std::size_t i = 0; i < std::min(kMostListed, outcome.close_calls.size()); ++i) {
      const CloseCall& call = outcome.close_calls[i];
      fmt::format_to(to, " {} ({} or {})", call.image, call.reference, call.alternative);
    }
    fmt::format_to(to, "{}\n", outcome.close_calls.size() > kMostListed ? " ..." : "");
  }
}

/// Other people's published figures of whole runs, a line for each of their stages.
void published_lines(const std::vector<NetworkResult>& results, std::string& out) {
  std::vector<int> batches;
  for (const NetworkResult& result : results) batches.push_back(result.planned.batch);
  std::ranges::sort(batches);
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  std::string lines;
  for (const int batch : batches) {
    std::vector<std::pair<std::string, std::string>> by_stage;
    for (const PublishedFigure& figure : published_figures(results.front().planned.network->name, batch)) {
      if (figure.batch != batch || (figure.what != "op time" && figure.what != "accuracy")) continue;
      const std::string stage =
          fmt::format("{}: {}{}", figure.source, figure.stage, figure.model.empty() ? "" : ", " + figure.model);
      auto at = std::ranges::find(by_stage, stage, &std::pair<std::string, std::string>::first);
      if (at == by_stage.end()) at = by_stage.insert(by_stage.end(), {stage, ""});
      fmt::format_to(std::back_inserter(at->second), "{}{} {}{}{}", at->second.empty() ? "" : ", ",
                     figure.layer.empty() ? figure.what : figure.layer, figure.approximate ? "about " : "",
                     figure.value, figure.unit.empty() ? "" : " " + figure.unit);
    }
    for (const auto& [stage, figures] : by_stage) {
      fmt::format_to(std::back_inserter(lines), "{:>6}  {:<56} {}\n", batch, fitted(stage, 56), figures);
    }
  }
  if (lines.empty()) return;
  fmt::format_to(std::back_inserter(out),
                 "\npublished by others, measured on their devices ('convladder list --published' names them)\n{}",
                 lines);
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
  std::string out;
  const NetworkCase& first = results.front().planned;
  fmt::format_to(std::back_inserter(out), "\n{} on {}: images {}; weights {}\n\n", first.network->name, first.device,
                 images, weights);
  op_time_table(results, out);
  failures(results, out);
  program_table(results, out);
  distribution_table(results, out);
  class_lines(results, out);
  published_lines(results, out);
  return out;
}

}  // namespace convladder

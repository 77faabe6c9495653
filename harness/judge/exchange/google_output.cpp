#include "harness/judge/exchange/google_output.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <numeric>
#include <sstream>

#include "harness/measure/statistics/statistics.hpp"
#include "support/file_bytes.hpp"
#include "support/standard_streams.hpp"

namespace convladder {

using Run = benchmark::BenchmarkReporter::Run;

namespace {

Run make_run(const std::string& name, int family, int repetitions) {
  Run run;
  run.run_name.function_name = name;
  run.family_index = family;
  run.per_family_instance_index = 0;
  run.repetition_index = 0;
  run.repetitions = repetitions;
  run.statistics = nullptr;
  run.time_unit = benchmark::kNanosecond;
  return run;
}

/// Sets real and CPU time, both to the device's clock: no other is read.
void set_time(Run& run, double nanoseconds_per_call) {
  run.real_accumulated_time = nanoseconds_per_call * 1e-9 * static_cast<double>(run.iterations);
  run.cpu_accumulated_time = run.real_accumulated_time;
}

Run aggregate(const Run& like, const char* name, double value, benchmark::StatisticUnit unit = benchmark::kTime) {
  Run run = like;
  run.run_type = Run::RT_Aggregate;
  run.repetition_index = Run::no_repetition_index;
  run.aggregate_name = name;
  run.aggregate_unit = unit;
  run.iterations = like.repetitions;
  run.real_accumulated_time = unit == benchmark::kTime ? value * 1e-9 * static_cast<double>(run.iterations) : value;
  run.cpu_accumulated_time = run.real_accumulated_time;
  return run;
}

std::vector<Run> runs_of(const GoogleCase& one_case, int family, bool aggregates_only) {
  if (one_case.samples.empty()) {
    Run run = make_run(one_case.name, family, 1);
    run.error_occurred = true;
    run.error_message = one_case.error;
    return {run};
  }
  const std::vector<double>& samples = one_case.samples;
  const auto count = static_cast<int>(samples.size());
  std::vector<Run> runs;
  Run run = make_run(one_case.name, family, count);
  run.iterations = one_case.iterations;
  run.report_label = one_case.label;
  for (int i = 0; i < count && !(aggregates_only && count > 1); ++i) {
    run.repetition_index = i;
    set_time(run, samples[i]);
    runs.push_back(run);
  }
  if (count < 2) return runs;
  const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
  double squares = 0;
  for (const double sample : samples) squares += (sample - mean) * (sample - mean);
  const double deviation = std::sqrt(squares / (count - 1));
  runs.push_back(aggregate(run, "mean", mean));
  runs.push_back(aggregate(run, "median", median(samples)));
  runs.push_back(aggregate(run, "stddev", deviation));
  runs.push_back(aggregate(run, "cv", deviation / mean, benchmark::kPercentage));
  return runs;
}

void report(benchmark::BenchmarkReporter& reporter, std::ostream& stream, const std::vector<GoogleCase>& cases,
            bool aggregates_only) {
  reporter.SetOutputStream(&stream);
  reporter.SetErrorStream(&stream);
  benchmark::BenchmarkReporter::Context context;
  context.name_field_width = 0;  // its constructor does not initialise it
  for (const GoogleCase& one_case : cases) {
    context.name_field_width = std::max(context.name_field_width, one_case.name.size() + 7);
  }
  reporter.ReportContext(context);
  int family = 0;
  for (const GoogleCase& one_case : cases) reporter.ReportRuns(runs_of(one_case, family++, aggregates_only));
  reporter.Finalize();
}

std::string formatted(const std::string& format, const std::vector<GoogleCase>& cases, bool aggregates_only,
                      bool colour) {
  std::ostringstream text;
  if (format == "json") {
    benchmark::JSONReporter reporter;
    report(reporter, text, cases, aggregates_only);
  } else {
    benchmark::ConsoleReporter reporter(colour ? benchmark::ConsoleReporter::OO_Color
                                               : benchmark::ConsoleReporter::OO_None);
    report(reporter, text, cases, aggregates_only);
  }
  return text.str();
}

}  // namespace

std::string google_json_text(const std::vector<GoogleCase>& cases, bool aggregates_only) {
  return formatted("json", cases, aggregates_only, false);
}

void write_google_output(const GoogleOutput& output, const std::vector<RecordedCase>& figures) {
  std::vector<GoogleCase> cases;
  for (const RecordedCase& one : figures) {
    GoogleCase& added = cases.emplace_back(GoogleCase{.name = one.id, .error = {}, .samples = {}, .label = {}});
    if (const TimeFigure* const time = one.layer_time()) {
      added.samples = time->samples;
      added.iterations = time->iterations;
    } else {
      added.error = one.time ? "it has no layer time" : fmt::format("{}: {}", one.status, one.reason);
    }
    // Another series, which no name makes comparable with layer times.
    if (const TimeFigure* const op = one.op_time()) {
      cases.push_back({.name = one.id + "/op", .error = {}, .samples = op->samples, .label = {}});
      cases.back().iterations = op->iterations;
    }
  }
  if (output.console_format) {
    const bool colour = isatty(STDOUT_FILENO) == 1;
    const std::string text = formatted(*output.console_format, cases, output.aggregates_only, colour);
    if (colour) {
      print_unchanged(text);
    } else {
      fmt::print("{}", text);
    }
  }
  if (!output.file.empty()) {
    write_file_atomically(output.file, formatted(output.file_format, cases, output.aggregates_only, false));
  }
}

}  // namespace convladder

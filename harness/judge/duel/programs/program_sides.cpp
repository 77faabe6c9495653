#include "harness/judge/duel/programs/program_sides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

#include "harness/judge/duel/programs/told_figures.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

constexpr double kWorkerSubRunNs = 5e6;
constexpr int kMostSubRuns = 5;
constexpr double kMostSlotNs = 100e6;  // for runs so long that 5 of them tell no more than fewer
constexpr std::int64_t kMostCalls = 1'000'000'000;
constexpr double kTold = 0.67;  // of the time that is seen: a worker has little else to do

int sub_runs_of(double ns) { return std::clamp(static_cast<int>(kMostSlotNs / ns), 1, kMostSubRuns); }

std::unique_ptr<WorkerProcess> started(const CommandRunner& runner) {
  runner.ring().machine.look();
  try {
    return std::make_unique<WorkerProcess>(runner.worker());
  } catch (const MachineFault&) {
    throw;
  } catch (const UserError& error) {
    runner.fail(error.what());
  }
}

}  // namespace

SlotValues CommandSlots::slot() {
  SlotValues best = counted_run();
  for (int i = 1; i < length_.sub_runs; ++i) {
    const SlotValues again = counted_run();
    for (std::size_t metric = 0; metric < best.values.size(); ++metric) {
      const std::vector<MetricWish>& wishes = runner_.ring().options.metrics;
      const bool higher = metric < wishes.size() && wishes[metric].metric.higher_is_better;
      const bool is_better = higher ? again.values[metric] > best.values[metric]  //
                                    : again.values[metric] < best.values[metric];
      if (!is_better) continue;
      best.values[metric] = again.values[metric];
      if (metric < again.clock_mhz.size()) best.clock_mhz[metric] = again.clock_mhz[metric];
    }
  }
  return best;
}

SlotValues CommandSlots::counted_run() {
  SlotValues values = run();
  all_runs_.resize(values.values.size());
  for (std::size_t i = 0; i < all_runs_.size(); ++i) all_runs_[i].push_back(values.values[i]);
  return values;
}

SlotLength CommandSlots::calibrated() {
  const double first = runner_.run().wall_ns;  // which also fills caches
  return {.iterations = 1, .sub_runs = sub_runs_of(std::min(first, runner_.run().wall_ns))};
}

SlotValues CommandSlots::run() {
  const ProgramRun run = runner_.run();
  const ProgramDuelOptions& options = runner_.ring().options;
  if (options.same_output && !first_output_) first_output_ = run.output;
  if (options.same_output && *first_output_ != run.output) {
    runner_.fail("what it prints is not the same in every run, so it cannot be compared (--same-output)");
  }
  output_ = run.output;
  SlotValues values;
  try {
    if (!names_.empty()) return times_of_file();
    for (const MetricWish& wish : options.metrics) values.values.push_back(value_of(wish, run));
  } catch (const UserError& error) {
    runner_.fail(error.what());
  }
  return values;
}

double CommandSlots::value_of(const MetricWish& wish, const ProgramRun& run) const {
  if (wish.from == MetricWish::From::wall) return run.wall_ns;
  if (wish.from == MetricWish::From::cpu) {
    if (!(run.cpu_ns > 0)) throw UserError("it took less processor time than the system counts");
    return run.cpu_ns;
  }
  std::error_code error;
  const bool of_file = wish.from == MetricWish::From::pointer && std::filesystem::exists(runner_.json_file(), error);
  return told_figure(wish, of_file ? read_file_text(runner_.json_file()) : run.output);
}

SlotValues CommandSlots::times_of_file() const {
  std::map<std::string, ToldTime> times;
  for (const ToldTime& one : told_times(runner_.json_file())) times[one.name] = one;
  SlotValues slot;
  for (const std::string& name : names_) {
    const auto found = times.find(name);
    if (found == times.end()) throw UserError(fmt::format("{}: not in the file that it wrote", name));
    slot.values.push_back(found->second.ns);
    slot.clock_mhz.push_back(found->second.clock_mhz);
  }
  return slot;
}

WorkerSlots::WorkerSlots(const CommandRunner& runner, const SlotLength& length, int extra_percent)
    : ProgramSlots(runner, length), extra_percent_(extra_percent), worker_(started(runner)) {}

SlotValues WorkerSlots::slot() {
  SlotValues best;
  double fastest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < length_.sub_runs; ++i) {
    const auto [seconds, values] = ask(length_.iterations);
    if (!(seconds < fastest)) continue;
    fastest = seconds;
    best.values = values;
  }
  return best;
}

SlotLength WorkerSlots::calibrated() {
  std::int64_t calls = calls_step();
  double ns = ask(calls).first * 1e9;
  while (ns < kWorkerSubRunNs && calls < kMostCalls) {
    const double factor = std::clamp(1.2 * kWorkerSubRunNs / std::max(ns, 1.0), 2.0, 100.0);
    calls = std::min(kMostCalls, rounded_up(static_cast<double>(calls) * factor));
    ns = ask(calls).first * 1e9;
  }
  if (ns < kWorkerSubRunNs / 10) {
    runner_.fail(fmt::format("the worker says that {} calls took {}: do they work?", calls, time_text(ns)));
  }
  runner_.seen(!worker_->has_one_thread());
  return {.iterations = static_cast<int>(calls), .sub_runs = sub_runs_of(ns)};
}

void WorkerSlots::verify_after() {
  if (told_seconds_ < kTold * seen_seconds_) {
    runner_.ring().notes.insert(
        fmt::format("{}: the worker took longer to answer than it says that its calls took, by {:.0f} %: what it does "
                    "beside them is not in its times",
                    role_name(runner_.role()), 100 * (seen_seconds_ / told_seconds_ - 1)));
  }
  const ProgramDuelOptions& options = runner_.ring().options;
  if (!options.same_output && options.check.empty()) return;
  const WorkerProcess::Answer answer = asked(output_request(runner_.one_case()));
  try {
    const std::optional<std::string> output = read_worker_output(answer.line);
    if (!output) throw UserError("the worker tells no output to compare");
    output_ = *output + '\n';
  } catch (const UserError& error) {
    runner_.fail(error.what());
  }
}

std::int64_t WorkerSlots::rounded_up(double calls) const {
  const auto step = static_cast<double>(calls_step());
  return static_cast<std::int64_t>(std::ceil(calls / step) * step);
}

WorkerProcess::Answer WorkerSlots::asked(const std::string& request) {
  const auto begin = CommandRunner::Clock::now();
  try {
    return worker_->ask(request);
  } catch (const WorkerProcess::TimedOut& late) {
    runner_.fail_by_time(fmt::format("timeout: {}", late.what()), begin);
  } catch (const WorkerProcess::Killed&) {
    runner_.fail_as_killed("");
  } catch (const UserError& error) {
    runner_.fail(error.what());
  }
}

std::pair<double, std::vector<double>> WorkerSlots::ask(std::int64_t calls) {
  const std::int64_t with_extra = calls * (100 + extra_percent_) / 100;
  const WorkerProcess::Answer answer = asked(slot_request(with_extra, runner_.one_case()));
  std::vector<double> values;
  double seconds = 0;
  try {
    seconds = read_worker_slot(answer.line).seconds;
    told_seconds_ += seconds;
    seen_seconds_ += answer.seconds;
    if (seconds > answer.seconds * 1.01 + 1e-4) {
      throw UserError(
          fmt::format("the worker says that {:.3g} s have passed, where {:.3g} s have", seconds, answer.seconds));
    }
    for (const MetricWish& wish : runner_.ring().options.metrics) {
      values.push_back(wish.from == MetricWish::From::wall ? seconds * 1e9 / static_cast<double>(calls)
                                                           : told_figure(wish, answer.line));
    }
  } catch (const UserError& error) {
    runner_.fail(error.what());
  }
  return {seconds, values};
}

}  // namespace convladder

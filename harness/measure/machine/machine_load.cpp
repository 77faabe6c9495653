#include "harness/measure/machine/machine_load.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

namespace convladder {

std::string system_text(const std::filesystem::path& file) {
  const std::ifstream stream(file);
  std::ostringstream text;
  if (stream) text << stream.rdbuf();  // a failure there is kept in its state and not thrown
  return text.str();
}

namespace {

constexpr double kShortestSeconds = 0.25;  // 25 ticks: each process's time is rounded to one of them
constexpr double kSmallestAccount = 0.5;   // of the elapsed time; a system that keeps no account shows zeros
constexpr std::ptrdiff_t kMostLooks = 4096;

/// The stat texts of all running processes; one that ends meanwhile has none.
std::vector<std::string> all_process_stats() {
  std::vector<std::string> stats;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.find_first_not_of("0123456789") == std::string::npos) stats.push_back(system_text(entry->path() / "stat"));
  }
  return stats;
}

struct ProcessTime {
  int parent = 0;
  double ticks = 0;
};

/// "PID (NAME) STATE PARENT …": the name may hold anything, so it ends at the last bracket.
bool parse_process(const std::string& stat, int& id, ProcessTime& process) {
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos || !(std::istringstream(stat) >> id)) return false;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string state;
  std::string skipped;
  fields >> state >> process.parent;
  for (int field = 5; field < 14; ++field) fields >> skipped;
  for (int field = 14; field <= 17; ++field) {  // user, system, and both of children that have ended
    double ticks = 0;
    fields >> ticks;
    process.ticks += ticks;
  }
  return static_cast<bool>(fields);
}

}  // namespace

ProcessorTimes processor_times(std::string_view proc_stat, const cpu_set_t& processors, double ticks) {
  ProcessorTimes times;
  std::istringstream lines{std::string(proc_stat)};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("cpu") || line.starts_with("cpu ")) continue;
    std::istringstream fields(line.substr(3));
    unsigned number = 0;
    fields >> number;
    std::array<double, 8> seconds{};  // user, nice, system, idle, waiting, interrupts, soft interrupts, stolen
    for (double& field : seconds) {
      fields >> field;
      field /= ticks;
    }
    if (!fields || number >= CPU_SETSIZE || !CPU_ISSET(number, &processors)) continue;
    const double all = std::accumulate(seconds.begin(), seconds.end(), 0.0);
    ++times.processors;
    times.all += all;
    times.stolen += seconds[7];
    times.busy += all - seconds[3] - seconds[4] - seconds[7];
  }
  return times;
}

double tree_seconds(const std::vector<std::string>& process_stats, int root, double ticks) {
  std::map<int, ProcessTime> processes;
  for (const std::string& stat : process_stats) {
    int id = 0;
    ProcessTime process;
    if (parse_process(stat, id, process)) processes[id] = process;
  }
  const auto is_ours = [&](int id) {
    for (std::size_t steps = 0; steps <= processes.size(); ++steps) {
      if (id == root) return true;
      const auto found = processes.find(id);
      if (found == processes.end()) return false;
      id = found->second.parent;
    }
    return false;
  };
  double sum = 0;
  for (const auto& [id, process] : processes) {
    if (is_ours(id)) sum += process.ticks / ticks;
  }
  return sum;
}

std::optional<MachineTimes> machine_times() {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  if (sched_getaffinity(0, sizeof processors, &processors) != 0) return std::nullopt;
  if (system_text("/proc/1/stat").empty()) return std::nullopt;
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  MachineTimes times{.when = std::chrono::steady_clock::now(),
                     .processors = processor_times(system_text("/proc/stat"), processors, ticks),
                     .ours = tree_seconds(all_process_stats(), getpid(), ticks)};
  if (times.processors.processors == 0) return std::nullopt;
  return times;
}

std::optional<MachineLoad> load_between(const MachineTimes& from, const MachineTimes& to) {
  if (from.processors.processors != to.processors.processors) return std::nullopt;
  const double seconds = std::chrono::duration<double>(to.when - from.when).count();
  const int cores = to.processors.processors;
  const double all = to.processors.all - from.processors.all;
  if (seconds < kShortestSeconds || all < kSmallestAccount * seconds * cores) return std::nullopt;
  const double others = to.processors.busy - from.processors.busy - (to.ours - from.ours);
  return MachineLoad{.cores = cores,
                     .used = std::clamp(others / all, 0.0, 1.0) * cores,
                     .steal = std::clamp((to.processors.stolen - from.processors.stolen) / all, 0.0, 1.0)};
}

void MachineWatch::look() {
  const std::optional<MachineTimes> now = machine_times();
  blind_ = blind_ || !now;
  if (!now) return;
  // Old ones are of no use to a program that runs for days.
  if (std::ssize(looks_) == kMostLooks) looks_.erase(looks_.begin(), looks_.begin() + kMostLooks / 2);
  looks_.push_back(*now);
}

std::optional<MachineLoad> MachineWatch::load_since(std::chrono::steady_clock::time_point when) {
  look();
  if (looks_.empty()) return std::nullopt;
  for (std::size_t i = looks_.size() - 1; i-- > 0;) {
    if (looks_[i].when > when) continue;
    if (const auto load = load_between(looks_[i], looks_.back())) return load;
  }
  return std::nullopt;
}

}  // namespace convladder

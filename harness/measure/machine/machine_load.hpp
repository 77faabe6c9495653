// The load of other programs: the processors' time as the system accounts for it, minus the time of this program.
#pragma once

#include <sched.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace convladder {

/// Time that the processors have spent since the system started, in seconds, summed over those that are looked at.
struct ProcessorTimes {
  int processors = 0;
  double busy = 0;
  double stolen = 0;  ///< wanted here, but given to another virtual machine
  double all = 0;     ///< including the idle time
};

/// Sums the lines "cpu0 …" of /proc/stat for `processors`. `ticks` are the ticks in a second.
ProcessorTimes processor_times(std::string_view proc_stat, const cpu_set_t& processors, double ticks);

/// Seconds that the process `root` and all below it have run, including those that have ended, by the texts of
/// /proc/PID/stat.
double tree_seconds(const std::vector<std::string>& process_stats, int root, double ticks);

/// The processors' and the program's times at one moment.
struct MachineTimes {
  std::chrono::steady_clock::time_point when;
  ProcessorTimes processors;
  double ours = 0;
};

/// The times of the processors that this process may use. None where /proc is not there, or does not show everybody's
/// processes: ours could be among the hidden ones.
std::optional<MachineTimes> machine_times();

/// The text of a system file, empty if it cannot be read: a process may end after its file is opened and before it is
/// read, which fails then.
std::string system_text(const std::filesystem::path& file);

/// The load by other programs between two readings.
struct MachineLoad {
  int cores = 0;     ///< cores that this process may use
  double used = 0;   ///< of those, how many cores' worth others used
  double steal = 0;  ///< share of the cores' time that another virtual machine had, 0 … 1
};

/// The load between two readings. None where the time between them is too short for the system's ticks, or the system's
/// account does not cover it.
std::optional<MachineLoad> load_between(const MachineTimes& from, const MachineTimes& to);

/// Samples the machine's load and reports what other programs did since the last sample.
class MachineWatch {
 public:
  void look();
  /// The load from `when` to now, both with a look; where that is too short, from the last earlier look that is long
  /// enough ago.
  std::optional<MachineLoad> load_since(std::chrono::steady_clock::time_point when);
  /// Whether a look showed nothing.
  bool is_blind() const { return blind_; }

 private:
  std::vector<MachineTimes> looks_;
  bool blind_ = false;
};

}  // namespace convladder

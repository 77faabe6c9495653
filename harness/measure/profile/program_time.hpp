// The time and memory that this process has used so far, as /usr/bin/time prints them for a program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace convladder {

/// Measured by the kernel (getrusage, all threads, without child processes) and by the steady clock.
struct ProgramTime {
  double user_seconds = 0;
  double system_seconds = 0;
  double elapsed_seconds = 0;
  std::int64_t max_resident_kilobytes = 0;  ///< the maximum so far, in units of 1024 bytes as /usr/bin/time writes kB

  /// Processor time over elapsed time, above 100 where several threads worked; none where no time has elapsed.
  std::optional<double> cpu_percent() const;
};

/// Starts its clock, and with it all counts, when it is made: at the start of `main` for the whole program.
class ProgramTimer {
 public:
  ProgramTimer();
  /// The usage since the timer was made; the peak of the memory is the whole process's.
  ProgramTime elapsed() const;

 private:
  ProgramTime start_;
};

/// The usage in /usr/bin/time's layout: "0.30user 0.05system 0:13.10elapsed 2%CPU (0avgtext+0avgdata
/// 5866708maxresident)k". The two averages are 0 there as well: Linux does not count them.
std::string program_time_text(const ProgramTime& time);

}  // namespace convladder

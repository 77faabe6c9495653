#include "harness/measure/profile/program_time.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <optional>

namespace convladder {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

/// The time used so far. `elapsed_seconds` counts from the clock's own beginning: only differences mean something.
ProgramTime now() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);  // fails only for wrong arguments
  ProgramTime time;
  time.user_seconds = seconds(usage.ru_utime);
  time.system_seconds = seconds(usage.ru_stime);
  time.elapsed_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  time.max_resident_kilobytes = usage.ru_maxrss;
  return time;
}

/// "0:13.10" below an hour, "1:02:03" from there on, as /usr/bin/time's %E.
std::string elapsed_text(double elapsed_seconds) {
  const auto hundredths = static_cast<std::int64_t>(std::llround(elapsed_seconds * 100));
  const std::int64_t whole = hundredths / 100;
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}.{:02}", whole / 60, whole % 60, hundredths % 100);
}

}  // namespace

std::optional<double> ProgramTime::cpu_percent() const {
  if (!(elapsed_seconds > 0)) return std::nullopt;
  return (user_seconds + system_seconds) / elapsed_seconds * 100;
}

ProgramTimer::ProgramTimer() : start_(now()) {}

ProgramTime ProgramTimer::elapsed() const {
  ProgramTime time = now();
  time.user_seconds -= start_.user_seconds;
  time.system_seconds -= start_.system_seconds;
  time.elapsed_seconds -= start_.elapsed_seconds;
  return time;
}

std::string program_time_text(const ProgramTime& time) {
  const std::optional<double> percent = time.cpu_percent();
  return fmt::format("{:.2f}user {:.2f}system {}elapsed {}%CPU (0avgtext+0avgdata {}maxresident)k", time.user_seconds,
                     time.system_seconds, elapsed_text(time.elapsed_seconds),
                     percent ? fmt::format("{:.0f}", *percent) : "?", time.max_resident_kilobytes);
}

}  // namespace convladder

#include "harness/measure/isolation/processor_turns.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace convladder {
namespace {

double used_ns(pid_t process) {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) * 1e9 + static_cast<double>(used.tv_nsec);
}

/// The first two numbers of schedstat, read without a buffer in between: every answer waits for this.
std::pair<double, double> worked_and_waited_ns(const std::string& folder) {
  const int file = open((folder + "/schedstat").c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::array<char, 96> text{};
  const ssize_t length = read(file, text.data(), text.size() - 1);
  close(file);
  if (length <= 0) return {};
  char* rest = nullptr;
  const auto worked = static_cast<double>(std::strtoull(text.data(), &rest, 10));
  return {worked, static_cast<double>(std::strtoull(rest, nullptr, 10))};
}

}  // namespace

double waited_by_all_ns(pid_t process) {
  double sum = 0;
  std::error_code gone;
  for (const auto& thread : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", process), gone)) {
    sum += worked_and_waited_ns(thread.path().string()).second;
  }
  return sum;
}

ProcessorTurns processor_turns(pid_t process) {
  const auto [worked, waited] = worked_and_waited_ns(fmt::format("/proc/{}", process));
  return {.used_ns = used_ns(process), .worked_ns = worked, .waited_ns = waited};
}

double ObservedAnswer::own_ns(double may_take_ns, double overhead_ns) const {
  const double may_use_ns = std::max(1U, std::thread::hardware_concurrency()) * may_take_ns + overhead_ns;
  return std::max(ns - (used_ns <= may_use_ns ? std::max(waited_ns, 0.0) : 0.0), worked_ns);
}

}  // namespace convladder

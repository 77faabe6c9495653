#include "simulator/stand_in/report/running_kernel.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <optional>
#include <utility>

#include "support/progress.hpp"
#include "support/units.hpp"

namespace convladder::stand_in {
namespace {

std::atomic<pid_t> running_in = 0;
std::atomic<int> left = 0;

constexpr double kQuietSeconds = 2;  // before progress is shown

/// The kernel as its thread and those that work for it see it: one at a time.
struct Kernel {
  std::string name;
  std::chrono::steady_clock::time_point begin;
  std::optional<Progress> shown;
};
Kernel kernel;

constexpr std::array<std::pair<int, const char*>, 9> kNames = {{{SIGSEGV, "SIGSEGV"},
                                                                {SIGBUS, "SIGBUS"},
                                                                {SIGABRT, "SIGABRT"},
                                                                {SIGILL, "SIGILL"},
                                                                {SIGFPE, "SIGFPE"},
                                                                {SIGINT, "SIGINT"},
                                                                {SIGTERM, "SIGTERM"},
                                                                {SIGHUP, "SIGHUP"},
                                                                {SIGQUIT, "SIGQUIT"}}};

}  // namespace

RunningKernel::RunningKernel(const std::string& name) {
  kernel.name = name;
  kernel.begin = std::chrono::steady_clock::now();
  running_in = gettid();
}

RunningKernel::~RunningKernel() {
  running_in = 0;
  kernel.shown.reset();
}

std::string look_at_kernel(const simulated::LaunchProgress& progress, double most_seconds, bool shows_progress) {
  const auto now = [&] {
    return fmt::format("with {} of {} {} done", progress.blocks_ended, progress.blocks, progress.unit);
  };
  if (left != 0) return fmt::format("by {}, {}", name_of_signal(left), now());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - kernel.begin).count();
  if (most_seconds > 0 && seconds > most_seconds) return fmt::format("after {:g} s, {}", most_seconds, now());
  if (!shows_progress || seconds < kQuietSeconds) return "";
  if (!kernel.shown) kernel.shown.emplace(stderr, 0);
  const double done = static_cast<double>(progress.blocks_ended) / static_cast<double>(progress.blocks);
  std::optional<double> seconds_left;
  if (progress.blocks_ended > 0) seconds_left = seconds / done - seconds;
  kernel.shown->show_part(
      fmt::format("{}: {} of {} {}, {:.1f} G instructions, {}", kernel.name, progress.blocks_ended, progress.blocks,
                  progress.unit, static_cast<double>(progress.operations) / 1e9, duration_text(seconds)),
      done, seconds_left);
  return "";
}

bool does_kernel_run() { return running_in != 0; }
bool does_kernel_run_here() { return running_in == gettid(); }

bool leave_for_kernel(int signal) {
  int none = 0;
  return left.compare_exchange_strong(none, signal);
}

int signal_for_kernel() { return left; }

const char* name_of_signal(int signal) {
  for (const auto& [number, name] : kNames) {
    if (number == signal) return name;
  }
  return "";
}

void end_by_signal(int signal) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  kill(getpid(), signal);
  for (;;) pause();
}

}  // namespace convladder::stand_in

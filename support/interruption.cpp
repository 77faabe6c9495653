#include "support/interruption.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/printable.hpp"

namespace convladder {
namespace {

// Variables that a signal handler may read.
std::array<char, 1024> line = {};
std::atomic<std::size_t> line_bytes = 0;
std::atomic<char* const*> words_to_start = nullptr;
std::atomic<bool> is_to_wait = false;
std::atomic<std::int64_t> came_at = 0;  // ns

constexpr std::array<int, 3> kInterrupts{SIGINT, SIGTERM, SIGHUP};

void set_line(std::string text) {
  text = printable(text);
  if (text.size() > line.size() - 2) text.resize(line.size() - 2);
  text += '\n';
  line_bytes = 0;
  std::ranges::copy(text, line.begin());
  line_bytes = text.size();
}

/// Starts a program in place of this one, with its process and its exit code. Returns if that fails.
void start_again(char* const* words) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_UNBLOCK, &all, nullptr);  // otherwise the mask of this handler would stay
  ::execv("/proc/self/exe", words);
}

/// Leaves the mark; false if the interrupt is to end the program. `timeout` sends each signal twice at a time.
bool leave_mark() {
  constexpr std::int64_t kSecond = 1'000'000'000;
  std::timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t ns = now.tv_sec * kSecond + now.tv_nsec;
  std::int64_t never = 0;
  return came_at.compare_exchange_strong(never, ns) || ns - came_at < kSecond;
}

/// Ends the program. Recorded results are on disk at every moment, so there is nothing to save; the cases' processes
/// end with this one.
void end_on_interrupt(int /*signal*/) {
  if (is_to_wait && leave_mark()) return;
  for (const int signal : kInterrupts) static_cast<void>(std::signal(signal, SIG_IGN));  // one is enough
  remove_file_being_written();
  constexpr std::string_view kClearLine = "\r\033[K";
  if (isatty(STDERR_FILENO) == 1) static_cast<void>(!::write(STDERR_FILENO, kClearLine.data(), kClearLine.size()));
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line_bytes));
  if (char* const* const words = words_to_start) start_again(words);
  std::_Exit(kExitInterrupted);
}

}  // namespace

void take_interrupts() {
  set_line("convladder: interrupted");
  for (const int signal : kInterrupts) {
    if (std::signal(signal, end_on_interrupt) == SIG_IGN && signal == SIGHUP) {
      static_cast<void>(std::signal(signal, SIG_IGN));  // nohup asked for that
    }
  }
}

void advise_on_interrupt(const std::string& advice) { set_line(fmt::format("convladder: interrupted; {}", advice)); }

void be_silent_on_interrupt() { line_bytes = 0; }

WaitingInterrupts::WaitingInterrupts() { is_to_wait = true; }
WaitingInterrupts::~WaitingInterrupts() { is_to_wait = false; }

bool interrupt_waits() { return came_at != 0; }

void start_on_interrupt(const std::vector<std::string>& words) {
  static std::vector<std::string> kept{"convladder"};
  static std::vector<char*> pointers;
  kept.insert(kept.end(), words.begin(), words.end());
  pointers.reserve(kept.size() + 1);
  for (std::string& word : kept) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  words_to_start = pointers.data();
}

}  // namespace convladder

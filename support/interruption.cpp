#include "support/interruption.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/printable.hpp"

namespace convladder {
namespace {

// What a signal handler may read.
std::array<char, 1024> line = {};
std::atomic<std::size_t> line_bytes = 0;

void set_line(std::string text) {
  text = printable(text);
  if (text.size() > line.size() - 2) text.resize(line.size() - 2);
  text += '\n';
  line_bytes = 0;
  std::ranges::copy(text, line.begin());
  line_bytes = text.size();
}

/// What is recorded is on disk at every moment, so there is nothing to save; the cases' processes end with this one.
void end_on_interrupt(int /*signal*/) {
  remove_file_being_written();
  constexpr std::string_view kClearLine = "\r\033[K";
  if (isatty(STDERR_FILENO) == 1) static_cast<void>(!::write(STDERR_FILENO, kClearLine.data(), kClearLine.size()));
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line_bytes));
  std::_Exit(kExitInterrupted);
}

}  // namespace

void take_interrupts() {
  set_line("convladder: interrupted");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (std::signal(signal, end_on_interrupt) == SIG_IGN && signal == SIGHUP) {
      static_cast<void>(std::signal(signal, SIG_IGN));  // nohup asked for that
    }
  }
}

void advise_on_interrupt(const std::string& advice) { set_line(fmt::format("convladder: interrupted; {}", advice)); }

}  // namespace convladder

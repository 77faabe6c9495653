#include "support/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "support/printable.hpp"
#include "support/terminal.hpp"
#include "support/text_table.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

constexpr auto kShortestWait = std::chrono::milliseconds(100);
constexpr auto kLongestSilence = std::chrono::seconds(15);
constexpr std::size_t kBarColumns = 20;

/// A bar of kBarColumns columns.
std::string bar_text(double share) {
  static const bool unicode = terminal_shows_unicode();
  const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * kBarColumns);
  std::string bar;
  for (std::size_t i = 0; i < kBarColumns; ++i) {
    if (unicode) {
      bar += i < full ? "\u2501" : "\u2500";  // a heavy and a light line
    } else {
      bar += i < full ? '#' : '.';
    }
  }
  return bar;
}

}  // namespace

Progress::Progress(std::FILE* lines, int cases_in_all)
    : lines_(lines), moving_(isatty(STDERR_FILENO) == 1), all_(cases_in_all) {}

void Progress::show(const std::string& what, double seconds_left) {
  draw(fmt::format("{}/{}", done_, all_), share(), what, seconds_left);
}

void Progress::show(const std::string& what) {
  std::optional<double> seconds_left;
  if (done_ > 0) {
    const std::chrono::duration<double> so_far = std::chrono::steady_clock::now() - begin_;
    seconds_left = so_far.count() / done_ * (all_ - done_);
  }
  draw(fmt::format("{}/{}", done_, all_), share(), what, seconds_left);
}

void Progress::show_part(const std::string& what, double done, std::optional<double> seconds_left) {
  draw(fmt::format("{:.0f} %", std::clamp(done, 0.0, 1.0) * 100), done, what, seconds_left);
}

void Progress::draw(const std::string& where, double share, const std::string& what,
                    std::optional<double> seconds_left) {
  const auto now = std::chrono::steady_clock::now();
  const std::string left = seconds_left ? fmt::format(", about {} left", duration_text(*seconds_left)) : "";
  if (!moving_) {
    if (lines_ == nullptr || now - last_line_ < kLongestSilence) return;
    last_line_ = now;
    std::string rest;
    fmt::print(lines_, "{}\n", printable_lines(fmt::format("... {}{}: {}", where, left, what), rest));
    std::fflush(lines_);
    return;
  }
  if (now - last_ < kShortestWait) return;
  last_ = now;
  const std::size_t columns = std::min(terminal_columns(STDERR_FILENO, kTextColumns) - 1, kTextColumns);
  // A line that wraps could not be erased.
  std::string line = printable(fmt::format(" {}{}  {}", where, left, what));
  if (line.size() + kBarColumns > columns) line.resize(columns - kBarColumns);
  fmt::print(stderr, "\r\033[K{}{}", bar_text(share), line);
  std::fflush(stderr);
  shown_ = true;
}

void Progress::note(const std::string& line) {
  clear();
  std::FILE* const to = lines_ != nullptr ? lines_ : stderr;
  std::string rest;
  fmt::print(to, "{}\n", printable_lines(line, rest));
  std::fflush(to);
}

void Progress::finished(const std::string& line) {
  clear();
  ++done_;
  if (lines_ == nullptr) return;
  std::string rest;
  fmt::print(lines_, "{}\n", printable_lines(line, rest));
  std::fflush(lines_);
  last_line_ = std::chrono::steady_clock::now();
}

void Progress::clear() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace convladder

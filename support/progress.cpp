#include "support/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "support/printable.hpp"
#include "support/text_table.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

constexpr auto kShortestWait = std::chrono::milliseconds(100);

}  // namespace

Progress::Progress(std::FILE* lines, int cases_in_all)
    : lines_(lines), moving_(isatty(STDERR_FILENO) == 1), all_(cases_in_all) {}

void Progress::show(const std::string& what, double seconds_left) {
  draw(fmt::format("{}/{}", done_, all_), what, seconds_left);
}

void Progress::show(const std::string& what) {
  std::optional<double> seconds_left;
  if (done_ > 0) {
    const std::chrono::duration<double> so_far = std::chrono::steady_clock::now() - begin_;
    seconds_left = so_far.count() / done_ * (all_ - done_);
  }
  draw(fmt::format("{}/{}", done_, all_), what, seconds_left);
}

void Progress::show_part(const std::string& what, double done, std::optional<double> seconds_left) {
  draw(fmt::format("{:.0f} %", std::clamp(done, 0.0, 1.0) * 100), what, seconds_left);
}

void Progress::draw(const std::string& where, const std::string& what, std::optional<double> seconds_left) {
  const auto now = std::chrono::steady_clock::now();
  if (!moving_ || now - last_ < kShortestWait) return;
  last_ = now;
  const std::string left = seconds_left ? fmt::format(" about {} left", duration_text(*seconds_left)) : "";
  std::string line = fmt::format("[{}]{}  {}", where, left, what);
  line = printable(line);
  if (line.size() > kTextColumns) line.resize(kTextColumns);
  fmt::print(stderr, "\r\033[K{}", line);
  std::fflush(stderr);
  shown_ = true;
}

void Progress::finished(const std::string& line) {
  clear();
  ++done_;
  if (lines_ == nullptr) return;
  std::string rest;
  fmt::print(lines_, "{}\n", printable_lines(line, rest));
  std::fflush(lines_);
}

void Progress::clear() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace convladder

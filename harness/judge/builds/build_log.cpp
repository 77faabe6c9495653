// Reads the output of a build: its error, and how much of it is done.

#include <charconv>
#include <vector>

#include "harness/judge/builds/commit_build.hpp"
#include "support/printable.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

constexpr std::size_t kShownBytes = 300;

bool is_blank(const std::string& line) { return line.find_first_not_of(" \t\r") == std::string::npos; }

}  // namespace

std::string telling_line(std::string_view log) {
  const std::vector<std::string> lines = split(log, '\n');
  for (const char* const word : {"error: ", "CMake Error", "undefined reference", "FAILED: "}) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].find(word) == std::string::npos) continue;
      std::string line = lines[i];
      // "CMake Error at FILE:12 (command):" gives the place, and the next line the error.
      for (std::size_t next = i + 1; line.ends_with(':') && next < lines.size(); ++next) {
        if (!is_blank(lines[next])) line += ' ' + lines[next].substr(lines[next].find_first_not_of(" \t"));
      }
      return printable(line, kShownBytes);
    }
  }
  for (std::size_t i = lines.size(); i > 0; --i) {
    if (!is_blank(lines[i - 1])) return printable(lines[i - 1], kShownBytes);
  }
  return "it said nothing";
}

double built_share(std::string_view log) {
  for (std::size_t at = log.rfind('['); at != std::string_view::npos && at > 0; at = log.rfind('[', at - 1)) {
    if (log[at - 1] != '\n') continue;
    const char* const end = log.data() + log.size();
    int done = 0;
    int all = 0;
    const auto first = std::from_chars(log.data() + at + 1, end, done);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != '/') continue;
    const auto second = std::from_chars(first.ptr + 1, end, all);
    if (second.ec != std::errc() || second.ptr == end || *second.ptr != ']' || all < 1 || done < 0 || done > all)
      continue;
    return static_cast<double>(done) / all;
  }
  return 0;
}

}  // namespace convladder

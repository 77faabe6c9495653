// What the fuzz targets for PTX share.
#pragma once

#include <cctype>
#include <cstdlib>
#include <string_view>

namespace convladder::ptx {

/// Ends the process, which libFuzzer reports with the input.
inline void require(bool condition) {
  if (!condition) std::abort();
}

/// "fuzzed:LINE:COL: what is wrong", in one line.
inline void require_place_and_one_line(std::string_view message) {
  constexpr std::string_view file = "fuzzed:";
  require(message.starts_with(file));
  message.remove_prefix(file.size());
  for (int number = 0; number < 2; ++number) {
    const std::size_t colon = message.find(':');
    require(colon != std::string_view::npos && colon > 0);
    for (const char c : message.substr(0, colon)) require(std::isdigit(static_cast<unsigned char>(c)) != 0);
    message.remove_prefix(colon + 1);
  }
  require(message.size() > 1 && message.front() == ' ');
  require(message.find('\n') == std::string_view::npos);
}

}  // namespace convladder::ptx

#include "support/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace convladder {

std::size_t terminal_columns(int descriptor, std::size_t otherwise) {
  constexpr std::size_t kFewest = 40;  // in narrower terminals lines wrap
  winsize size{};
  if (isatty(descriptor) != 1 || ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return otherwise;
  return std::max<std::size_t>(size.ws_col, kFewest);
}

bool terminal_shows_unicode() {
  const auto value = [](const char* name) {
    const char* const text = std::getenv(name);
    return std::string_view(text == nullptr ? "" : text);
  };
  if (value("TERM").empty() || value("TERM") == "dumb" || value("TERM") == "linux") return false;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {  // the first one that is set decides
    const std::string_view locale = value(name);
    if (!locale.empty()) return locale.find("UTF-8") != locale.npos || locale.find("utf8") != locale.npos;
  }
  return false;
}

}  // namespace convladder

// The lines of a text that a command prints.
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace convladder {

inline std::vector<std::string> text_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace convladder

// Comma-separated values (RFC 4180).
#pragma once

#include <string>

namespace convladder {

/// The text as a quoted field.
inline std::string csv_quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace convladder

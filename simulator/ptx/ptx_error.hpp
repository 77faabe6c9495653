// Errors in a PTX text, with their places.
#pragma once

#include <stdexcept>
#include <string>

namespace convladder::ptx {

/// A place in a PTX text, counted from 1.
struct Position {
  int line = 0;
  int column = 0;
  bool operator==(const Position&) const = default;
};

/// PTX that cannot be read or is not supported. The message starts with "file:line:column: ".
struct PtxError : std::runtime_error {
  PtxError(const std::string& file, Position position, const std::string& what)
      : std::runtime_error(file + ":" + std::to_string(position.line) + ":" + std::to_string(position.column) + ": " +
                           what),
        position(position),
        problem(what) {}
  Position position;
  std::string problem;  ///< the message without the place
};

}  // namespace convladder::ptx

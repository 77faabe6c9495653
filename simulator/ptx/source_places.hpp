// The lines of the source that instructions come from (`.loc`).
#pragma once

#include <map>
#include <tuple>

#include "simulator/ptx/module.hpp"
#include "simulator/ptx/token_reader.hpp"

namespace convladder::ptx {

class SourcePlaces {
 public:
  /// Behind `.loc`: "1 17 3", with ", function_name …, inlined_at 1 20 5" behind it where a call was inlined. Code that
  /// comes from another file than the kernel, such as the toolkit's headers, is said to be where the kernel calls it.
  void take(TokenReader& tokens);
  /// Where the instructions from here on come from.
  const SourceLocation& current() const { return current_; }

 private:
  struct Place {
    SourceLocation where;
    int column = 0;
    bool operator<(const Place& other) const {
      return std::tie(where.file, where.line, column) < std::tie(other.where.file, other.where.line, other.column);
    }
  };
  static Place take_place(TokenReader& tokens);

  SourceLocation current_;
  int kernel_file_ = 0;                          // that of its first `.loc`
  std::map<Place, SourceLocation> called_from_;  // what was made of every `.loc` so far
};

}  // namespace convladder::ptx

// The lines of the source that instructions come from (`.loc`).
#pragma once

#include <map>
#include <tuple>

#include "simulator/ptx/module.hpp"
#include "simulator/ptx/token_reader.hpp"

namespace convladder::ptx {

class SourcePlaces {
 public:
  /// Takes the text after `.loc`: "1 17 3", followed by ", function_name …, inlined_at 1 20 5" where a call was
  /// inlined. Code from another file than the kernel's, such as the toolkit's headers, is attributed to the place where
  /// the kernel calls it.
  void take(TokenReader& tokens);
  /// The source of the instructions from here on.
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
  int kernel_file_ = 0;                          // the file of the kernel's first `.loc`
  std::map<Place, SourceLocation> called_from_;  // the result for every `.loc` so far
};

}  // namespace convladder::ptx

// The lines of the source that instructions come from (`.loc`), and of the calls that were inlined.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "simulator/ptx/module.hpp"
#include "simulator/ptx/token_reader.hpp"

namespace convladder::ptx {

class SourcePlaces {
 public:
  /// Adds the calls of inlined code to `calls`.
  explicit SourcePlaces(std::vector<SourceLocation>& calls) : calls_(calls) {}

  /// Takes the text after `.loc`: "1 17 3", followed by ", function_name …, inlined_at 1 20 5" where a call was
  /// inlined.
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

  /// The number of a call among `calls_`.
  int number_of(const SourceLocation& call);

  SourceLocation current_;
  std::vector<SourceLocation>& calls_;
  std::map<std::tuple<int, int, int>, int> numbers_;  // of calls: by file, line and their own caller
  std::map<Place, SourceLocation> known_;             // every `.loc` so far
};

}  // namespace convladder::ptx

#include "simulator/ptx/source_places.hpp"

namespace convladder::ptx {

void SourcePlaces::take(TokenReader& tokens) {
  const Place place = take_place(tokens);
  current_ = place.where;
  if (kernel_file_ == 0) kernel_file_ = current_.file;
  const int line = tokens.last().position.line;
  while (!tokens.at_end() && tokens.current().position.line == line) {
    if (!tokens.accept("inlined_at")) {
      tokens.take();
      continue;
    }
    const Place call = take_place(tokens);
    const auto outer = called_from_.find(call);  // the call may be in inlined code itself
    const SourceLocation from = outer == called_from_.end() ? call.where : outer->second;
    if (current_.file != kernel_file_) current_ = from;
  }
  called_from_[place] = current_;
}

SourcePlaces::Place SourcePlaces::take_place(TokenReader& tokens) {
  Place place;
  place.where.file = static_cast<int>(tokens.take_integer("a file number", 1 << 30));
  place.where.line = static_cast<int>(tokens.take_integer("a line", 1 << 30));
  place.column = static_cast<int>(tokens.take_integer("a column", 1 << 30));
  return place;
}

}  // namespace convladder::ptx

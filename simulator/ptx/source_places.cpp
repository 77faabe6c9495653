#include "simulator/ptx/source_places.hpp"

namespace convladder::ptx {

void SourcePlaces::take(TokenReader& tokens) {
  const Place place = take_place(tokens);
  current_ = place.where;
  const int line = tokens.last().position.line;
  while (!tokens.at_end() && tokens.current().position.line == line) {
    if (!tokens.accept("inlined_at")) {
      tokens.take();
      continue;
    }
    const Place call = take_place(tokens);
    const auto outer = known_.find(call);  // the call may be in inlined code itself
    current_.caller = number_of(outer == known_.end() ? call.where : outer->second);
  }
  known_[place] = current_;
}

int SourcePlaces::number_of(const SourceLocation& call) {
  const auto [known, is_new] =
      numbers_.try_emplace({call.file, call.line, call.caller}, static_cast<int>(calls_.size()));
  if (is_new) calls_.push_back(call);
  return known->second;
}

SourcePlaces::Place SourcePlaces::take_place(TokenReader& tokens) {
  Place place;
  place.where.file = static_cast<int>(tokens.take_integer("a file number", 1 << 30));
  place.where.line = static_cast<int>(tokens.take_integer("a line", 1 << 30));
  place.column = static_cast<int>(tokens.take_integer("a column", 1 << 30));
  return place;
}

}  // namespace convladder::ptx

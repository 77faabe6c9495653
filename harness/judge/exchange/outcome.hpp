// How continuous integration counts a case, whatever kind of record it is from.
#pragma once

#include <string>
#include <string_view>

#include "harness/judge/exchange/exported.hpp"

namespace convladder {

enum class Outcome {
  passed,
  failed,     ///< it was looked at, and is not as it should be: slower, wrong, unsafe
  broken,     ///< it could not be looked at: crashed, does not compile, …
  undecided,  ///< nobody can tell: inconclusive, incomparable, gone, not judged
  skipped,    ///< there was nothing to look at here: no device, a size that it refuses, nothing to compare with
};

struct Judgement {
  Outcome outcome = Outcome::passed;
  std::string_view word;  ///< the verdict or the status: "regressed", "does not compile"
  std::string text;       ///< in one line, with the figures; empty for what passed without anything to say
};

Judgement outcome_of(const ExportedCase& one);

/// "12.5 ms, 25% more than before (20% to 31%)": the figures of a case that was timed; empty without them.
std::string change_text_of(const ExportedCase& one);

}  // namespace convladder

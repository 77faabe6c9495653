// A change of a time as people read it: the texts that `compare`, `duel` and `history` share.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>

#include "harness/measure/statistics/change_verdict.hpp"
#include "support/printable.hpp"
#include "support/units.hpp"

namespace convladder {

/// The change in percent, from the logarithm of a ratio.
inline double percent(double logarithm) { return std::expm1(logarithm) * 100; }

/// A time as text: "1.23 ms"; empty for none.
inline std::string time_or_blank(const std::optional<double>& nanoseconds) {
  return nanoseconds ? time_text(*nanoseconds) : std::string();
}

/// A change as text, in percent: "+3.1", and "+1.2 to +4.9"; empty for none.
inline std::string change_text(const std::optional<ChangeBounds>& change) {
  return change ? fmt::format("{:+.1f}", percent(change->estimate)) : std::string();
}
inline std::string bounds_text(const std::optional<ChangeBounds>& change) {
  return change ? fmt::format("{:+.1f} to {:+.1f}", percent(change->low), percent(change->high)) : std::string();
}

/// A program as text: "FILE: commit 0123456789ab and changes".
inline std::string program_text(const std::string& file, const std::string& commit, bool dirty) {
  return fmt::format("{}: commit {}{}", printable(file), commit.substr(0, 12), dirty ? " and changes" : "");
}

}  // namespace convladder

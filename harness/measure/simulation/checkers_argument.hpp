// Which checkers are active, as typed on the command line.
#pragma once

#include <string>

#include "simulator/state/finding.hpp"

namespace convladder {

/// Parses "memory,race", "all" or "none". Throws UserError for other names, with the known ones.
simulated::CheckerSet parse_checkers(const std::string& text);
/// The text of these checkers, as `parse_checkers` reads it.
std::string checkers_text(const simulated::CheckerSet& checkers);

}  // namespace convladder

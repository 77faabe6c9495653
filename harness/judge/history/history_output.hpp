// A history as text for a terminal and as Markdown for a review.
#pragma once

#include <string>
#include <vector>

#include "harness/judge/history/history.hpp"

namespace convladder {

/// The history as text: a table of all series with the greatest change first, every marked change with its commits, the
/// anchors' own times, why series were split, which files could not be read. At most 100 columns, unless a name alone
/// is wider.
std::string history_text(const History& history);

/// The history as Markdown tables, which show all names as plain text.
std::string history_markdown(const History& history);

/// Remarks on how the history was judged, a line each.
std::vector<std::string> history_notes(const History& history);

}  // namespace convladder

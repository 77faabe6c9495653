// A history as text for a terminal, as Markdown for a review, as JSON for the charts.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "harness/judge/history/history.hpp"

namespace convladder {

/// The history as text: a table of all series with the greatest change first, every marked change with its commits, the
/// anchors' own times, why series were split, which files could not be read. At most 100 columns, unless a name alone
/// is wider.
std::string history_text(const History& history);

/// The history as Markdown tables, which show all names as plain text.
std::string history_markdown(const History& history);

/// The history as {"kind": "history", "alpha", …, "runs", "series", "unreadable", "notes"}; docs/use/history.md
/// describes it.
nlohmann::ordered_json history_json(const History& history);

}  // namespace convladder

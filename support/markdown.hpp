// Markdown for pull requests. Any text is shown literally: HTML and marks are escaped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/text_table.hpp"

namespace convladder {

std::string markdown_text(std::string_view text);

/// A list with a line for each text, "- LINE".
std::string markdown_list(const std::vector<std::string>& lines);

/// A table; a column's unit follows its title. Every row has a cell for each column.
std::string markdown_table(const std::vector<TextColumn>& columns, const std::vector<std::vector<std::string>>& rows);

}  // namespace convladder

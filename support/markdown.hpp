// Markdown as pull requests show it. Whatever is in a text, it is shown as that: HTML and marks are escaped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/text_table.hpp"

namespace convladder {

std::string markdown_text(std::string_view text);

/// A line for each, "- LINE".
std::string markdown_list(const std::vector<std::string>& lines);

/// A column's unit stands behind its title. Every row has a cell for each column.
std::string markdown_table(const std::vector<TextColumn>& columns, const std::vector<std::vector<std::string>>& rows);

}  // namespace convladder

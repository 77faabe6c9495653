// The page of counters by line of the source.
#pragma once

#include <string>

namespace convladder {

/// Has scripts/line_page.py write the page of the JSON of `simulate --lines`. Throws UserError.
void write_line_page(const std::string& page, const std::string& json);

}  // namespace convladder

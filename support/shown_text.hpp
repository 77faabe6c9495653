// Texts from a file, as messages show them.
#pragma once

#include <string>

namespace convladder {

/// `text` on one line and not too long: cut after 60 bytes, everything but printable ASCII escaped as in JSON.
std::string shown_text(const std::string& text);

}  // namespace convladder

// What the terminal at the other end of a stream can show.
#pragma once

#include <cstddef>

namespace convladder {

/// The columns of the terminal behind a file descriptor, at least 40; `otherwise` where there is none.
std::size_t terminal_columns(int descriptor, std::size_t otherwise);

/// Whether it shows more than ASCII, by what the environment says of it (TERM, LC_ALL, LC_CTYPE, LANG).
bool terminal_shows_unicode();

}  // namespace convladder

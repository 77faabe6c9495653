// The abilities of the terminal at the other end of a stream.
#pragma once

#include <cstddef>

namespace convladder {

/// The columns of the terminal behind a file descriptor, at least 40; `otherwise` where there is none.
std::size_t terminal_columns(int descriptor, std::size_t otherwise);

/// Whether the terminal shows more than ASCII, judged by the environment (TERM, LC_ALL, LC_CTYPE, LANG).
bool terminal_shows_unicode();

}  // namespace convladder

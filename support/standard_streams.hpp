// Prepares the standard streams, whatever the program was started with.
#pragma once

#include <string_view>

namespace convladder {

/// Opens those of the descriptors 0 to 2 that are closed: otherwise the next opened file would get one of their
/// numbers, and printed text would be written into it. Reading from them finds the end, writing fails. To be called at
/// the very beginning.
void open_standard_streams() noexcept;

/// From now on a failure to print does not end the program: no signal, no exception. Text that could not be written to
/// the standard output is reported by require_output() at the end. And everything printed to the standard output is
/// printable (printable.hpp), wherever its parts came from.
void print_without_failing();

/// Writes the rest of the standard output's buffer. Throws UserError if any printed text could not be written.
void require_output();

/// Prints text that may control a terminal, such as colours. No part of it may come from outside.
void print_unchanged(std::string_view text);

/// Whether anything was printed to the standard error.
bool anything_on_standard_error() noexcept;

/// Prints "convladder: LINE" to the standard error: one line, without control characters.
void print_error(std::string_view line) noexcept;

}  // namespace convladder

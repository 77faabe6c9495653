// The standard streams as this program needs them, whatever it was started with.
#pragma once

#include <string_view>

namespace convladder {

/// Fills the descriptors 0 to 2 that are closed: otherwise the next file or memory that is opened would be one of them,
/// and what is printed would be written into it. Reading finds the end, writing fails. For the very beginning.
void open_standard_streams() noexcept;

/// From now on nothing ends the program because it cannot print: no signal, no exception. What could not be written to
/// the standard output is known to require_output() at the end. And what is printed to the standard output is printable
/// (printable.hpp), wherever its parts came from.
void print_without_failing();

/// Writes what is still in the standard output's buffer. Throws UserError if anything that was printed could not be
/// written.
void require_output();

/// Prints what may steer a terminal, such as colours. Nothing of it may come from outside.
void print_unchanged(std::string_view text);

/// Whether anything was printed to the standard error.
bool anything_on_standard_error() noexcept;

/// "convladder: LINE" to the standard error: one line, without control characters.
void print_error(std::string_view line) noexcept;

}  // namespace convladder

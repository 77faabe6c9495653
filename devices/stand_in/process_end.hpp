// The end of the process that the stand-in lives in.
#pragma once

#include <string>

namespace convladder::stand_in {

class Machine;

/// `work` runs when the process exits, after what the program itself has for its end.
void on_process_end(void (*work)());

/// Appends the report to the file of the settings, prints what the settings ask for, and ends the process with their
/// exit code if there are findings.
void write_report(Machine& machine);

/// One line on stderr, and the end: for settings that cannot be had.
[[noreturn]] void say_and_exit(const std::string& text);

}  // namespace convladder::stand_in

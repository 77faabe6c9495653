// The end of the process that the stand-in lives in.
#pragma once

#include <string>

namespace convladder::stand_in {

class Machine;
struct Settings;

/// `work` runs when the process exits, after what the program itself has for its end.
void on_process_end(void (*work)());

/// Appends to the file of the settings that this process has begun.
void write_begin(const Settings& settings);

/// Appends the report to the file of the settings and prints what the settings ask for. With findings it ends a process
/// that exits with 0 with their exit code. `signal` is what ends the process; empty: it exits.
void write_report(Machine& machine, const std::string& signal);

/// One line on stderr, and the end: for settings that cannot be had.
[[noreturn]] void say_and_exit(const std::string& text);

}  // namespace convladder::stand_in

// The end of the process that the stand-in lives in.
#pragma once

#include <string>

namespace convladder::stand_in {

class Machine;
struct Settings;

/// Runs `work` when the process exits, after the program's own exit handlers.
void on_process_end(void (*work)());

/// Runs that work now, for a process that is about to leave by _exit() with this status.
void process_ends(int status);

/// Appends to the settings' file that this process has begun.
void write_begin(const Settings& settings);

/// Appends the report to the settings' file and prints what the settings ask for. If there are findings, a process that
/// exits with 0 ends with their exit code; if calls went to a runtime of its own, or a library that it calls has
/// failed, with 2. `signal` is the signal that ends the process; empty: it exits.
void write_report(Machine& machine, const std::string& signal);

/// Prints one line on stderr and ends the process, for settings that cannot be fulfilled.
[[noreturn]] void say_and_exit(const std::string& text);

}  // namespace convladder::stand_in

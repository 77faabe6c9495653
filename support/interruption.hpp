// Handles Ctrl-C and similar signals: the program ends at once, with one line that says how to go on.
#pragma once

#include <string>
#include <vector>

namespace convladder {

/// From now on SIGINT, SIGTERM and SIGHUP (unless ignored because of nohup) remove the file that is being written,
/// print the advice and end the program with kExitInterrupted.
void take_interrupts();

/// The line that an interrupt prints from now on: "convladder: interrupted; <advice>". Cut after 1000 bytes.
void advise_on_interrupt(const std::string& advice);
/// From now on an interrupt prints nothing.
void be_silent_on_interrupt();

/// From now on an interrupt, after printing its line, starts this program anew in place of this one, with these words
/// after its name: another program may do what a signal handler may not. If that fails, the program ends as without
/// this call. Called once.
void start_on_interrupt(const std::vector<std::string>& words);

}  // namespace convladder

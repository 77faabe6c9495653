// Ctrl-C and the like: the program ends at once, with one line that says how to go on.
#pragma once

#include <string>

namespace convladder {

/// From now on SIGINT, SIGTERM and SIGHUP (unless nohup asked for that) remove the file that is being written, print
/// the advice and end the program with kExitInterrupted.
void take_interrupts();

/// What an interrupt says from now on: "convladder: interrupted; <advice>". Cut after 1000 bytes.
void advise_on_interrupt(const std::string& advice);

}  // namespace convladder

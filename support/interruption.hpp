// Ctrl-C and the like: the program ends at once, with one line that says how to go on.
#pragma once

#include <string>
#include <vector>

namespace convladder {

/// From now on SIGINT, SIGTERM and SIGHUP (unless nohup asked for that) remove the file that is being written, print
/// the advice and end the program with kExitInterrupted.
void take_interrupts();

/// What an interrupt says from now on: "convladder: interrupted; <advice>". Cut after 1000 bytes.
void advise_on_interrupt(const std::string& advice);
/// From now on an interrupt says nothing.
void be_silent_on_interrupt();

/// From now on an interrupt, when it has said so, starts this program anew in the place of this one, with these words
/// behind its name: what a signal handler may not do, another program may. Where that fails, the program ends as above.
/// Called once.
void start_on_interrupt(const std::vector<std::string>& words);

}  // namespace convladder

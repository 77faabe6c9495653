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

/// While it exists, an interrupt only leaves a mark, and one that comes a second later ends the program: for work that
/// looks at the mark, ends early and tells what it has done until then.
class WaitingInterrupts {
 public:
  WaitingInterrupts();
  ~WaitingInterrupts();
  WaitingInterrupts(const WaitingInterrupts&) = delete;
  WaitingInterrupts& operator=(const WaitingInterrupts&) = delete;
};
/// Whether an interrupt has left its mark.
bool interrupt_waits();

/// From now on an interrupt, after printing its line, starts this program anew in place of this one, with these words
/// after its name: another program may do what a signal handler may not. If that fails, the program ends as without
/// this call. Called once.
void start_on_interrupt(const std::vector<std::string>& words);

}  // namespace convladder

// Who has which processors where one process calls another: who waits for a call's end looks for it without pause,
// which takes nothing from the call only on a core of its own.
#pragma once

namespace convladder {

/// The caller has the first core that this process could be on at its start, the called one all others. Where there is
/// one core only, or the control group grants less time than they have, both have all.
struct ProcessorSplit {
  int all = 1;         ///< processors
  int of_called = 1;   ///< of them
  bool apart = false;  ///< whether no processor is both's
};
ProcessorSplit processor_split();

/// This thread is on the caller's processors from now on, on those of the called one, or on any: so is a process that
/// it starts.
void use_callers_processors();
void use_called_ones_processors();
void use_all_processors();

}  // namespace convladder

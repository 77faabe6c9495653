// Which processors each of two processes has where one calls the other: the caller looks for the end of a call without
// pause, which takes nothing from the call only on a core of its own.
#pragma once

namespace convladder {

/// The caller has the first core that this process could be on at its start, the called process all others. Where there
/// is only one core, or the control group grants less time than the two have, both have all.
struct ProcessorSplit {
  int all = 1;         ///< processors
  int of_called = 1;   ///< of them, those of the called process
  bool apart = false;  ///< whether the two share no processor
};
ProcessorSplit processor_split();

/// From now on this thread, and any process that it starts, is on the caller's processors, on those of the called
/// process, or on any.
void use_callers_processors();
void use_called_ones_processors();
void use_all_processors();

}  // namespace convladder

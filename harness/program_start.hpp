// What has to be right before anything else of the program runs, libraries included.
#pragma once

namespace convladder {

/// Opens closed standard streams. Ends the program, with one line and kExitError, where OMP_NUM_THREADS is no number of
/// threads: OpenMP's library would take another number, or end by a signal.
void start_program(int argc, char** argv, char** environment);

}  // namespace convladder

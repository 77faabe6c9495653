// Checks that must pass before anything else in the program runs, including libraries.
#pragma once

namespace convladder {

/// Opens closed standard streams. Takes Google Benchmark's variables (BENCHMARK_OUT, …) out of the environment: its
/// flags are those of the command line, and one of them writes a file. Ends the program, with one line and kExitError,
/// where the processor lacks an instruction set that the measured code was compiled for, which would end it by a
/// signal, and where OMP_NUM_THREADS is no number of threads: OpenMP's library would take another number, or end by a
/// signal.
void start_program(int argc, char** argv, char** environment);

}  // namespace convladder

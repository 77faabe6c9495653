// The command line: parses words into options, and turns errors into one line and an exit code.
#pragma once

namespace convladder {

/// Runs the whole program; returns its exit code. Never throws.
int run_command_line(int argc, char** argv);

}  // namespace convladder

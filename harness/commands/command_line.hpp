// The command line: words to options, errors to one line and an exit code.
#pragma once

namespace convladder {

/// The whole program. Never throws.
int run_command_line(int argc, char** argv);

}  // namespace convladder

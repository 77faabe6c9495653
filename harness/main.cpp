#include "harness/commands/command_line.hpp"
#include "harness/measure/isolation/program_start.hpp"

namespace {

// Runs before the libraries start: they look at the environment, and may open files.
[[gnu::section(".preinit_array"), gnu::used,
  gnu::retain]] void (*const first_of_all)(int, char**, char**) = convladder::start_program;

}  // namespace

int main(int argc, char** argv) { return convladder::run_command_line(argc, argv); }

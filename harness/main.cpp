#include "harness/command_line.hpp"

int main(int argc, char** argv) { return convladder::run_command_line(argc, argv); }

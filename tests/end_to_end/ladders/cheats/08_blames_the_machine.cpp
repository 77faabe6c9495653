// @title Blames the machine
// expected: crashed
//
// It ends by a signal that usually comes from outside, which would end the run.
#include <unistd.h>
#include <csignal>
extern "C" void solve(const float*, float*, int) { kill(getpid(), SIGKILL); }

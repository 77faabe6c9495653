// @title Blames the machine
// expected: incorrect
//
// It would end by a signal that usually comes from outside, and for which the machine is blamed: it cannot.
#include <unistd.h>
#include <csignal>
extern "C" void solve(const float*, float*, int) { kill(getpid(), SIGKILL); }

// Settings of the sanitizers, which ask the program for them.

#if defined(__SANITIZE_ADDRESS__) && defined(__clang__)
// LLVM's OpenMP does not free what its threads leave when a process ends.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the sanitizer's name for it
extern "C" const char* __lsan_default_suppressions() { return "leak:libomp"; }
#endif

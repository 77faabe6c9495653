/* How the programs here say what is not as documented, in C and in C++: a line for each thing, and at the end whether all
 * was right. */
#ifndef CONVLADDER_TESTS_STAND_IN_EXPECT_H
#define CONVLADDER_TESTS_STAND_IN_EXPECT_H

#include <stdio.h>

/* C++ programs may have several files, with one count. */
#ifdef __cplusplus
#define CONVLADDER_ONE inline
#else
#define CONVLADDER_ONE static inline
#endif

CONVLADDER_ONE int* failures(void) {
  static int count = 0;
  return &count;
}

CONVLADDER_ONE void expect(int holds, const char* what, const char* file, int line) {
  if (holds) return;
  ++*failures();
  printf("%s:%d: %s does not hold\n", file, line, what);
}

CONVLADDER_ONE void expect_status(int wanted, int got, const char* wanted_name, const char* what, const char* file,
                                  int line) {
  if (got == wanted) return;
  ++*failures();
  printf("%s:%d: %s is %d, not %s\n", file, line, what, got, wanted_name);
}

/* A condition. */
#define EXPECT(condition) expect((condition) ? 1 : 0, #condition, __FILE__, __LINE__)
/* What a call of the CUDA runtime or driver returns; 0 is success for both. */
#define EXPECT_STATUS(wanted, call) expect_status((int)(wanted), (int)(call), #wanted, #call, __FILE__, __LINE__)
#define EXPECT_OK(call) EXPECT_STATUS(0, call)

/* Says whether all was right; main() returns it. */
CONVLADDER_ONE int outcome(void) {
  puts(*failures() == 0 ? "all as documented" : "not as documented");
  return *failures() == 0 ? 0 : 1;
}

#undef CONVLADDER_ONE

#endif

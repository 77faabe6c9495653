// Loads a library, uses it and unloads it, twice.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  for (int i = 0; i < 2; ++i) {
    void* const library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (library == NULL) return 1;
    int (*work)(void) = (int (*)(void))dlsym(library, "work");
    int (*sum_at_first)(void) = (int (*)(void))dlsym(library, "sum_at_first");
    printf("before main's call %d, by it %d\n", sum_at_first(), work());
    dlclose(library);
  }
  return 0;
}

// @title Patches the harness
// expected: ok
//
// It overwrites code of the program that it was loaded into. Nothing there decides anything.
#include <link.h>
#include <sys/mman.h>
#include <cstdint>
#include <cstdlib>
extern "C" void solve(const float* x, float* y, int N) {
  static bool tried = false;
  if (!tried) {
    tried = true;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void*) {
          for (int i = 0; i < info->dlpi_phnum; ++i) {
            const ElfW(Phdr)& part = info->dlpi_phdr[i];
            if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
            char* const page = reinterpret_cast<char*>((info->dlpi_addr + part.p_vaddr) & ~uintptr_t{4095});
            if (mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return 1;  // sealed
            *const_cast<volatile char*>(page) = *page;  // a byte of the program's own code
            return 1;
          }
          return 1;
        },
        nullptr);
  }
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}

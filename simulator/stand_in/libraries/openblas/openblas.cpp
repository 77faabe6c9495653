// The parts of OpenBLAS that are missing in its archive, and the choice of its kernels.
#include <cstddef>
#include <cstdlib>
#include <cstring>

extern "C" {

void gotoblas_init();
char* openblas_get_corename();

/// The kernels' name.
const char* convladder_openblas_core() { return openblas_get_corename(); }

/// All that LAPACK needs of Fortran's own library: it puts the names of options together.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the name is the compiler's
void _gfortran_concat_string(std::size_t bytes, char* to, std::size_t first_bytes, const char* first,
                             std::size_t second_bytes, const char* second) {
  const std::size_t of_first = first_bytes < bytes ? first_bytes : bytes;
  std::memcpy(to, first, of_first);
  const std::size_t left = bytes - of_first;
  const std::size_t of_second = second_bytes < left ? second_bytes : left;
  std::memcpy(to + of_first, second, of_second);
  std::memset(to + of_first + of_second, ' ', left - of_second);
}

}  // extern "C"

namespace {

/// Before OpenBLAS chooses its kernels itself, by the processor. The choice must not depend on the machine: so every
/// run gives the same bits, on each processor with AVX2. These kernels are the most used ones, and right on processors
/// on which this version's newer ones are not.
__attribute__((constructor(101))) void choose_kernels() {
#ifdef __x86_64__
  constexpr const char* kVariable = "OPENBLAS_CORETYPE";
  __builtin_cpu_init();
  if (std::getenv(kVariable) != nullptr || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return;
  setenv(kVariable, "Haswell", 1);
  gotoblas_init();
  unsetenv(kVariable);
#endif
}

}  // namespace

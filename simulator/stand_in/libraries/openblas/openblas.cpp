// The parts of OpenBLAS that are missing in its archive, and the choice of its kernels.
#include <cstdlib>
#include <cstring>

namespace {

constexpr const char* kVariable = "OPENBLAS_CORETYPE";

// OpenBLAS chooses its kernels when it is loaded. The choice must not depend on the machine: every run gives the same
// bits, on each processor with AVX2. These kernels are the ones used most, and right where newer ones were not.
bool has_chosen = false;
__attribute__((constructor(101))) void choose_kernels() {
#ifdef __x86_64__
  if (std::getenv(kVariable) != nullptr) return;
  __builtin_cpu_init();
  has_chosen = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (has_chosen) setenv(kVariable, "Haswell", 1);
#endif
}

}  // namespace

extern "C" {

char* openblas_get_corename();

/// The kernels' name; the environment is the program's again.
const char* convladder_openblas_core() {
  if (has_chosen) unsetenv(kVariable);
  has_chosen = false;
  return openblas_get_corename();
}

/// All that LAPACK needs of Fortran's own library: it puts the names of options together.
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

// After those of OpenBLAS, whose order is that of other libraries' constructors.
__attribute__((constructor)) void give_environment_back() { convladder_openblas_core(); }

}  // namespace

// A program that was linked with -static and has these libraries loaded, as its CUDA runtime asks for them. It brings a
// C library of its own, whose threads know nothing of variables that each thread has here: nothing of ours could run.
#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <string_view>

#include "support/errors.hpp"

namespace convladder::stand_in {
namespace {

/// Whether the kernel has started a dynamic linker for the program.
bool has_dynamic_linker() {
  const int descriptor = open("/proc/self/auxv", O_RDONLY | O_CLOEXEC);
  Elf64_auxv_t entry{};
  bool has_linker = true;
  while (descriptor >= 0 && read(descriptor, &entry, sizeof entry) == sizeof entry) {
    if (entry.a_type == AT_BASE) has_linker = entry.a_un.a_val != 0;
  }
  if (descriptor >= 0) close(descriptor);
  return has_linker;
}

void to_standard_error(std::string_view text) { static_cast<void>(!write(STDERR_FILENO, text.data(), text.size())); }

/// Runs before anything else of the library.
__attribute__((constructor(101))) void end_static_program() {
  if (has_dynamic_linker()) return;
  std::array<char, PATH_MAX> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  const std::string_view program(path.data(), static_cast<std::size_t>(length < 0 ? 0 : length));
  // A dynamic linker that was called by name (ld.so ./program) is a program without another one.
  if (program.substr(program.rfind('/') + 1).starts_with("ld")) return;
  to_standard_error("convladder: ");
  to_standard_error(program);
  to_standard_error(" is linked with -static, so nothing can stand in for its CUDA: link it without\n");
  _exit(kExitError);
}

}  // namespace
}  // namespace convladder::stand_in

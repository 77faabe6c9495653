#include "support/own_program.hpp"

#include <sys/auxv.h>

#include <string>
#include <string_view>
#include <system_error>

namespace convladder {

namespace fs = std::filesystem;

fs::path own_program() {
  // Linux appends this to the name of a file that has been replaced by another one, as in an upgrade.
  constexpr std::string_view kReplaced = " (deleted)";
  std::error_code error;
  fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    std::string name = program.string();
    if (!fs::exists(program, error) && name.ends_with(kReplaced)) name.resize(name.size() - kReplaced.size());
    return name;
  }
  const auto* const started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));  // NOLINT(performance-no-int-to-ptr)
  if (started == nullptr) return {};
  program = fs::canonical(started, error);
  return error ? fs::path() : program;
}

}  // namespace convladder

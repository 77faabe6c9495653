#include "harness/judge/duel/programs/temporary_folder.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "support/errors.hpp"
#include "support/printable.hpp"

namespace convladder {

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  std::string name = (folder / "convladder-duel-XXXXXX").string();
  if (error || mkdtemp(name.data()) == nullptr) {
    throw UserError(
        fmt::format("{}: cannot be made: {}", printable(name), error ? error.message() : system_error_text(errno)));
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

}  // namespace convladder

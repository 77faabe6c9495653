#include "support/temporary_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "support/errors.hpp"

namespace convladder {

namespace fs = std::filesystem;

TemporaryFile::TemporaryFile(const std::string& name) {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  path_ = ((error ? fs::path("/tmp") : folder) / (name + "-XXXXXX")).string();
  const int descriptor = ::mkostemp(path_.data(), O_CLOEXEC);
  if (descriptor < 0) throw UserError(fmt::format("{} cannot be made: {}", path_, std::strerror(errno)));
  ::close(descriptor);
}

TemporaryFile::~TemporaryFile() { ::unlink(path_.c_str()); }

}  // namespace convladder

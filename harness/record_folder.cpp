#include "harness/record_folder.hpp"

#include <fmt/format.h>

#include "harness/errors.hpp"

namespace convladder {

void create_record_folder(const std::filesystem::path& file) {
  if (std::filesystem::exists(file)) {
    throw UserError(fmt::format("{} is there already: another --output starts a new run", file.string()));
  }
  const std::filesystem::path folder = file.parent_path();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw UserError(fmt::format("cannot create the folder {}: {}", folder.string(), error.message()));
}

}  // namespace convladder

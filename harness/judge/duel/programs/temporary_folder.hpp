// A folder for files that nobody needs later.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace convladder {

/// A new, empty folder of the current user's alone below the system's temporary one; removed with this object.
class TemporaryFolder {
 public:
  /// Throws UserError if there can be none.
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  std::string file(std::string_view name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace convladder

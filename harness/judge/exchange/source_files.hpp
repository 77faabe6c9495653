// Where a source file that a record names lies below a folder: a record often has its base name alone.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace convladder {

class SourceFiles {
 public:
  explicit SourceFiles(const std::filesystem::path& folder) : folder_(folder) {}

  /// The file's path from the folder, "src/scale.cu"; none if it does not lie below it, or if several files there have
  /// this base name. Folders whose name begins with a dot are not looked into, and neither are links.
  std::optional<std::string> below(const std::string& file);

 private:
  void list();

  std::filesystem::path folder_;
  bool is_listed_ = false;
  std::map<std::string, std::optional<std::string>> by_name_;  ///< without a path where several have the name
};

}  // namespace convladder

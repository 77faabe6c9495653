// A file that exists as long as an object.
#pragma once

#include <string>

namespace convladder {

class TemporaryFile {
 public:
  /// Makes an empty file in the folder for temporary files; its name begins with `name`. Throws UserError.
  explicit TemporaryFile(const std::string& name);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace convladder
